//===- Clamped.cpp - What the processor defines and LLVM does not ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX's shifts clamp, and its conversions to integers saturate; to LLVM a shift
// by the width or more, and a float beyond the range, are poison
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
    return inlineAsm("shr.s32 $0, $1, $2;", "=r,r,r", {x, amount}, {type},
                     false)[0];
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

/// The instruction that made an 8-bit integer of an f32, or null.
static LLVM::InlineAsmOp saturating(Value element) {
  auto cut = element.getDefiningOp<arith::TruncIOp>();
  auto made = cut && cut.getType().isInteger(8)
                  ? cut.getIn().getDefiningOp<LLVM::InlineAsmOp>()
                  : LLVM::InlineAsmOp();
  bool isMade = made && (made.getAsmString().starts_with("cvt.rzi.s8.f32") ||
                         made.getAsmString().starts_with("cvt.rzi.u8.f32"));
  return isMade ? made : LLVM::InlineAsmOp();
}

/// Four of a word, of one signedness, saturate while they are packed: ptxas
/// spends two instructions on the upper bits of each 8-bit result.
Value KernelEmitter::packSaturated(ArrayRef<Value> elements) {
  if (!target.hasPackedSaturation) {
    return {};
  }
  StringRef text;
  SmallVector<Value> integers;
  for (Value element : elements) {
    LLVM::InlineAsmOp made = saturating(element);
    if (!made || (!text.empty() && made.getAsmString() != text)) {
      return {};
    }
    text = made.getAsmString();
  }
  for (Value element : elements) {
    integers.push_back(inlineAsm("cvt.rzi.s32.f32 $0, $1;", "=r,f",
                                 {saturating(element).getOperands()[0]},
                                 {b.getI32Type()}, false)[0]);
  }
  std::string pack = text.contains(".s8.") ? "cvt.pack.sat.s8.s32.b32"
                                           : "cvt.pack.sat.u8.s32.b32";
  return inlineAsm("{\n\t.reg .b32 upper;\n\t" + pack +
                       " upper, $4, $3, 0;\n\t" + pack +
                       " $0, $2, $1, upper;\n\t}",
                   "=r,r,r,r,r", integers, {b.getI32Type()}, false)[0];
}

Value KernelEmitter::clamped(Operation *op, ArrayRef<Value> operands) {
  return isShift(op) ? clampedShift(op, operands[0], operands[1]) : Value();
}

} // namespace nereid::togpu
