//===- LocalLoad.cpp - Buffers into registers -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/BufferReader.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

KernelEmitter::BufferReader KernelEmitter::openBuffer(Value loaded) {
  auto op = loaded.getDefiningOp<tilegpu::LocalLoadOp>();
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
  return {placesIn(op.getBuffer().getType(),
                   slotAddress(op.getBuffer(), op.getSlot()), threadColumns),
          std::move(columns),
          width,
          bytes,
          laneType(tile.element),
          Registers(tile.count())};
}

Value KernelEmitter::read(BufferReader &reader, unsigned r) {
  if (!reader.loaded[r]) {
    unsigned first = r - r % reader.width;
    Registers loaded = loadShared(
        placeToRead(reader.places, sumOfColumns(reader.columns, first),
                    reader.width * reader.bytes),
        reader.lane, reader.width);
    llvm::copy(loaded, reader.loaded.begin() + first);
  }
  return reader.loaded[r];
}

void KernelEmitter::emitLocalLoad(tilegpu::LocalLoadOp op) {
  if (staysInBuffer(op)) {
    return;
  }
  const TileInfo &tile = info(op.getType());
  BufferReader reader = openBuffer(op.getResult());
  for (unsigned r = 0; r < tile.count(); r += reader.width) {
    if (!tile.dead[r]) {
      read(reader, r);
    }
  }
  bind(op, std::move(reader.loaded));
}

} // namespace nereid::togpu
