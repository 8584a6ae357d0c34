//===- ExpandArithmetic.cpp - Conversions and approximations --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Expander.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace nereid::amd {

static Value round(OpBuilder &b, Location loc, Rounding rounding, Value x) {
  switch (rounding) {
  case Rounding::Nearest:
    return LLVM::RoundEvenOp::create(b, loc, x);
  case Rounding::Down:
    return LLVM::FFloorOp::create(b, loc, x);
  case Rounding::Up:
    return LLVM::FCeilOp::create(b, loc, x);
  case Rounding::Zero:
    return x;
  }
  llvm_unreachable("all roundings are handled");
}

static void expandFloatToInt(FloatToIntOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto target = cast<IntegerType>(op.getTarget());
  bool isSigned = target.isSigned();
  Type type = b.getIntegerType(target.getWidth());
  Value result =
      callIntrinsic(b, loc, isSigned ? "llvm.fptosi.sat" : "llvm.fptoui.sat",
                    type, round(b, loc, op.getRounding(), op.getSource()));
  Type wide = op.getResult().getType();
  if (type != wide) {
    result = isSigned ? Value(LLVM::SExtOp::create(b, loc, wide, result))
                      : Value(LLVM::ZExtOp::create(b, loc, wide, result));
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// V_RSQ_F32 takes arguments below 2^-126 for zeros: these are made larger by
/// 2^24, and their results by 2^12.
static Value reciprocalRoot(OpBuilder &b, Location loc, Value x) {
  Type f32 = b.getF32Type();
  auto constant = [&](float value) -> Value {
    return LLVM::ConstantOp::create(b, loc, f32, b.getF32FloatAttr(value));
  };
  Value isSmall = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::olt, x,
                                       constant(0x1p-126f));
  auto scaled = [&](Value value, float by) -> Value {
    Value factor =
        LLVM::SelectOp::create(b, loc, isSmall, constant(by), constant(1));
    return LLVM::FMulOp::create(b, loc, value, factor);
  };
  Value root =
      callIntrinsic(b, loc, "llvm.amdgcn.rsq", f32, scaled(x, 0x1p24f));
  return scaled(root, 0x1p12f);
}

static void expandApproximate(ApproximateOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value result =
      op.getFunction() == Function::Exp2
          ? callIntrinsic(b, loc, "llvm.amdgcn.exp2", b.getF32Type(), op.getX())
          : reciprocalRoot(b, loc, op.getX());
  op.replaceAllUsesWith(result);
  op.erase();
}

bool expandArithmetic(Operation *op) {
  if (auto convert = dyn_cast<FloatToIntOp>(op)) {
    expandFloatToInt(convert);
    return true;
  }
  if (auto approximate = dyn_cast<ApproximateOp>(op)) {
    expandApproximate(approximate);
    return true;
  }
  return false;
}

} // namespace nereid::amd
