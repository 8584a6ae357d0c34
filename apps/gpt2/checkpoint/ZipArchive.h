//===- ZipArchive.h - Files in a zip, as they lie there ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The directory at the end of the file says where each entry lies; with more
// than 65535 entries, or 4 GiB, in the fields of zip64. Entries must be stored:
// nothing is unpacked, and no two lie in the same bytes, so that all together
// are not larger than the file.
//
// Source: APPNOTE.TXT of PKWARE, sections 4.3 and 4.5.3.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_ZIPARCHIVE_H
#define NEREID_APPS_GPT2_CHECKPOINT_ZIPARCHIVE_H

#include "nereid/Weights/MappedFile.h"

#include <map>
#include <optional>

namespace nereid::gpt2 {

class ZipArchive {
public:
  /// Throws IoError where the file is damaged or no zip, Unsupported for
  /// entries that are compressed or encrypted.
  ZipArchive(std::shared_ptr<MappedFile> file, const std::string &path);

  /// The bytes of an entry, whose checksum is looked at when it is first read;
  /// none without the entry. PyTorch leaves a checksum out on request: 0.
  std::optional<std::string_view> read(const std::string &name);
  /// The name of the one entry that ends so, without the ending; nothing where
  /// there is no such entry, or several.
  std::optional<std::string> prefixOf(const std::string &ending) const;

private:
  struct Entry {
    uint64_t offset = 0, bytes = 0; ///< of the entry's own header; stored
    uint32_t checksum = 0;
    uint64_t begin = 0; ///< of its bytes
    bool isChecked = false;
  };
  struct Directory {
    uint64_t offset = 0, bytes = 0, entries = 0;
  };

  [[noreturn]] void refuse(const std::string &why) const;
  uint64_t number(uint64_t at, int bytes) const;
  std::string_view part(uint64_t at, uint64_t bytes, const char *what) const;
  Directory findDirectory() const;
  void readDirectory(const Directory &directory);
  void placeEntries();

  std::shared_ptr<MappedFile> file;
  std::string_view content;
  std::string path;
  std::map<std::string, Entry> entries;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_ZIPARCHIVE_H
