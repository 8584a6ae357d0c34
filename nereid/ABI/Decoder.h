//===- Decoder.h - Reads what Encoder wrote ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoding.h has the form. Any bytes at all may be fed to it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_DECODER_H
#define NEREID_ABI_DECODER_H

#include "nereid/ABI/Encoding.h"

namespace nereid {

/// After the first problem `bad` is set and every read gives a default.
struct Decoder {
  std::string_view rest;
  bool bad = false;

  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void get(T &value) {
    if (rest.size() < sizeof(T)) {
      bad = true;
      rest = {};
      return;
    }
    // A bool of any other byte than 0 and 1 would be undefined behaviour.
    if constexpr (std::is_same_v<T, bool>) {
      bad |= static_cast<uint8_t>(rest[0]) > 1;
      value = rest[0] != 0;
    } else {
      std::memcpy(&value, rest.data(), sizeof(T));
    }
    rest.remove_prefix(sizeof(T));
  }
  /// An enum whose largest value is `last`.
  template <typename T>
  void get(T &value, T last) {
    get(value);
    if (value > last) {
      bad = true;
      value = T();
    }
  }
  std::string_view view() {
    uint64_t size = 0;
    get(size);
    if (size > rest.size()) {
      bad = true;
      rest = {};
      return {};
    }
    std::string_view text = rest.substr(0, size);
    rest.remove_prefix(size);
    return text;
  }
  void get(std::string &text) { text = view(); }
  /// A list; every element takes at least one byte, which bounds its length.
  template <typename T, typename F>
  void list(std::vector<T> &items, F readOne) {
    uint64_t count = 0;
    get(count);
    if (count > rest.size()) {
      bad = true;
      return;
    }
    for (uint64_t i = 0; i < count && !bad; ++i) {
      readOne(items.emplace_back());
    }
  }
  void get(SourceLocation &l) {
    get(l.file);
    get(l.line);
    get(l.column);
    get(l.endLine);
    get(l.endColumn);
  }
};

} // namespace nereid

#endif // NEREID_ABI_DECODER_H
