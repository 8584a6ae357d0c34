//===- EmitDot.cpp - Matrix products ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

namespace {

using Shape = llvm::SmallVector<int64_t>;

/// Brings operand types together that may meet in a product: floats of
/// different types in a float type that holds the values of both. 8-bit floats
/// stay what they are.
LogicalResult matchOperandTypes(CallContext &ctx, const BoundArguments &args,
                                Tensor &a, Tensor &b) {
  for (const char *name : {"input", "other"}) {
    const Tensor &x = args.tensor(name);
    bool isGood = x.type.isFloat() || x.type == ScalarType(DType::Int8) ||
                  x.type == ScalarType(DType::UInt8);
    if (!isGood) {
      return argumentError(
          ctx, args, name, "a block of int8, uint8 or a float type",
          x.typeStr(),
          x.type.isInteger() ? "convert it: .to(tl.int8) or .to(tl.float32)"
                             : "");
    }
  }
  if (a.type == b.type || (a.type.isFp8() && b.type.isFp8())) {
    return success();
  }
  if (!a.type.isFloat() || !b.type.isFloat()) {
    return callError(ctx,
                     "expected two operands of one type, or two of float "
                     "types, got " +
                         a.typeStr() + " and " + b.typeStr(),
                     "convert one of them, for example b.to(a.dtype)");
  }
  auto either = [&](DType dtype) {
    return a.type.dtype == dtype || b.type.dtype == dtype;
  };
  DType common = either(DType::Float64)                      ? DType::Float64
                 : a.type.isFp8() && !either(DType::Float32) ? b.type.dtype
                 : b.type.isFp8() && !either(DType::Float32) ? a.type.dtype
                                                             : DType::Float32;
  for (Tensor *x : {&a, &b}) {
    FailureOr<Tensor> wide = ctx.emitter.cast(*x, common);
    if (failed(wide)) {
      return failure();
    }
    *x = *wide;
  }
  return success();
}

LogicalResult checkOperandShapes(CallContext &ctx, const Tensor &a,
                                 const Tensor &b) {
  llvm::ArrayRef<int64_t> lhs = a.shape(), rhs = b.shape();
  if (lhs.size() < 2 || lhs.size() != rhs.size()) {
    return callError(ctx, "expected two blocks of one rank, 2 or more, got " +
                              a.typeStr() + " and " + b.typeStr());
  }
  if (lhs.drop_back(2) != rhs.drop_back(2)) {
    return callError(ctx, "expected equal leading (batch) dimensions, got " +
                              shapeStr(lhs) + " and " + shapeStr(rhs));
  }
  if (lhs.back() != rhs[rhs.size() - 2]) {
    std::string hint;
    if (lhs.back() == rhs.back()) {
      hint = "transpose the second operand: tl.dot(a, tl.trans(b))";
    } else if (lhs[lhs.size() - 2] == rhs[rhs.size() - 2]) {
      hint = "transpose the first operand: tl.dot(tl.trans(a), b)";
    }
    return callError(ctx,
                     "the inner dimensions differ: " + shapeStr(lhs) + " has " +
                         llvm::Twine(lhs.back()) + " columns, " +
                         shapeStr(rhs) + " has " +
                         llvm::Twine(rhs[rhs.size() - 2]) + " rows",
                     hint);
  }
  return success();
}

FailureOr<tile::InputPrecision> precisionArgument(CallContext &ctx,
                                                  const BoundArguments &args) {
  using P = tile::InputPrecision;
  if (args.isNone("input_precision")) {
    bool isIeee = !args.isNone("allow_tf32") && !truth(args["allow_tf32"]);
    return isIeee ? P::IEEE : P::TF32;
  }
  if (!args.isNone("allow_tf32")) {
    return argumentError(ctx, args, "allow_tf32",
                         "nothing beside input_precision",
                         args["allow_tf32"].repr(),
                         "allow_tf32=False is input_precision='ieee'");
  }
  static constexpr P values[] = {P::TF32, P::TF32x3, P::IEEE, P::BF16x3,
                                 P::BF16x6};
  FailureOr<size_t> i =
      choiceArgument(ctx, args, "input_precision",
                     {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"});
  if (failed(i)) {
    return failure();
  }
  return values[*i];
}

/// The type of accumulator and result. Only products of 16- and 8-bit floats
/// leave a choice; for others out_dtype says nothing, whatever it is.
FailureOr<ScalarType> accumulatorType(CallContext &ctx,
                                      const BoundArguments &args,
                                      ScalarType operand,
                                      std::optional<Tensor> acc) {
  if (operand.isInteger()) {
    return ScalarType(DType::Int32);
  }
  ScalarType asked = !args.isNone("out_dtype") ? args.dtype("out_dtype")
                     : acc                     ? acc->type
                                               : ScalarType(DType::Float32);
  bool mayBeHalf = operand == ScalarType(DType::Float16) || operand.isFp8();
  if (!mayBeHalf && !(asked == ScalarType(DType::BFloat16))) {
    return operand == ScalarType(DType::Float64) ? operand
                                                 : ScalarType(DType::Float32);
  }
  if (asked == ScalarType(DType::Float32) ||
      (mayBeHalf && asked == ScalarType(DType::Float16))) {
    return asked;
  }
  return callError(ctx,
                   operand.str() + " operands are accumulated in float32" +
                       (mayBeHalf ? " or float16" : "") + ", got " +
                       asked.str(),
                   "accumulate in float32 and convert the result with "
                   ".to(" +
                       std::string("tl.") + asked.str() + ")");
}

Tensor flattenBatch(Emitter &e, Tensor x, llvm::ArrayRef<int64_t> shape) {
  if (x.shape() == shape) {
    return x;
  }
  return {e.create<tile::ReshapeOp>(e.typeOf(x.type, shape), x.value, false),
          x.type};
}

/// The last two dimensions exchanged, for the older `trans_a`, `trans_b`.
Tensor transposeLast(Emitter &e, Tensor x) {
  if (x.rank() < 2) {
    return x;
  }
  Shape shape(x.shape());
  llvm::SmallVector<int32_t> order;
  for (int32_t i = 0; i < x.rank(); ++i) {
    order.push_back(i);
  }
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return {e.create<tile::TransposeOp>(e.typeOf(x.type, shape), x.value, order),
          x.type};
}

FailureOr<Value> emitDot(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  Tensor a = args.tensor("input"), b = args.tensor("other");
  a = args.boolean("trans_a") ? transposeLast(e, a) : a;
  b = args.boolean("trans_b") ? transposeLast(e, b) : b;
  if (failed(checkOperandShapes(ctx, a, b)) ||
      failed(matchOperandTypes(ctx, args, a, b))) {
    return failure();
  }
  Shape shape(a.shape());
  shape.back() = b.shape().back();
  std::optional<Tensor> acc;
  if (!args.isNone("acc")) {
    const Value &given = args["acc"];
    if (!given.isTensor() ||
        given.tensor().shape() != llvm::ArrayRef<int64_t>(shape)) {
      return argumentError(ctx, args, "acc", "a block of " + shapeStr(shape),
                           given.describe());
    }
    acc = given.tensor();
  }
  FailureOr<tile::InputPrecision> precision = precisionArgument(ctx, args);
  FailureOr<ScalarType> type = accumulatorType(ctx, args, a.type, acc);
  if (failed(precision) || failed(type)) {
    return failure();
  }
  if (acc && !(acc->type == *type)) {
    return argumentError(ctx, args, "acc", type->str() + shapeStr(shape),
                         acc->typeStr(),
                         "products of " + a.type.str() +
                             " are accumulated in " + type->str() + " here");
  }
  if (*type == ScalarType(DType::Float16)) {
    ctx.diag.warning("tl.dot: the product is accumulated in float16, which "
                     "loses digits quickly as the inner dimension grows",
                     "accumulate in float32 (out_dtype=tl.float32) and convert "
                     "the result");
  }
  if (!acc) {
    if (failed(e.checkShape(shape))) {
      return failure();
    }
    acc = e.zero(*type, shape);
  }
  uint32_t imprecise =
      args.isNone("max_num_imprecise_acc")
          ? 0
          : static_cast<uint32_t>(args.integer("max_num_imprecise_acc"));
  if (a.type.isFp8() && imprecise > a.shape().back()) {
    return argumentError(ctx, args, "max_num_imprecise_acc",
                         "at most K (" + llvm::Twine(a.shape().back()) + ")",
                         llvm::Twine(imprecise));
  }
  // Batches of any rank as one dimension.
  Shape flat = shape, lhs(a.shape()), rhs(b.shape());
  auto flatten = [](Shape &s) {
    while (s.size() > 3) {
      s[1] *= s[0];
      s.erase(s.begin());
    }
  };
  flatten(flat);
  flatten(lhs);
  flatten(rhs);
  Tensor c = flattenBatch(e, *acc, flat);
  bool isInParts = imprecise > 0 && a.type.isFp8();
  Tensor from = isInParts ? e.zero(*type, flat) : c;
  Tensor product{e.create<tile::DotOp>(flattenBatch(e, a, lhs).value,
                                       flattenBatch(e, b, rhs).value,
                                       from.value, *precision, imprecise,
                                       a.type == ScalarType(DType::UInt8)),
                 *type};
  if (isInParts) {
    product.value = e.create<mlir::arith::AddFOp>(product.value, c.value);
  }
  return Value(flattenBatch(e, product, shape));
}

} // namespace

void registerDotBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "dot(input: tensor, other: tensor, acc=None, input_precision: "
             "str=None, allow_tf32: bool=None, max_num_imprecise_acc: "
             "int=None, out_dtype: dtype=None, *, trans_a: bool=False, "
             "trans_b: bool=False)",
             emitDot,
             "Matrix product of two blocks (batched from rank 3 on), added to "
             "acc."});
  registerDotScaledBuiltins(table);
}

} // namespace nereid::irgen
