//===- LocalLoad.cpp - Buffers into registers -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::emitLocalLoad(tilegpu::LocalLoadOp op) {
  if (staysInBuffer(op)) {
    return;
  }
  const TileInfo &tile = info(op.getType());
  unsigned bytes = tile::getElementBytes(tile.element);
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(
      op.getBuffer().getType(), op.getOrder().value_or(ArrayRef<int32_t>()));
  auto columns = bytesOf(tile.layout.registers, offsets, bytes);
  auto threadColumns = bytesOf(tile.layout.lanes, offsets, bytes);
  for (uint32_t column : bytesOf(tile.layout.warps, offsets, bytes)) {
    threadColumns.push_back(column);
  }
  // Registers in consecutive places, from an aligned one.
  unsigned width = 1;
  for (unsigned i = 0; i < columns.size() && columns[i] == width * bytes &&
                       2 * width * bytes <= 16;
       ++i) {
    width *= 2;
  }
  auto aligned = [&](ArrayRef<uint32_t> part) {
    return llvm::all_of(part,
                        [&](uint32_t c) { return c % (width * bytes) == 0; });
  };
  while (width > 1 && !(aligned(threadColumns) &&
                        aligned(ArrayRef<uint32_t>(columns).drop_front(
                            std::countr_zero(width))))) {
    width /= 2;
  }
  SlotPlaces places =
      placesIn(op.getBuffer().getType(),
               slotAddress(op.getBuffer(), op.getSlot()), threadColumns);
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); r += width) {
    if (tile.dead[r]) {
      continue;
    }
    Registers loaded =
        loadShared(placeToRead(places, sumOfColumns(columns, r), width * bytes),
                   laneType(tile.element), width);
    for (unsigned i = 0; i < width; ++i) {
      result[r + i] = loaded[i];
    }
  }
  bind(op, std::move(result));
}

} // namespace nereid::togpu
