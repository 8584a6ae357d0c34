//===- SharedMemory.cpp - Places in shared memory -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/SharedMemory.h"

#include "llvm/ADT/STLExtras.h"

namespace nereid::togpu {

SharedRegion SharedMemory::find(unsigned bytes, unsigned align) const {
  State sorted = reading;
  sorted.append(reserved.begin(), reserved.end());
  llvm::sort(sorted, [](const SharedRegion &a, const SharedRegion &b) {
    return a.offset < b.offset;
  });
  unsigned at = 0;
  for (const SharedRegion &region : sorted) {
    if (at + bytes <= region.offset) {
      break;
    }
    at = std::max(at, region.offset + region.bytes);
    at = (at + align - 1) / align * align;
  }
  return {at, bytes};
}

void SharedMemory::release(const SharedRegion &region) {
  llvm::erase(reserved, region);
}

unsigned SharedMemory::reservedEnd() const {
  unsigned end = 0;
  for (const SharedRegion &region : reserved) {
    end = std::max(end, region.offset + region.bytes);
  }
  return end;
}

void SharedMemory::take(const SharedRegion &region) {
  used = std::max(used, region.offset + region.bytes);
}

} // namespace nereid::togpu
