//===- SharedAccess.cpp - Shared memory as threads use it -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::barrier() {
  if (producerWarps) {
    machine->barrierOf(target.lanes * warps);
  } else {
    machine->barrier(ordersGlobal);
  }
}

unsigned KernelEmitter::acquireScratch() {
  if (!scratchPlaces || nextPiece == scratchPlaces.getOffsets().size()) {
    fail(scratchOwner, "no place in shared memory");
    return 0;
  }
  if (llvm::is_contained(scratchPlaces.getBehindBarrier(), nextPiece)) {
    barrier();
  }
  return scratchPlaces.getOffsets()[nextPiece++];
}

Value KernelEmitter::sharedAddress(unsigned byteOffset) {
  return byteOffset ? Value(arith::AddIOp::create(b, loc, sharedBase,
                                                  ops().i32(byteOffset)))
                    : sharedBase;
}

Value KernelEmitter::sharedAddress(unsigned base, Value index, Type element) {
  unsigned bytes = tile::getElementBytes(element);
  Value offset = index;
  if (bytes > 1) {
    offset = arith::MulIOp::create(b, loc, offset, ops().i32(bytes));
  }
  return arith::AddIOp::create(b, loc, sharedAddress(base), offset);
}

unsigned neighboursOf(const TileInfo &tile) {
  auto last = static_cast<uint64_t>(tile.shape.empty() ? 1 : tile.shape.back());
  if (!std::has_single_bit(last) || tile.element.isInteger(1)) {
    return 1;
  }
  ArrayRef<uint32_t> columns = tile.layout.registers;
  unsigned width = 1, bits = 0;
  while (bits < columns.size() && columns[bits] == width && 2 * width <= last &&
         2 * width * tile::getElementBytes(tile.element) <= accessBytes) {
    width *= 2;
    ++bits;
  }
  auto areMultiples = [&](ArrayRef<uint32_t> part) {
    return llvm::all_of(part, [&](uint32_t c) { return c % width == 0; });
  };
  while (width > 1 && !(areMultiples(columns.drop_front(bits)) &&
                        areMultiples(tile.layout.lanes) &&
                        areMultiples(tile.layout.warps))) {
    width /= 2;
    --bits;
  }
  return width;
}

void KernelEmitter::storeRowMajor(unsigned offset, const TileInfo &tile,
                                  ArrayRef<Value> registers) {
  Value firstCopy = isFirstCopy(tile.layout);
  unsigned width = neighboursOf(tile);
  for (unsigned r = 0; r < tile.count(); r += width) {
    if (!tile.dead[r]) {
      storeShared(sharedAddress(offset, rowMajorIndex(tile, r), tile.element),
                  registers.slice(r, width),
                  andOf(insideShape(tile, r), firstCopy));
    }
  }
}

Registers KernelEmitter::loadRowMajor(unsigned offset, const TileInfo &tile) {
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (!tile.dead[r]) {
      result[r] = loadShared(
          sharedAddress(offset, safeRowMajorIndex(tile, r), tile.element),
          laneType(tile.element), 1)[0];
    }
  }
  return result;
}

void KernelEmitter::storeShared(SharedPlace at, ArrayRef<Value> elements,
                                Value predicate) {
  AccessShape shape(bitsInMemory(elements[0].getType()), elements.size());
  machine->store({Space::Shared, at.start, at.offset, shape, predicate},
                 toWords(elements, shape));
}

Registers KernelEmitter::loadShared(SharedPlace at, Type lane, unsigned count) {
  AccessShape shape(bitsInMemory(lane), count);
  return fromWords(
      machine->load({Space::Shared, at.start, at.offset, shape, Value()}, {}),
      shape, lane, count);
}

} // namespace nereid::togpu
