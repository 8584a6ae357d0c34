//===- MessagePack.h - Metadata of a code object ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_MESSAGEPACK_H
#define NEREID_SIM_AMD_MESSAGEPACK_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::sim::amd {

/// A number, a text, an array (items) or a map (keys and items).
struct PackedValue {
  uint64_t integer = 0;
  std::string string;
  std::vector<std::string> keys;
  std::vector<PackedValue> items;

  /// Of a map; null without.
  const PackedValue *find(std::string_view key) const;
  /// 0 and "" where the map has no such key.
  uint64_t number(std::string_view key) const;
  std::string text(std::string_view key) const;
};

/// Empty for bytes that end too early or nest deeper than 32.
std::optional<PackedValue> readMessagePack(std::span<const uint8_t> bytes);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_MESSAGEPACK_H
