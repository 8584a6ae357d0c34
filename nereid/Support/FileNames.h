//===- FileNames.h - What a path leads to -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between Files.cpp and WriteFiles.cpp: names, links, identities.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_FILENAMES_H
#define NEREID_SUPPORT_FILENAMES_H

#include "nereid/ABI/Status.h"

#include <optional>
#include <string>
#include <sys/stat.h>

namespace nereid {

/// A failure by errno: "cannot ACTION 'path': REASON".
Failure ioFailure(const std::string &action, const std::string &path);

/// Names that the system would cut off at a zero byte.
Status checkName(const std::string &path, const std::string &action);

/// "." for a name without a folder.
std::string folderOf(const std::string &path);

/// Where a write to a path would go.
struct FileTarget {
  std::string path;                ///< links followed
  std::optional<struct stat> info; ///< nothing: there is no file yet
  /// /dev/stdout, /dev/fd/N: an open descriptor of this process. Opened by name
  /// it would have a position of its own, and overwrite what is there.
  int descriptor = -1;

  bool isRegular() const {
    return descriptor < 0 && (!info || S_ISREG(info->st_mode));
  }
  /// Equal for two names of one file, also when it is not there yet.
  std::string identity() const;
};
Expected<FileTarget> followLinks(const std::string &path);

/// For protectInputs.
void noteInput(const struct stat &info);
bool isInput(const struct stat &info);

} // namespace nereid

#endif // NEREID_SUPPORT_FILENAMES_H
