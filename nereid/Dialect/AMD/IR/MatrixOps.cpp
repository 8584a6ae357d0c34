//===- MatrixOps.cpp - Matrix products ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/IR/AMD.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace nereid::amd {

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static bool isInteger8(Type type) {
  return type.isSignedInteger(8) || type.isUnsignedInteger(8);
}

static Type sumTypeOf(Type element) {
  MLIRContext *context = element.getContext();
  return element.isF64()       ? Type(Float64Type::get(context))
         : isInteger8(element) ? Type(IntegerType::get(context, 32))
                               : Type(Float32Type::get(context));
}

/// A type of operands, its word, and how many elements that has.
static Type wordTypeOf(Type element) {
  MLIRContext *context = element.getContext();
  return element.isF64() ? Type(Float64Type::get(context))
         : element.isF32() || isa<FloatTF32Type>(element)
             ? Type(Float32Type::get(context))
             : Type(IntegerType::get(context, 32));
}

static unsigned perWord(Type element) {
  bool isWide = !wordTypeOf(element).isInteger(32);
  return isWide ? 1 : 32 / element.getIntOrFloatBitWidth();
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

/// `lanes` of a wave; each element of an operand is `copies` times there.
template <typename Op>
static LogicalResult verifyMatrix(Op op, unsigned lanes, unsigned copies) {
  Type lhs = op.getLhsType(), rhs = op.getRhsType();
  bool goTogether = lhs == rhs || (isFloat8(lhs) && isFloat8(rhs)) ||
                    (isInteger8(lhs) && isInteger8(rhs));
  if (!goTogether) {
    return op.emitOpError("expects operands that go together, got ")
           << lhs << " times " << rhs;
  }
  unsigned words = op.getSize() * op.getDepth() * copies / lanes / perWord(lhs);
  if (failed(verifyList(op, "words of A", op.getLhs().getTypes(), words,
                        wordTypeOf(lhs))) ||
      failed(verifyList(op, "words of B", op.getRhs().getTypes(), words,
                        wordTypeOf(rhs)))) {
    return failure();
  }
  return verifyList(op, "sums", op.getSums().getTypes(),
                    op.getSize() * op.getSize() / lanes, sumTypeOf(lhs));
}

namespace {
/// Elements along K of one instruction of 16 rows; one of 32 has half.
struct Depths {
  bool (*has)(Type);
  std::initializer_list<unsigned> of16;
};
} // namespace

LogicalResult MfmaOp::verify() {
  static const Depths all[] = {
      {[](Type t) { return t.isF16() || t.isBF16(); }, {16, 32}},
      {[](Type t) { return t.isF32() || t.isF64(); }, {4}},
      {[](Type t) { return isa<FloatTF32Type>(t); }, {8}},
      {[](Type t) { return t.isSignedInteger(8); }, {16, 32, 64}},
      {isFloat8, {32, 128}}};
  unsigned size = getSize();
  if ((size != 16 && size != 32) || (size == 32 && getLhsType().isF64())) {
    return emitOpError("expects a size of 16, or of 32 but for f64, got ")
           << size;
  }
  const Depths *found = llvm::find_if(
      all, [&](const Depths &one) { return one.has(getLhsType()); });
  if (found == std::end(all)) {
    return emitOpError("expects operands of f16, bf16, f32, tf32, f64, si8, "
                       "f8E4M3FN or f8E5M2, got ")
           << getLhsType();
  }
  if (!llvm::is_contained(found->of16, getDepth() * size / 16)) {
    return emitOpError("of ") << size << " x " << size << " of " << getLhsType()
                              << " has no depth of " << getDepth();
  }
  constexpr unsigned lanes = 64;
  return verifyMatrix(*this, lanes, /*copies=*/1);
}

LogicalResult WmmaOp::verify() {
  if (getSize() != 16 || getDepth() != 16) {
    return emitOpError("expects a size of 16 and a depth of 16, got ")
           << getSize() << " and " << getDepth();
  }
  Type type = getLhsType();
  if (!type.isF16() && !type.isBF16() && !isInteger8(type) && !isFloat8(type)) {
    return emitOpError("expects operands of f16, bf16, si8, ui8, f8E4M3FN or "
                       "f8E5M2, got ")
           << type;
  }
  // Copies are those of gfx11, and tell the generations apart.
  constexpr unsigned lanes = 32;
  unsigned words = 16 * 16 / lanes / perWord(type);
  bool isCopied = getLhs().size() == 2 * words && !isFloat8(type);
  return verifyMatrix(*this, lanes, isCopied ? 2 : 1);
}

static LogicalResult inferSums(ValueRange sums,
                               SmallVectorImpl<Type> &results) {
  results.append(sums.getTypes().begin(), sums.getTypes().end());
  return success();
}

LogicalResult MfmaOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  return inferSums(adaptor.getSums(), results);
}

LogicalResult WmmaOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  return inferSums(adaptor.getSums(), results);
}

} // namespace nereid::amd
