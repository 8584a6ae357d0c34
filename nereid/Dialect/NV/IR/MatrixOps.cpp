//===- MatrixOps.cpp - Matrices in registers and products -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/IR/NV.h"

using namespace mlir;

namespace nereid::nv {

StringRef elementName(Type type) {
  if (type.isF16()) {
    return "f16";
  }
  if (type.isBF16()) {
    return "bf16";
  }
  if (isa<FloatTF32Type>(type)) {
    return "tf32";
  }
  if (type.isF64()) {
    return "f64";
  }
  if (isa<Float8E4M3FNType>(type)) {
    return "e4m3";
  }
  if (isa<Float8E5M2Type>(type)) {
    return "e5m2";
  }
  return type.isSignedInteger(8) ? "s8" : type.isUnsignedInteger(8) ? "u8" : "";
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static bool isInteger8(Type type) {
  return type.isSignedInteger(8) || type.isUnsignedInteger(8);
}

/// Both operands of one type, or both 8-bit floats, or both 8-bit integers.
static LogicalResult verifyOperandTypes(Operation *op, Type lhs, Type rhs) {
  for (Type type : {lhs, rhs}) {
    if (elementName(type).empty()) {
      return op->emitOpError("expects operands of f16, bf16, tf32, f64, "
                             "f8E4M3FN, f8E5M2, si8 or ui8, got ")
             << type;
    }
  }
  bool goTogether = lhs == rhs || (isFloat8(lhs) && isFloat8(rhs)) ||
                    (isInteger8(lhs) && isInteger8(rhs));
  if (!goTogether) {
    return op->emitOpError("expects operands that go together, got ")
           << lhs << " times " << rhs;
  }
  return success();
}

static Type sumTypeOf(Type element) {
  MLIRContext *context = element.getContext();
  return element.isF64()       ? Type(Float64Type::get(context))
         : isInteger8(element) ? Type(IntegerType::get(context, 32))
                               : Type(Float32Type::get(context));
}

static LogicalResult verifyList(Operation *op, const char *what,
                                TypeRange types, size_t count, Type type) {
  if (types.size() != count ||
      llvm::any_of(types, [&](Type t) { return t != type; })) {
    return op->emitOpError() << "expects " << count << " " << what << " of "
                             << type << ", got " << types;
  }
  return success();
}

LogicalResult LoadMatrixOp::verify() {
  size_t count = getWords().size();
  if (count != 1 && count != 2 && count != 4) {
    return emitOpError("expects 1, 2 or 4 matrices, got ") << count;
  }
  return success();
}

LogicalResult StoreMatrixOp::verify() {
  size_t count = getWords().size();
  if (count != 1 && count != 2 && count != 4) {
    return emitOpError("expects 1, 2 or 4 matrices, got ") << count;
  }
  return success();
}

LogicalResult MmaOp::verify() {
  Type lhs = getLhsType(), rhs = getRhsType();
  if (failed(verifyOperandTypes(*this, lhs, rhs))) {
    return failure();
  }
  Type word = lhs.isF64() ? lhs : Type(IntegerType::get(getContext(), 32));
  bool isOfEightRows = lhs.isF64() && getLhs().size() == 1;
  return success(
      succeeded(verifyList(*this, "words of the left operand",
                           getLhs().getTypes(), isOfEightRows ? 1 : 4, word)) &&
      succeeded(verifyList(*this, "words of the right operand",
                           getRhs().getTypes(), isOfEightRows ? 1 : 2, word)) &&
      succeeded(verifyList(*this, "sums", getSums().getTypes(),
                           isOfEightRows ? 2 : 4, sumTypeOf(lhs))));
}

LogicalResult MmaOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getSums().getTypes());
  return success();
}

LogicalResult WarpgroupMmaOp::verify() {
  Type lhs = getLhsType(), rhs = getRhsType();
  if (failed(verifyOperandTypes(*this, lhs, rhs))) {
    return failure();
  }
  if (lhs.isF64()) {
    return emitOpError("expects operands of at most 32 bits, got ") << lhs;
  }
  unsigned columns = getColumns();
  if (columns % 8 || columns < 8 || columns > 256) {
    return emitOpError("expects 8 to 256 columns, a multiple of 8, got ")
           << columns;
  }
  // Of 8-bit integers only these have an instruction.
  if (isInteger8(lhs) && columns > 32 && columns % 16) {
    return emitOpError("expects up to 32 columns of integers, or a multiple of "
                       "16, got ")
           << columns;
  }
  size_t sums = getSums().size();
  if (!sums || sums % (columns / 2)) {
    return emitOpError() << "expects a multiple of " << columns / 2
                         << " sums, got " << sums;
  }
  if (failed(verifyList(*this, "sums", getSums().getTypes(), sums,
                        sumTypeOf(lhs)))) {
    return failure();
  }
  size_t count = getBlocks() * getSteps();
  if (!count || getRightOffsets().size() != count) {
    return emitOpError() << "expects " << count << " right offsets, got "
                         << getRightOffsets().size();
  }
  if (getLeft().empty()) {
    return emitOpError("expects a left operand");
  }
  if (readsLeftFromRegisters()) {
    if (getLeftWords().size() != 4 * count || !getLeftOffsets().empty()) {
      return emitOpError() << "expects " << 4 * count
                           << " numbers of left words and no left offsets, got "
                           << getLeftWords().size() << " and "
                           << getLeftOffsets().size();
    }
    for (int32_t number : getLeftWords()) {
      if (number < 0 || static_cast<size_t>(number) >= getLeft().size()) {
        return emitOpError() << "expects numbers of " << getLeft().size()
                             << " left words, got " << number;
      }
    }
  } else if (getLeft().size() != 1 || !getLeftWords().empty() ||
             getLeftOffsets().size() != count) {
    return emitOpError() << "expects one descriptor and " << count
                         << " left offsets, got " << getLeft().size() << " and "
                         << getLeftOffsets().size();
  }
  bool isHalf = lhs.isF16() || lhs.isBF16();
  if ((getLeftAlongM() || getRightAlongN()) && !isHalf) {
    return emitOpError("expects rows along K of operands that are not of 16 "
                       "bits, got ")
           << lhs;
  }
  if (getLeftAlongM() && readsLeftFromRegisters()) {
    return emitOpError("expects no rows along M of an operand in registers");
  }
  if (getLooped() && (getWaits() || readsLeftFromRegisters() || !isEven())) {
    return emitOpError("expects descriptors that advance by the same each "
                       "step, and no wait, where it is looped");
  }
  return success();
}

bool WarpgroupMmaOp::isEven() {
  unsigned steps = getSteps();
  auto advancesEvenly = [&](ArrayRef<int32_t> offsets) {
    for (unsigned at = 0; at < offsets.size(); ++at) {
      unsigned step = at % steps;
      if (step && offsets[at] - offsets[at - 1] != offsets[1] - offsets[0]) {
        return false;
      }
    }
    return true;
  };
  return steps > 1 && !readsLeftFromRegisters() &&
         advancesEvenly(getLeftOffsets()) && advancesEvenly(getRightOffsets());
}

LogicalResult WarpgroupMmaOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getSums().getTypes());
  return success();
}

LogicalResult WarpgroupWaitOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getSums().getTypes());
  return success();
}

} // namespace nereid::nv
