//===- SharedAccess.cpp - Shared memory as threads use it -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

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

void KernelEmitter::storeRowMajor(unsigned offset, const TileInfo &tile,
                                  ArrayRef<Value> registers) {
  Value firstCopy = isFirstCopy(tile.layout);
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (!tile.dead[r]) {
      storeShared(sharedAddress(offset, rowMajorIndex(tile, r), tile.element),
                  {registers[r]}, andOf(insideShape(tile, r), firstCopy));
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
