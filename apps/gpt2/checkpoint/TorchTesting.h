//===- TorchTesting.h - Files of torch.save for tests -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_TORCHTESTING_H
#define NEREID_APPS_GPT2_CHECKPOINT_TORCHTESTING_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::gpt2 {

inline std::string littleEndian(uint64_t value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += i < 8 ? char(value >> 8 * i & 255) : '\0';
  }
  return text;
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// Instructions that leave one value.
inline std::string integerPickle(int64_t value) {
  return "\x8a\x08" + littleEndian(uint64_t(value), 8);
}
inline std::string textPickle(const std::string &text) {
  return "X" + littleEndian(text.size(), 4) + text;
}
inline std::string dictPickle(const NamedTexts &values) {
  std::string text = "}(";
  for (const auto &[key, value] : values) {
    text += textPickle(key) + value;
  }
  return text + "u";
}
inline std::string orderedDict() { return "ccollections\nOrderedDict\n)R"; }
inline std::string tensorPickle(const std::string &storage,
                                const std::string &key, int64_t count,
                                int64_t offset,
                                const std::vector<int64_t> &shape,
                                const std::vector<int64_t> &strides) {
  auto tuple = [](const std::vector<int64_t> &numbers) {
    std::string text = "(";
    for (int64_t one : numbers) {
      text += integerPickle(one);
    }
    return text + "t";
  };
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + textPickle("storage") +
         "ctorch\n" + storage + "\n" + textPickle(key) + textPickle("cuda:0") +
         integerPickle(count) + "tQ" + integerPickle(offset) + tuple(shape) +
         tuple(strides) + "\x89" + orderedDict() + "tR";
}

/// A whole pickle of a dictionary.
inline std::string pickleOf(const NamedTexts &values) {
  return "\x80\x02" + dictPickle(values) + ".";
}

struct ZipOptions {
  bool isWide = false; ///< places in the fields of zip64
  unsigned method = 0, flags = 0, misalignment = 0;
  std::string byteOrder = "little", pickleName = "data.pkl";
};

inline uint32_t slowCrc32(const std::string &text) {
  uint32_t crc = ~uint32_t{0};
  for (char c : text) {
    crc ^= uint8_t(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
  }
  return ~crc;
}

/// `storages`: names in data/ and elements, which begin at multiples of 64.
inline std::string torchZip(const std::string &pickle,
                            const NamedTexts &storages,
                            const ZipOptions &options = {}) {
  NamedTexts entries = {{"ckpt/" + options.pickleName, pickle},
                        {"ckpt/byteorder", options.byteOrder}};
  for (const auto &[key, elements] : storages) {
    bool isBeside = key.starts_with("../");
    entries.emplace_back(
        isBeside ? "ckpt/" + key.substr(3) : "ckpt/data/" + key, elements);
  }
  std::string file, directory;
  for (const auto &[name, content] : entries) {
    size_t begin = file.size() + 30 + name.size() + 4;
    size_t padding = (64 - begin % 64) % 64 + options.misalignment;
    std::string place = littleEndian(options.flags, 2) +
                        littleEndian(options.method, 2) + littleEndian(0, 4) +
                        littleEndian(slowCrc32(content), 4);
    std::string sizes = littleEndian(content.size(), 4);
    std::string wide = littleEndian(1, 2) + littleEndian(24, 2) +
                       littleEndian(content.size(), 8) +
                       littleEndian(content.size(), 8) +
                       littleEndian(file.size(), 8);
    std::string none = littleEndian(0xFFFFFFFF, 4);
    directory += "PK\x01\x02" + littleEndian(0, 2) + littleEndian(0, 2) +
                 place + (options.isWide ? none + none : sizes + sizes) +
                 littleEndian(name.size(), 2) +
                 littleEndian(options.isWide ? wide.size() : 0, 2) +
                 littleEndian(0, 10) +
                 (options.isWide ? none : littleEndian(file.size(), 4)) + name +
                 (options.isWide ? wide : "");
    file += "PK\x03\x04" + littleEndian(0, 2) + place + sizes + sizes +
            littleEndian(name.size(), 2) + littleEndian(padding + 4, 2) + name +
            "FB" + littleEndian(padding, 2) + std::string(padding, 'Z') +
            content;
  }
  size_t at = file.size(), count = entries.size();
  file += directory;
  if (options.isWide) {
    size_t end = file.size();
    file += "PK\x06\x06" + littleEndian(44, 8) + littleEndian(0, 4) +
            littleEndian(0, 8) + littleEndian(count, 8) +
            littleEndian(count, 8) + littleEndian(directory.size(), 8) +
            littleEndian(at, 8);
    file += "PK\x06\x07" + littleEndian(0, 4) + littleEndian(end, 8) +
            littleEndian(1, 4);
  }
  uint64_t no16 = 0xFFFF, no32 = 0xFFFFFFFF;
  return file + "PK\x05\x06" + littleEndian(0, 4) +
         littleEndian(options.isWide ? no16 : count, 2) +
         littleEndian(options.isWide ? no16 : count, 2) +
         littleEndian(options.isWide ? no32 : directory.size(), 4) +
         littleEndian(options.isWide ? no32 : at, 4) + littleEndian(0, 2);
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_TORCHTESTING_H
