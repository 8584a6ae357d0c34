//===- EmitShape.cpp - Creation and shapes ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// arange, full, and everything that moves elements without changing them.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include <numeric>

namespace nereid::irgen {

namespace {

using Shape = llvm::SmallVector<int64_t>;

/// Of a shape that has passed checkShape.
int64_t product(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

FailureOr<Value> emitArange(CallContext &ctx, const BoundArguments &args) {
  Int start = args["start"].integer(), end = args["end"].integer();
  for (const char *name : {"start", "end"}) {
    Int value = args[name].integer();
    if (value < minValue(DType::Int32) || value > maxValue(DType::Int32)) {
      return argumentError(ctx, args, name, "a number that fits int32",
                           toString(value));
    }
  }
  if (end <= start) {
    return argumentError(ctx, args, "end",
                         "a number above start (" + toString(start) + ")",
                         toString(end));
  }
  Shape shape = {static_cast<int64_t>(end - start)};
  if (failed(ctx.emitter.checkShape(shape))) {
    return failure();
  }
  mlir::Type type = ctx.emitter.typeOf(DType::Int32, shape);
  return Value(Tensor{
      ctx.emitter.create<tile::RangeOp>(type, static_cast<uint32_t>(start),
                                        static_cast<uint32_t>(end)),
      DType::Int32});
}

FailureOr<Value> emitFull(CallContext &ctx, const BoundArguments &args) {
  Shape shape = args.ints("shape");
  if (failed(ctx.emitter.checkShape(shape))) {
    return failure();
  }
  ScalarType type = args.dtype("dtype");
  const Value &value = args["value"];
  if (value.isNumber() && type.isInteger() && !type.isBool()) {
    // A narrow type keeps the low bits of an integer.
    bool isWhole = value.isIntegral() || value.number() == 0;
    bool fits = !value.isIntegral() ||
                (type.isUnsignedInt() ? value.integer() >= 0
                                      : value.integer() <= INT64_MAX);
    if (!isWhole || !fits) {
      return argumentError(
          ctx, args, "value", "a number for " + type.str(), value.repr(),
          isWhole ? "" : "write the integer, or another dtype");
    }
  }
  if (value.isNumber() && !type.isPointer) {
    return Value(ctx.emitter.numberAs(value, type, shape));
  }
  FailureOr<Tensor> x = tensorArgument(ctx, args, "value");
  if (failed(x)) {
    return failure();
  }
  if (x->numElements() != 1) {
    return argumentError(ctx, args, "value", "a scalar", x->typeStr(),
                         "use tl.broadcast_to to spread a block");
  }
  FailureOr<Tensor> cast = ctx.emitter.cast(ctx.emitter.toScalar(*x), type);
  if (failed(cast)) {
    return failure();
  }
  return Value(shape.empty() ? *cast : ctx.emitter.splat(*cast, shape));
}

FailureOr<Value> emitItem(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("input");
  if (x.numElements() != 1) {
    return argumentError(ctx, args, "input", "one element", x.typeStr(),
                         "reduce the block first, for example with tl.sum");
  }
  return Value(ctx.emitter.toScalar(x));
}

FailureOr<Value> emitBroadcast(CallContext &ctx, const BoundArguments &args) {
  Tensor a = args.tensor("input"), b = args.tensor("other");
  if (failed(ctx.emitter.broadcast(a, b, ctx.name()))) {
    return failure();
  }
  return Value::tuple({a, b});
}

FailureOr<Value> emitBroadcastTo(CallContext &ctx, const BoundArguments &args) {
  Shape shape = args.ints("shape");
  const Tensor &x = args.tensor("input");
  if (failed(ctx.emitter.checkShape(shape))) {
    return failure();
  }
  if (x.isBlock() && x.rank() != static_cast<int64_t>(shape.size())) {
    return argumentError(
        ctx, args, "shape",
        llvm::Twine(x.rank()) + " dimensions, as " + x.typeStr() + " has",
        shapeStr(shape), "add axes first: x[:, None] or tl.expand_dims");
  }
  FailureOr<Tensor> result = spreadArgument(ctx, args, "input", x, shape);
  if (failed(result)) {
    return failure();
  }
  return Value(*result);
}

FailureOr<Value> emitExpandDims(CallContext &ctx, const BoundArguments &args) {
  Tensor x = args.tensor("input");
  Shape axes = args.ints("axis");
  int64_t rank = x.rank() + static_cast<int64_t>(axes.size());
  for (int64_t &axis : axes) {
    if (axis < -rank || axis >= rank) {
      return argumentError(ctx, args, "axis",
                           "axes of the result, from " + llvm::Twine(-rank) +
                               " to " + llvm::Twine(rank - 1),
                           llvm::Twine(axis));
    }
    axis += axis < 0 ? rank : 0;
  }
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return argumentError(ctx, args, "axis", "different axes",
                         shapeStr(args.ints("axis")));
  }
  for (int64_t axis : axes) {
    x = ctx.emitter.expandDims(x, axis);
  }
  return Value(x);
}

/// Row-major; to no dimensions at all: the one element.
FailureOr<Tensor> reshapeTo(CallContext &ctx, Tensor x,
                            llvm::ArrayRef<int64_t> shape, bool reorder) {
  Emitter &e = ctx.emitter;
  if (llvm::is_contained(shape, -1)) {
    return callError(ctx,
                     "expected extents of 1 or more, got " + shapeStr(shape),
                     "write the extent out: -1 is not worked out from the "
                     "others");
  }
  if (failed(e.checkShape(shape))) {
    return failure();
  }
  if (product(shape) != x.numElements()) {
    return callError(ctx, "cannot reshape " + x.typeStr() + " (" +
                              llvm::Twine(x.numElements()) + " elements) to " +
                              shapeStr(shape) + " (" +
                              llvm::Twine(product(shape)) +
                              " elements); expected a shape of as many");
  }
  if (x.shape() == shape) {
    return x;
  }
  if (shape.empty()) {
    return e.toScalar(x);
  }
  if (!x.isBlock()) {
    return e.splat(x, shape);
  }
  return Tensor{
      e.create<tile::ReshapeOp>(e.typeOf(x.type, shape), x.value, reorder),
      x.type};
}

FailureOr<Value> reshapeResult(CallContext &ctx, Tensor x,
                               llvm::ArrayRef<int64_t> shape, bool reorder) {
  FailureOr<Tensor> result = reshapeTo(ctx, x, shape, reorder);
  if (failed(result)) {
    return failure();
  }
  return Value(*result);
}

FailureOr<Value> emitReshape(CallContext &ctx, const BoundArguments &args) {
  return reshapeResult(ctx, args.tensor("input"), args.ints("shape"),
                       args.boolean("can_reorder"));
}

FailureOr<Value> emitView(CallContext &ctx, const BoundArguments &args) {
  return reshapeResult(ctx, args.tensor("input"), args.ints("shape"), true);
}

FailureOr<Value> emitRavel(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("x");
  return reshapeResult(ctx, x, {x.numElements()}, args.boolean("can_reorder"));
}

FailureOr<Value> emitSqueeze(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("x");
  FailureOr<int64_t> dim = axisArgument(ctx, args, "dim", x.rank());
  if (failed(dim)) {
    return failure();
  }
  Shape shape(x.shape());
  if (shape[*dim] != 1) {
    return argumentError(ctx, args, "dim",
                         "an axis of size 1 of " + x.typeStr(),
                         llvm::Twine(*dim));
  }
  shape.erase(shape.begin() + *dim);
  return reshapeResult(ctx, x, shape, false);
}

FailureOr<Value> emitUnsqueeze(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("x");
  FailureOr<int64_t> dim = axisArgument(ctx, args, "dim", x.rank() + 1);
  if (failed(dim)) {
    return failure();
  }
  return Value(ctx.emitter.expandDims(x, *dim));
}

Tensor permuted(Emitter &e, Tensor x, llvm::ArrayRef<int32_t> order) {
  Shape shape;
  for (int32_t from : order) {
    shape.push_back(x.shape()[from]);
  }
  return {e.create<tile::TransposeOp>(e.typeOf(x.type, shape), x.value, order),
          x.type};
}

FailureOr<Value> emitPermute(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("input");
  Shape dims = args.ints("dims");
  int64_t rank = x.rank();
  if (dims.empty() && ctx.builtin.name == "trans") {
    if (rank < 2) {
      return argumentError(ctx, args, "input", "a block of rank 2 or more",
                           x.typeStr());
    }
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[rank - 1], dims[rank - 2]);
  }
  llvm::SmallVector<int32_t> order;
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t dim : dims) {
    int64_t axis = dim < 0 ? dim + rank : dim;
    if (axis < 0 || axis >= rank || seen[axis]) {
      break;
    }
    seen[axis] = true;
    order.push_back(static_cast<int32_t>(axis));
  }
  if (order.size() != dims.size() ||
      static_cast<int64_t>(dims.size()) != rank) {
    return argumentError(ctx, args, "dims",
                         "a permutation of the " + llvm::Twine(rank) +
                             " axes of " + x.typeStr(),
                         shapeStr(dims));
  }
  return Value(rank == 0 ? x : permuted(ctx.emitter, x, order));
}

/// Integers of one width that differ in signedness lie side by side: b's bits
/// are read as a's type.
void reinterpretAs(const Tensor &a, Tensor &b) {
  if (a.type.isInteger() && b.type.isInteger() &&
      a.type.bits() == b.type.bits()) {
    b.type = a.type;
  }
}

/// `a` and `b` in one shape; their types must agree already.
LogicalResult matchOperands(CallContext &ctx, Tensor &a, Tensor &b) {
  reinterpretAs(a, b);
  if (!(a.type == b.type)) {
    return callError(ctx,
                     "expected two operands of one type, got " + a.typeStr() +
                         " and " + b.typeStr(),
                     "convert one of them with .to(...)");
  }
  return ctx.emitter.broadcast(a, b, ctx.name());
}

Tensor joined(Emitter &e, Tensor a, Tensor b) {
  Shape shape(a.shape());
  shape.push_back(2);
  return {e.create<tile::JoinOp>(e.typeOf(a.type, shape), a.value, b.value),
          a.type};
}

FailureOr<Value> emitJoin(CallContext &ctx, const BoundArguments &args) {
  Tensor a = args.tensor("a"), b = args.tensor("b");
  if (failed(matchOperands(ctx, a, b))) {
    return failure();
  }
  return Value(joined(ctx.emitter, a, b));
}

FailureOr<Value> emitInterleave(CallContext &ctx, const BoundArguments &args) {
  Tensor a = args.tensor("a"), b = args.tensor("b");
  if (failed(matchOperands(ctx, a, b))) {
    return failure();
  }
  Tensor pairs = joined(ctx.emitter, a, b);
  if (pairs.rank() == 1) {
    return Value(pairs);
  }
  Shape shape(pairs.shape().drop_back());
  shape.back() *= 2;
  return reshapeResult(ctx, pairs, shape, false);
}

FailureOr<Value> emitSplit(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("a");
  if (!x.isBlock() || x.shape().back() != 2) {
    return argumentError(ctx, args, "a", "a block whose last axis has size 2",
                         x.typeStr());
  }
  mlir::Type half = ctx.emitter.typeOf(x.type, x.shape().drop_back());
  auto split = ctx.emitter.create<tile::SplitOp>(half, half, x.value);
  return Value::tuple(
      {Tensor{split.getLhs(), x.type}, Tensor{split.getRhs(), x.type}});
}

FailureOr<Value> emitCat(CallContext &ctx, const BoundArguments &args) {
  Tensor a = args.tensor("input"), b = args.tensor("other");
  reinterpretAs(a, b);
  if (failed(requireBlock(ctx, args, "input", a)) ||
      failed(requireBlock(ctx, args, "other", b))) {
    return failure();
  }
  FailureOr<int64_t> dim = axisArgument(ctx, args, "dim", a.rank());
  if (failed(dim)) {
    return failure();
  }
  Shape shape(a.shape()), other(b.shape());
  bool fits = a.type == b.type && shape.size() == other.size();
  if (fits) {
    shape[*dim] = other[*dim];
    fits = shape == other;
  }
  if (!fits) {
    return callError(ctx, "expected one type and shapes that differ only in "
                          "axis " +
                              llvm::Twine(*dim) + ", got " + a.typeStr() +
                              " and " + b.typeStr());
  }
  shape[*dim] = a.shape()[*dim] + b.shape()[*dim];
  if (failed(ctx.emitter.checkShape(shape))) {
    return failure();
  }
  return Value(Tensor{ctx.emitter.create<tile::CatOp>(
                          ctx.emitter.typeOf(a.type, shape), a.value, b.value,
                          static_cast<uint32_t>(*dim)),
                      a.type});
}

FailureOr<Value> emitExtractSlice(CallContext &ctx,
                                  const BoundArguments &args) {
  const Tensor &x = args.tensor("ful");
  Shape offsets = args.ints("offsets"), sizes = args.ints("sizes");
  Shape strides = args.ints("strides");
  if (failed(requireBlock(ctx, args, "ful", x))) {
    return failure();
  }
  if (strides.empty()) {
    strides.assign(x.rank(), 1);
  }
  for (auto [name, list] : {std::pair("offsets", &offsets),
                            {"sizes", &sizes},
                            {"strides", &strides}}) {
    if (static_cast<int64_t>(list->size()) != x.rank()) {
      return argumentError(ctx, args, name,
                           "one number for each of the " +
                               llvm::Twine(x.rank()) + " axes of " +
                               x.typeStr(),
                           shapeStr(*list));
    }
  }
  llvm::SmallVector<int32_t> first, step;
  for (auto [axis, extent] : llvm::enumerate(x.shape())) {
    // Compared without a product, which may not be a number of 64 bits.
    int64_t room = extent - 1 - offsets[axis];
    if (sizes[axis] < 1) {
      return argumentError(ctx, args, "sizes", "sizes of 1 or more",
                           shapeStr(sizes));
    }
    if (strides[axis] < 1) {
      return argumentError(ctx, args, "strides", "strides of 1 or more",
                           shapeStr(strides));
    }
    if (offsets[axis] < 0 || offsets[axis] >= extent ||
        sizes[axis] - 1 > room / strides[axis]) {
      return callError(ctx,
                       "expected a part of axis " + llvm::Twine(axis) + " of " +
                           x.typeStr() + ", got " + llvm::Twine(sizes[axis]) +
                           " from " + llvm::Twine(offsets[axis]) +
                           " on by steps of " + llvm::Twine(strides[axis]));
    }
    first.push_back(static_cast<int32_t>(offsets[axis]));
    step.push_back(sizes[axis] == 1 ? 1 : static_cast<int32_t>(strides[axis]));
  }
  return Value(
      Tensor{ctx.emitter.create<tile::SliceOp>(
                 ctx.emitter.typeOf(x.type, sizes), x.value, first, step),
             x.type});
}

FailureOr<Value> emitGather(CallContext &ctx, const BoundArguments &args) {
  const Tensor &src = args.tensor("src");
  Tensor index = args.tensor("index");
  if (failed(requireBlock(ctx, args, "src", src)) ||
      failed(requireBlock(ctx, args, "index", index))) {
    return failure();
  }
  if (!index.type.isInteger()) {
    return argumentError(ctx, args, "index", "integers", index.typeStr());
  }
  FailureOr<int64_t> axis = axisArgument(ctx, args, "axis", src.rank());
  if (failed(axis)) {
    return failure();
  }
  Shape expected(src.shape());
  if (src.rank() == index.rank()) {
    expected[*axis] = index.shape()[*axis];
  }
  if (index.shape() != llvm::ArrayRef<int64_t>(expected)) {
    return argumentError(ctx, args, "index",
                         "the shape of src (" + shapeStr(src.shape()) +
                             ") except in axis " + llvm::Twine(*axis),
                         shapeStr(index.shape()));
  }
  if (index.type.bits() < 32) { // an index is read as signed
    FailureOr<Tensor> wide = ctx.emitter.cast(index, DType::Int32);
    if (failed(wide)) {
      return failure();
    }
    index = *wide;
  }
  return Value(Tensor{ctx.emitter.create<tile::GatherOp>(
                          ctx.emitter.typeOf(src.type, index.shape()),
                          src.value, index.value, static_cast<uint32_t>(*axis)),
                      src.type});
}

} // namespace

void registerShapeBuiltins(BuiltinTable &table) {
  table.add({"tl", "arange(start: int, end: int)", emitArange,
             "start, start + 1, ..., end - 1 as int32; any length from 1 on."});
  table.add({"tl", "full(shape: ints, value, dtype: dtype)", emitFull,
             "A block with one value in every element."});
  table.add({"tl", "item(input: tensor)", emitItem,
             "The one element of a block, as a scalar.", Member});
  table.add({"tl", "broadcast(input: tensor, other: tensor)", emitBroadcast,
             "Both operands in their common shape."});
  table.add({"tl", "broadcast_to(input: tensor, *shape: ints)", emitBroadcastTo,
             "Axes of size 1 repeated to give `shape`.", Member});
  table.add({"tl", "expand_dims(input: tensor, axis: ints)", emitExpandDims,
             "New axes of size 1 at these positions of the result.", Member});
  table.add(
      {"tl", "reshape(input: tensor, *shape: ints, can_reorder: bool=False)",
       emitReshape, "The same elements, row-major, in another shape.", Member});
  table.add({"tl", "view(input: tensor, *shape: ints)", emitView,
             "reshape that may reorder.", Member});
  table.add({"tl", "ravel(x: tensor, can_reorder: bool=False)", emitRavel,
             "All elements in one dimension.", Member});
  table.add({"tl", "squeeze(x: tensor, dim: int)", emitSqueeze,
             "An axis of size 1 removed."});
  table.add({"tl", "unsqueeze(x: tensor, dim: int)", emitUnsqueeze,
             "An axis of size 1 added."});
  table.add({"tl", "trans(input: tensor, *dims: ints)", emitPermute,
             "Axes permuted; without dims the last two swapped.", Member});
  table.add({"tl", "permute(input: tensor, *dims: ints)", emitPermute,
             "Axes permuted: axis d of the result is dims[d].", Member});
  table.add({"tl", "join(a: tensor, b: tensor)", emitJoin,
             "Two blocks side by side in a new last axis of size 2."});
  table.add({"tl", "split(a: tensor)", emitSplit,
             "The inverse of join: two blocks.", Member});
  table.add({"tl", "interleave(a: tensor, b: tensor)", emitInterleave,
             "Elements of a and b in turn along the last axis."});
  table.add({"tl",
             "cat(input: tensor, other: tensor, can_reorder: bool=False, "
             "dim: int=0)",
             emitCat, "Two blocks one after the other along dim."});
  table.add({"tl",
             "extract_slice(ful: tensor, offsets: ints, sizes: ints, "
             "strides: ints=())",
             emitExtractSlice,
             "A part of a block: along each axis `sizes` elements from "
             "`offsets` on, every `strides`-th.",
             Member});
  table.add({"tl", "gather(src: tensor, index: tensor, axis: int)", emitGather,
             "Elements of a block picked along one axis.", Member});
}

} // namespace nereid::irgen
