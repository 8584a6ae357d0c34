//===- AtomicFile.h - A file that appears whole ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For files of many gigabytes, which are written piece by piece, and must be on
// the disk before another file names them: nereid/Support/Files.h takes the
// whole content, and does not flush.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_WEIGHTS_ATOMICFILE_H
#define NEREID_WEIGHTS_ATOMICFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid {

/// All functions throw IoError with the file's name and what to do.
class AtomicFile {
public:
  /// Opens a temporary file in the same folder. `mostBytes`: what will be
  /// written; the disk must have room for it.
  AtomicFile(const std::string &path, uint64_t mostBytes);
  AtomicFile(const AtomicFile &) = delete;
  /// Removes what is not committed.
  ~AtomicFile();

  void write(std::string_view content);
  /// Flushes to the disk, renames, flushes the folder.
  void commit();

private:
  std::string path, temporary;
  int fd = -1;
};

void writeAtomically(const std::string &path, std::string_view content);

/// A folder that exists, made with its parents where it does not.
void makeFolder(const std::string &path);

} // namespace nereid

#endif // NEREID_WEIGHTS_ATOMICFILE_H
