//===- MappedFile.h - A file as memory --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_WEIGHTS_MAPPEDFILE_H
#define NEREID_WEIGHTS_MAPPEDFILE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nereid {

/// Mapped privately: what is changed in memory stays there. The file must not
/// shrink meanwhile.
struct MappedFile {
  /// Throws NotFound, and IoError for what is no regular file.
  static std::shared_ptr<MappedFile> open(const std::string &path);
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  ~MappedFile();

  std::string_view text() const {
    return {static_cast<const char *>(data), bytes};
  }

  void *data = nullptr;
  uint64_t bytes = 0;
};

} // namespace nereid

#endif // NEREID_WEIGHTS_MAPPEDFILE_H
