//===- SharedAccess.cpp - Shared memory as threads use it -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/AccessShape.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::barrier() {
  LLVM::CallIntrinsicOp::create(
      b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
      ValueRange{ops().i32(0)});
  shared.wasBarrier();
  global.wasBarrier();
}

void KernelEmitter::orderAccess(Operation *op) {
  GlobalOrder::Access access = GlobalOrder::accessOf(op);
  if (global.needsBarrier(access)) {
    barrier();
  }
  global.record(access);
}

SharedRegion KernelEmitter::acquire(unsigned bytes, unsigned align) {
  SharedRegion region = shared.find(bytes, align);
  if (!shared.isCheap(region)) {
    barrier();
    region = shared.find(bytes, align);
  }
  shared.take(region);
  return region;
}

void KernelEmitter::publish(const SharedRegion &region) {
  barrier();
  shared.startsReading(region);
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
  SmallVector<Value> operands = {at.start};
  operands.append(toWords(elements, shape));
  std::string constraints = "r";
  for (unsigned i = 0; i < shape.words; ++i) {
    constraints += std::string(",") + shape.constraint();
  }
  std::string text;
  if (predicate) {
    text = "@$" + std::to_string(operands.size()) + " ";
    constraints += ",b";
    operands.push_back(predicate);
  }
  text += "st.shared" + shape.suffix() + " [$0+" + std::to_string(at.offset) +
          "], " + shape.operands(1) + ";";
  inlineAsm(text, constraints, operands, {}, true);
}

Registers KernelEmitter::loadShared(SharedPlace at, Type lane, unsigned count) {
  AccessShape shape(bitsInMemory(lane), count);
  std::string constraints;
  for (unsigned i = 0; i < shape.words; ++i) {
    constraints += std::string("=") + shape.constraint() + ",";
  }
  SmallVector<Type> types(shape.words, b.getIntegerType(shape.registerBits()));
  SmallVector<Value> words = inlineAsm(
      "ld.shared" + shape.suffix() + " " + shape.operands(0) + ", [$" +
          std::to_string(shape.words) + "+" + std::to_string(at.offset) + "];",
      constraints + "r", {at.start}, types, true);
  return fromWords(std::move(words), shape, lane, count);
}

} // namespace nereid::togpu
