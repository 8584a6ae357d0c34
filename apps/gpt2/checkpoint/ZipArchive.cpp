//===- ZipArchive.cpp - Files in a zip, as they lie there -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/ZipArchive.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

using namespace nereid;
using namespace nereid::gpt2;

// Records, by their first four bytes, and the bytes that each has at least.
static constexpr uint64_t endRecord = 0x06054b50, endBytes = 22;
static constexpr uint64_t locatorRecord = 0x07064b50, locatorBytes = 20;
static constexpr uint64_t end64Record = 0x06064b50, end64Bytes = 56;
static constexpr uint64_t entryRecord = 0x02014b50, entryBytes = 46;
static constexpr uint64_t localRecord = 0x04034b50, localBytes = 30;

/// CRC-32 as zip has it, eight bytes at a time: table[k][b] is the remainder of
/// b with k bytes of zeros after it.
static uint32_t crc32(std::string_view text) {
  static const auto table = [] {
    std::array<std::array<uint32_t, 256>, 8> t{};
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t c = b;
      for (int bit = 0; bit < 8; ++bit) {
        c = c & 1 ? c >> 1 ^ 0xEDB88320 : c >> 1;
      }
      t[0][b] = c;
    }
    for (size_t k = 1; k < 8; ++k) {
      for (uint32_t b = 0; b < 256; ++b) {
        t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 255];
      }
    }
    return t;
  }();
  uint32_t crc = ~uint32_t{0};
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) {
      crc ^= table[7 - k][word >> 8 * k & 255];
    }
  }
  for (; i < text.size(); ++i) {
    crc = crc >> 8 ^ table[0][(crc ^ uint8_t(text[i])) & 255];
  }
  return ~crc;
}

void ZipArchive::refuse(const std::string &why) const {
  raise({ErrorCode::IoError, "'" + path + "': " + why, {}});
}

std::string_view ZipArchive::part(uint64_t at, uint64_t bytes,
                                  const char *what) const {
  if (at > content.size() || bytes > content.size() - at) {
    refuse(std::string("the zip is damaged or cut off: expected ") + what +
           " at byte " + std::to_string(at) + ", got the end of the file");
  }
  return content.substr(at, bytes);
}

/// Little-endian; the caller has looked that they are there.
uint64_t ZipArchive::number(uint64_t at, int bytes) const {
  uint64_t value = 0;
  std::memcpy(&value, content.data() + at, size_t(bytes));
  return value;
}

ZipArchive::ZipArchive(std::shared_ptr<MappedFile> mapped,
                       const std::string &path)
    : file(std::move(mapped)), content(file->text()), path(path) {
  readDirectory(findDirectory());
  placeEntries();
}

ZipArchive::Directory ZipArchive::findDirectory() const {
  // A comment of at most 65535 bytes may follow the last record.
  if (content.size() < endBytes) {
    refuse("expected a zip, got a file of " + std::to_string(content.size()) +
           " bytes");
  }
  uint64_t last = content.size() - endBytes, at = last;
  while (number(at, 4) != endRecord) {
    if (at == 0 || last - at == 65535) {
      refuse("the zip is damaged or cut off: expected the record of its end, "
             "got none");
    }
    --at;
  }
  Directory directory{number(at + 16, 4), number(at + 12, 4),
                      number(at + 10, 2)};
  bool isWide = directory.entries == 0xFFFF || directory.offset == 0xFFFFFFFF ||
                directory.bytes == 0xFFFFFFFF;
  uint64_t disk = number(at + 4, 2);
  if (at >= locatorBytes && number(at - locatorBytes, 4) == locatorRecord) {
    uint64_t wide = number(at - locatorBytes + 8, 8);
    part(wide, end64Bytes, "the zip64 record of its end");
    if (number(wide, 4) != end64Record) {
      refuse(
          "the zip is damaged: expected the zip64 record of its end at byte " +
          std::to_string(wide) + ", got another one");
    }
    directory = {number(wide + 48, 8), number(wide + 40, 8),
                 number(wide + 32, 8)};
    disk = number(wide + 16, 4);
  } else if (isWide) {
    refuse("the zip is damaged: expected the place of its zip64 record, got "
           "none");
  }
  if (disk != 0) {
    refuse("expected a zip in one file, got a part of several");
  }
  return directory;
}

void ZipArchive::readDirectory(const Directory &directory) {
  uint64_t at = directory.offset;
  part(at, directory.bytes, "its directory");
  uint64_t end = at + directory.bytes;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (end - at < entryBytes || number(at, 4) != entryRecord) {
      refuse("the zip is damaged: expected " +
             std::to_string(directory.entries) +
             " entries in its directory, got " + std::to_string(i));
    }
    uint64_t nameBytes = number(at + 28, 2), extraBytes = number(at + 30, 2),
             whole = entryBytes + nameBytes + extraBytes + number(at + 32, 2);
    if (end - at < whole) {
      refuse("the zip is damaged: an entry of its directory is cut off");
    }
    std::string name(content.substr(at + entryBytes, nameBytes));
    auto refuseEntry = [&](const std::string &why, ErrorCode code) {
      raise({code,
             "'" + path + "': entry '" + printable(name) + "': " + why,
             {}});
    };
    if (number(at + 8, 2) & 1) {
      refuseEntry("expected one that is stored, got an encrypted one",
                  ErrorCode::Unsupported);
    }
    if (uint64_t method = number(at + 10, 2); method != 0) {
      refuseEntry("expected one that is stored, as PyTorch writes it, got one "
                  "that is compressed by method " +
                      std::to_string(method) +
                      "; unpack the file and save it "
                      "again with torch.save",
                  ErrorCode::Unsupported);
    }
    uint64_t packed = number(at + 20, 4), bytes = number(at + 24, 4),
             offset = number(at + 42, 4);
    // What does not fit stands in a field of its own, in this order.
    uint64_t extra = at + entryBytes + nameBytes, extraEnd = extra + extraBytes;
    while (extraEnd - extra >= 4) {
      uint64_t kind = number(extra, 2), size = number(extra + 2, 2);
      extra += 4;
      if (size > extraEnd - extra) {
        break;
      }
      uint64_t place = extra;
      for (uint64_t *value : {&bytes, &packed, &offset}) {
        if (kind == 1 && *value == 0xFFFFFFFF && extra + size - place >= 8) {
          *value = number(place, 8);
          place += 8;
        }
      }
      extra += size;
    }
    if (packed != bytes) {
      refuseEntry("it is damaged: expected " + std::to_string(bytes) +
                      " bytes that are stored, got " + std::to_string(packed),
                  ErrorCode::IoError);
    }
    Entry entry{.offset = offset,
                .bytes = bytes,
                .checksum = uint32_t(number(at + 16, 4))};
    if (!entries.emplace(name, entry).second) {
      refuseEntry("it stands twice in the zip", ErrorCode::IoError);
    }
    at += whole;
  }
}

/// Finds the bytes of each entry, which are of no other one.
void ZipArchive::placeEntries() {
  using Named = std::pair<const std::string, Entry>;
  std::vector<Named *> ordered;
  for (Named &one : entries) {
    auto &[name, entry] = one;
    std::string what = "entry '" + printable(name) + "'";
    part(entry.offset, localBytes, what.c_str());
    if (number(entry.offset, 4) != localRecord) {
      refuse("the zip is damaged: expected " + what + " at byte " +
             std::to_string(entry.offset) + ", got something else");
    }
    entry.begin = entry.offset + localBytes + number(entry.offset + 26, 2) +
                  number(entry.offset + 28, 2);
    part(entry.begin, entry.bytes, what.c_str());
    ordered.push_back(&one);
  }
  std::sort(ordered.begin(), ordered.end(), [](Named *a, Named *b) {
    return a->second.offset < b->second.offset;
  });
  for (size_t i = 1; i < ordered.size(); ++i) {
    const auto &[name, before] = *ordered[i - 1];
    if (before.begin + before.bytes > ordered[i]->second.offset) {
      refuse("the zip is damaged: expected bytes of its own for each entry, "
             "got '" +
             printable(name) + "' and '" + printable(ordered[i]->first) +
             "' in the same bytes");
    }
  }
}

std::optional<std::string_view> ZipArchive::read(const std::string &name) {
  auto found = entries.find(name);
  if (found == entries.end()) {
    return std::nullopt;
  }
  Entry &entry = found->second;
  std::string what = "entry '" + printable(name) + "'";
  std::string_view bytes = content.substr(entry.begin, entry.bytes);
  if (!entry.isChecked && entry.checksum != 0 &&
      crc32(bytes) != entry.checksum) {
    refuse(what + ": it is damaged: its checksum is another one than the zip "
                  "says");
  }
  entry.isChecked = true;
  return bytes;
}

std::optional<std::string>
ZipArchive::prefixOf(const std::string &ending) const {
  std::optional<std::string> prefix;
  for (const auto &[name, entry] : entries) {
    if (name.ends_with(ending)) {
      if (prefix) {
        return std::nullopt;
      }
      prefix = name.substr(0, name.size() - ending.size());
    }
  }
  return prefix;
}
