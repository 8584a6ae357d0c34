//===- SharedMemory.h - Places in shared memory -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip through shared memory is write, barrier, read. The region may be
// written again once every thread has read it, which the barrier of the next
// trip proves. So two trips in a row take different regions and need one
// barrier each; only what was read since the last barrier is taken. Buffers
// that live longer are reserved.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_SHAREDMEMORY_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_SHAREDMEMORY_H

#include "llvm/ADT/SmallVector.h"

namespace nereid::togpu {

struct SharedRegion {
  unsigned offset = 0, bytes = 0;
  bool operator==(const SharedRegion &) const = default;
};

class SharedMemory {
public:
  /// Bytes of one access of a warp.
  static constexpr unsigned wavefront = 128;
  /// Eight rows of 128 bytes, after which a swizzle repeats: products that read
  /// shared memory themselves want their operands to start there.
  static constexpr unsigned swizzlePeriod = 1024;

  /// The lowest place that meets no region being read or reserved.
  SharedRegion find(unsigned bytes, unsigned align = wavefront) const;
  /// Beyond this a barrier is cheaper than another region.
  bool isCheap(const SharedRegion &region) const {
    return region.offset + region.bytes <= used || region.offset == 0 ||
           region.offset + region.bytes <= reservedEnd() + cheapBytes;
  }
  void reserve(const SharedRegion &region) { reserved.push_back(region); }
  void release(const SharedRegion &region);
  void take(const SharedRegion &region);
  void wasBarrier() { reading.clear(); }
  void startsReading(const SharedRegion &region) { reading.push_back(region); }
  bool isClean() const { return reading.empty(); }

  /// The state at a point of the program, for joining paths.
  using State = llvm::SmallVector<SharedRegion>;
  const State &state() const { return reading; }
  void restore(State state) { reading = std::move(state); }
  void add(const State &other) { reading.append(other.begin(), other.end()); }
  unsigned bytes() const { return used; }

private:
  unsigned reservedEnd() const;

  static constexpr unsigned cheapBytes = 16 * 1024;
  State reading, reserved;
  unsigned used = 0;
};

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_SHAREDMEMORY_H
