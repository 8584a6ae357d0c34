//===- Clamped.cpp - What the processor defines and LLVM does not ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A processor's shifts clamp; to LLVM a shift by the width or more is poison
// (docs/Math.md).
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::togpu {

Value KernelEmitter::clampedShift(Operation *op, Value x, Value amount) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  APInt by;
  if (matchPattern(amount, m_ConstantInt(&by)) && by.ult(width)) {
    return ops().shift(op, x, amount);
  }
  bool isSigned = isa<arith::ShRSIOp>(op);
  if (width < 32) {
    // Enough bits are shifted out of, or into, a word.
    Type word = b.getI32Type();
    Value wide = isSigned ? Value(arith::ExtSIOp::create(b, loc, word, x))
                          : Value(arith::ExtUIOp::create(b, loc, word, x));
    Value most = arith::MinUIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, word, amount), ops().i32(31));
    return arith::TruncIOp::create(
        b, loc, type, ops().elementwiseLike(op, {wide, most}, word));
  }
  if (width == 32 && isSigned) {
    return machine->shiftRightSigned(x, amount);
  }
  if (width == 64 && !isSigned) {
    // LLVM 22 makes `amount < 64 ? x << amount : 0` one shift by the low half
    // of the amount: 2^32 would shift by nothing.
    Value inside = arith::MinUIOp::create(b, loc, amount, ops().i64(63));
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           amount, ops().i64(64));
    return arith::SelectOp::create(b, loc, isInside,
                                   ops().elementwiseLike(op, {x, inside}, type),
                                   ops().i64(0));
  }
  return ops().shift(op, x, amount); // one instruction, or with a minimum
}

Value KernelEmitter::clamped(Operation *op, ArrayRef<Value> operands) {
  return isShift(op) ? clampedShift(op, operands[0], operands[1]) : Value();
}

} // namespace nereid::togpu
