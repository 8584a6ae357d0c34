//===- ExpandMatrix.cpp - Matrix products ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Expander.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace nereid::amd {

static Value vectorOf(OpBuilder &b, Location loc, ValueRange values) {
  if (values.size() == 1) {
    return values.front();
  }
  Type type = VectorType::get(static_cast<int64_t>(values.size()),
                              values.front().getType());
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value at = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                        b.getI32IntegerAttr(i));
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, at);
  }
  return vector;
}

static Value cast(OpBuilder &b, Location loc, Value value, Type to) {
  return value.getType() == to
             ? value
             : Value(LLVM::BitcastOp::create(b, loc, to, value));
}

/// Replaces the results by the elements of a vector.
static void replaceByElements(OpBuilder &b, Operation *op, Value vector) {
  for (auto [i, old] : llvm::enumerate(op->getResults())) {
    Value at = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(),
                                        b.getI32IntegerAttr(i));
    old.replaceAllUsesWith(
        LLVM::ExtractElementOp::create(b, op->getLoc(), vector, at));
  }
  op->erase();
}

static StringRef nameOf(Type type) {
  return type.isF16()                  ? "f16"
         : type.isBF16()               ? "bf16"
         : type.isF32()                ? "f32"
         : isa<FloatTF32Type>(type)    ? "xf32"
         : type.isF64()                ? "f64"
         : isa<Float8E4M3FNType>(type) ? "fp8"
         : isa<Float8E5M2Type>(type)   ? "bf8"
                                       : "i8";
}

/// The intrinsic's name after its shape: the first generation wrote the type
/// to it, later ones put a dot between.
static std::string operandsOf(MfmaOp op) {
  Type type = op.getLhsType();
  std::string lhs = nameOf(type).str();
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type)) {
    return "." + lhs + "." + nameOf(op.getRhsType()).str();
  }
  unsigned depth = op.getDepth() * op.getSize() / 16;
  if (isa<FloatTF32Type>(type) || depth > 16) {
    return "." + lhs;
  }
  return type.isBF16() ? lhs + ".1k" : lhs;
}

/// V_MFMA_F32_16X16X128_F8F6F4 and its like: the formats are numbers, and LLVM
/// takes scales of zero for none.
static Value expandDeepBytes(OpBuilder &b, MfmaOp op, const std::string &shape,
                             Value lhs, Value rhs, Value sums) {
  auto number = [&](int value) -> Value {
    return LLVM::ConstantOp::create(b, op.getLoc(), b.getI32Type(),
                                    b.getI32IntegerAttr(value));
  };
  auto format = [&](Type type) {
    return number(isa<Float8E5M2Type>(type) ? 1 : 0);
  };
  Value none = number(0);
  return callIntrinsic(b, op.getLoc(),
                       "llvm.amdgcn.mfma.scale.f32." + shape +
                           ".f8f6f4.v8i32.v8i32",
                       sums.getType(),
                       {lhs, rhs, sums, format(op.getLhsType()),
                        format(op.getRhsType()), none, none, none, none});
}

static void expandMfma(MfmaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getLhsType();
  unsigned words = op.getLhs().size();
  Type operand;
  if (type.isF16()) {
    operand = VectorType::get(2 * words, type);
  } else if (type.isBF16()) {
    operand =
        VectorType::get(2 * words, words == 2 ? Type(b.getI16Type()) : type);
  } else if (words == 2 && !isa<FloatTF32Type>(type)) {
    operand = b.getI64Type(); // eight bytes
  }
  auto made = [&](ValueRange values) {
    Value vector = vectorOf(b, loc, values);
    return operand ? cast(b, loc, vector, operand) : vector;
  };
  Value sums = vectorOf(b, loc, op.getSums());
  std::string size = std::to_string(op.getSize());
  std::string sum = type.isF64() ? "f64" : type.isInteger() ? "i32" : "f32";
  std::string shape = size + "x" + size + "x" + std::to_string(op.getDepth());
  constexpr unsigned wordsOfDeepBytes = 8;
  if (words == wordsOfDeepBytes) {
    replaceByElements(b, op,
                      expandDeepBytes(b, op, shape, made(op.getLhs()),
                                      made(op.getRhs()), sums));
    return;
  }
  std::string name = "llvm.amdgcn.mfma." + sum + "." + shape + operandsOf(op);
  Value none =
      LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  Value result = callIntrinsic(
      b, loc, name, sums.getType(),
      {made(op.getLhs()), made(op.getRhs()), sums, none, none, none});
  replaceByElements(b, op, result);
}

/// V_WMMA wants all lanes, and LLVM 22 knows that of its intrinsic but not of
/// the instruction: where only some lanes use the sums, in a block of their
/// own, it moves the product there, operands and all. A use of the result
/// beside the product keeps it where it is. Of a chain of products that is the
/// last one's.
static void keepInPlace(OpBuilder &b, WmmaOp op, Value result) {
  bool isChained = llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<WmmaOp>(user) && user->getBlock() == op->getBlock();
  });
  if (!isChained) {
    LLVM::InlineAsmOp::create(
        b, op.getLoc(), TypeRange(), result, /*asm_string=*/"",
        /*constraints=*/"v", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
  }
}

static void expandWmma(WmmaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getLhsType();
  auto made = [&](ValueRange values) {
    Value vector = vectorOf(b, loc, values);
    auto count = static_cast<int64_t>(2 * values.size());
    return type.isF16() ? cast(b, loc, vector, VectorType::get(count, type))
           : type.isBF16()
               ? cast(b, loc, vector, VectorType::get(count, b.getI16Type()))
               : vector;
  };
  auto flag = [&](bool value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI1Type(),
                                    b.getBoolAttr(value));
  };
  Value sums = vectorOf(b, loc, op.getSums());
  Value lhs = made(op.getLhs()), rhs = made(op.getRhs());
  const std::string shape = ".16x16x16.";
  Value result;
  if (type.isInteger()) {
    result = callIntrinsic(
        b, loc, "llvm.amdgcn.wmma.i32" + shape + "iu8", sums.getType(),
        {flag(type.isSignedInteger()), lhs,
         flag(op.getRhsType().isSignedInteger()), rhs, sums, flag(false)});
  } else {
    std::string operands = nameOf(type).str();
    if (isa<Float8E4M3FNType, Float8E5M2Type>(type)) {
      operands += "." + nameOf(op.getRhsType()).str();
    }
    result = callIntrinsic(b, loc, "llvm.amdgcn.wmma.f32" + shape + operands,
                           sums.getType(), {lhs, rhs, sums});
  }
  keepInPlace(b, op, result);
  replaceByElements(b, op, result);
}

bool expandMatrix(Operation *op) {
  if (auto product = dyn_cast<MfmaOp>(op)) {
    expandMfma(product);
    return true;
  }
  if (auto product = dyn_cast<WmmaOp>(op)) {
    expandWmma(product);
    return true;
  }
  return false;
}

} // namespace nereid::amd
