//===- MessagePack.cpp - Metadata of a code object ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/MessagePack.h"

namespace nereid::sim::amd {

const PackedValue *PackedValue::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) {
      return &items[i];
    }
  }
  return nullptr;
}

uint64_t PackedValue::number(std::string_view key) const {
  const PackedValue *found = find(key);
  return found ? found->integer : 0;
}

std::string PackedValue::text(std::string_view key) const {
  const PackedValue *found = find(key);
  return found ? found->string : "";
}

namespace {

/// msgpack.org, "spec.md".
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  PackedValue read(unsigned depth) {
    PackedValue value;
    uint8_t first = uint8_t(bigEndian(1));
    constexpr unsigned deepest = 32;
    if (depth > deepest) {
      isBroken = true;
    } else if (first < 0x80 || first >= 0xe0) {
      value.integer = uint64_t(int64_t(int8_t(first)));
    } else if (first < 0x90) {
      readMap(value, first & 0xf, depth);
    } else if (first < 0xa0) {
      readArray(value, first & 0xf, depth);
    } else if (first < 0xc0) {
      value.string = readText(first & 0x1f);
    } else {
      readLong(value, first, depth);
    }
    return value;
  }

  bool isBroken = false;

private:
  void readLong(PackedValue &value, uint8_t first, unsigned depth) {
    if (first == 0xc0 || first == 0xc2 || first == 0xc3) {
      value.integer = first == 0xc3;
    } else if (first >= 0xc4 && first <= 0xc6) {
      value.string = readText(bigEndian(1u << (first - 0xc4)));
    } else if (first >= 0xcc && first <= 0xcf) {
      value.integer = bigEndian(1u << (first - 0xcc));
    } else if (first >= 0xd0 && first <= 0xd3) {
      unsigned size = 1u << (first - 0xd0);
      unsigned unused = 64 - 8 * size;
      value.integer = uint64_t(int64_t(bigEndian(size) << unused) >> unused);
    } else if (first >= 0xd9 && first <= 0xdb) {
      value.string = readText(bigEndian(1u << (first - 0xd9)));
    } else if (first == 0xdc || first == 0xdd) {
      readArray(value, bigEndian(first == 0xdc ? 2 : 4), depth);
    } else if (first == 0xde || first == 0xdf) {
      readMap(value, bigEndian(first == 0xde ? 2 : 4), depth);
    } else if (first == 0xca || first == 0xcb) {
      bigEndian(first == 0xca ? 4 : 8); // floats: nothing of ours
    } else {
      isBroken = true;
    }
  }

  uint64_t bigEndian(unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      if (at >= bytes.size()) {
        isBroken = true;
        return 0;
      }
      value = value << 8 | bytes[at++];
    }
    return value;
  }

  std::string readText(uint64_t size) {
    if (size > bytes.size() - at) {
      isBroken = true;
      return "";
    }
    std::string text(reinterpret_cast<const char *>(bytes.data() + at), size);
    at += size;
    return text;
  }

  void readArray(PackedValue &value, uint64_t count, unsigned depth) {
    for (uint64_t i = 0; i < count && !isBroken; ++i) {
      value.items.push_back(read(depth + 1));
    }
  }

  void readMap(PackedValue &value, uint64_t count, unsigned depth) {
    for (uint64_t i = 0; i < count && !isBroken; ++i) {
      value.keys.push_back(read(depth + 1).string);
      value.items.push_back(read(depth + 1));
    }
  }

  std::span<const uint8_t> bytes;
  size_t at = 0;
};

} // namespace

std::optional<PackedValue> readMessagePack(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  PackedValue value = reader.read(0);
  if (reader.isBroken) {
    return std::nullopt;
  }
  return value;
}

} // namespace nereid::sim::amd
