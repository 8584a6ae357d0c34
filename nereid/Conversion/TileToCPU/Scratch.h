//===- Scratch.h - Offsets of buffers in the scratch memory ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_SCRATCH_H
#define NEREID_CONVERSION_TILETOCPU_SCRATCH_H

#include <algorithm>
#include <cstdint>
#include <map>

namespace nereid::tocpu {

/// First fit over the holes that released buffers leave; offsets are multiples
/// of a cache line.
class Scratch {
public:
  uint64_t allocate(uint64_t bytes) {
    bytes = std::max<uint64_t>((bytes + 63) / 64 * 64, 64);
    uint64_t at = 0;
    for (auto [offset, size] : used) {
      if (offset - at >= bytes) {
        break;
      }
      at = offset + size;
    }
    used[at] = bytes;
    peak = std::max(peak, at + bytes);
    return at;
  }
  void release(uint64_t offset) { used.erase(offset); }
  /// Vectors may be read beyond the last element of a buffer.
  uint64_t bytes() const { return peak == 0 ? 0 : peak + overread; }

  static constexpr uint64_t overread = 1024;

private:
  std::map<uint64_t, uint64_t> used;
  uint64_t peak = 0;
};

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_SCRATCH_H
