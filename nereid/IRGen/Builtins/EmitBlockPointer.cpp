//===- EmitBlockPointer.cpp - Rectangles of an array in memory -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block pointer is an aggregate of scalars and static parts. Nothing is
// computed until it is loaded or stored through; then it becomes what a user
// would have written by hand:
//
//   pointers = base + sum_d offset_d stride_d      (one scalar)
//                   + sum_d range_d stride_d       (each along its own axis)
//   mask     = AND over checked d of  0 <= offset_d + range_d < shape_d
//
// A loop carries the aggregate's scalars; those that tl.advance does not touch
// are invariant and leave the loop again in canonicalisation.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMemory.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallSet.h"

#include <limits>

namespace nereid::irgen {

namespace {

/// `x` (of one dimension) as axis `axis` of a block of this shape.
Tensor alongAxis(Emitter &e, Tensor x, int64_t axis,
                 llvm::ArrayRef<int64_t> shape) {
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != axis) {
      x = e.expandDims(x, d);
    }
  }
  return *e.broadcastTo(x, shape);
}

Tensor times(Emitter &e, Tensor a, Tensor b) {
  return mlir::matchPattern(b.value, mlir::m_One()) ? a : e.mul(a, b);
}

Tensor compare(Emitter &e, mlir::arith::CmpIPredicate predicate, Tensor a,
               Tensor b) {
  return {e.create<mlir::arith::CmpIOp>(predicate, a.value, b.value),
          DType::Int1};
}

Tensor rangeOf(Emitter &e, int64_t extent) {
  Tensor range{e.create<tile::RangeOp>(e.typeOf(DType::Int32, {extent}), 0u,
                                       static_cast<uint32_t>(extent)),
               DType::Int32};
  return *e.cast(range, DType::Int64);
}

} // namespace

AccessOperands accessTile(Emitter &e, const MemoryTile &tile,
                          llvm::ArrayRef<int64_t> checked) {
  using mlir::arith::CmpIPredicate;
  llvm::ArrayRef<int64_t> shape = tile.blockShape;
  AccessOperands access;
  std::optional<Tensor> start, within;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    Tensor range = rangeOf(e, shape[d]);
    Tensor first = times(e, tile.offsets[d], tile.strides[d]);
    start = start ? e.add(*start, first) : first;
    Tensor stride = e.splat(tile.strides[d], {shape[d]});
    bool isUnit = mlir::matchPattern(tile.strides[d].value, mlir::m_One());
    Tensor steps =
        alongAxis(e, isUnit ? range : e.mul(range, stride), d, shape);
    within = within ? e.add(*within, steps) : steps;
    if (!llvm::is_contained(checked, d)) {
      continue;
    }
    Tensor index = e.add(range, e.splat(tile.offsets[d], {shape[d]}));
    Tensor low =
        compare(e, CmpIPredicate::sge, index, e.zero(DType::Int64, {shape[d]}));
    Tensor high = compare(e, CmpIPredicate::slt, index,
                          e.splat(tile.shape[d], {shape[d]}));
    Tensor inside{e.create<mlir::arith::AndIOp>(low.value, high.value),
                  DType::Int1};
    inside = alongAxis(e, inside, d, shape);
    access.mask = access.mask ? Tensor{e.create<mlir::arith::AndIOp>(
                                           access.mask->value, inside.value),
                                       DType::Int1}
                              : inside;
  }
  ScalarType type = tile.base.type;
  Tensor corner{e.create<tile::AddPtrOp>(tile.base.value, start->value), type};
  Tensor corners = e.splat(corner, shape);
  access.pointer = {e.create<tile::AddPtrOp>(corners.value, within->value),
                    type};
  return access;
}

Tensor nanPadding(Emitter &e, const AccessOperands &access) {
  return e.constant(access.pointer.type.pointee(),
                    std::numeric_limits<double>::quiet_NaN(),
                    access.pointer.shape());
}

FailureOr<llvm::SmallVector<Tensor>>
scalarsArgument(CallContext &ctx, const BoundArguments &args,
                llvm::StringRef parameter, DType type, int64_t count) {
  const Value &value = args[parameter];
  if (!value.isSequence()) {
    return argumentError(ctx, args, parameter, "a tuple or list of integers",
                         value.describe());
  }
  if (count >= 0 && static_cast<int64_t>(value.items().size()) != count) {
    return argumentError(ctx, args, parameter,
                         llvm::Twine(count) + " items, one for each dimension",
                         llvm::Twine(value.items().size()));
  }
  llvm::SmallVector<Tensor> result;
  for (const Value &item : value.items()) {
    bool isInteger =
        item.isIntegral() || (item.isTensor() && !item.tensor().isBlock() &&
                              item.tensor().type.isInteger());
    if (!isInteger) {
      return argumentError(ctx, args, parameter, "integer scalars",
                           item.describe());
    }
    FailureOr<Tensor> scalar =
        item.isTensor() ? ctx.emitter.cast(item.tensor(), type)
                        : FailureOr<Tensor>(ctx.emitter.numberAs(item, type));
    if (failed(scalar)) {
      return failure();
    }
    result.push_back(*scalar);
  }
  return result;
}

namespace {

std::shared_ptr<const AggregateType> blockPointerType() {
  static const auto type = [] {
    auto aggregate = std::make_shared<AggregateType>();
    aggregate->name = "block_ptr";
    aggregate->fields = {"base",        "shape", "strides", "offsets",
                         "block_shape", "order", "dtype",   "type"};
    aggregate->methods = "block_ptr";
    return aggregate;
  }();
  return type;
}

FailureOr<Value> emitMakeBlockPtr(CallContext &ctx,
                                  const BoundArguments &args) {
  const Tensor &base = args.tensor("base");
  if (failed(requirePointer(ctx, args, "base", base, false))) {
    return failure();
  }
  if (base.isBlock()) {
    return argumentError(ctx, args, "base", "a single pointer", base.typeStr());
  }
  llvm::SmallVector<int64_t> block = args.ints("block_shape");
  llvm::SmallVector<int64_t> order = args.ints("order");
  int64_t rank = static_cast<int64_t>(block.size());
  if (block.empty()) {
    return argumentError(ctx, args, "block_shape", "one extent or more", "[]");
  }
  if (failed(ctx.emitter.checkShape(block))) {
    return failure();
  }
  llvm::SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  for (int64_t d = 0; d < rank; ++d) {
    if (static_cast<int64_t>(sorted.size()) != rank || sorted[d] != d) {
      return argumentError(ctx, args, "order",
                           "a permutation of the " + llvm::Twine(rank) +
                               " dimensions, fastest first",
                           shapeStr(order));
    }
  }
  auto shape = scalarsArgument(ctx, args, "shape", DType::Int64, rank);
  if (failed(shape)) {
    return failure();
  }
  auto strides = scalarsArgument(ctx, args, "strides", DType::Int64, rank);
  if (failed(strides)) {
    return failure();
  }
  auto offsets = scalarsArgument(ctx, args, "offsets", DType::Int64, rank);
  if (failed(offsets)) {
    return failure();
  }
  // A pointer to a block: .element_ty is the block, .element_ty.element_ty its
  // elements' type.
  Value type(TypeValue{base.type, false, {block.begin(), block.end()}});
  return Value(
      Aggregate{blockPointerType(),
                {base, tupleOf(*shape), tupleOf(*strides), tupleOf(*offsets),
                 Value::ints(block), Value::ints(order), type, type}});
}

/// The aggregate as a tile; null with an error if it is another kind of
/// aggregate.
FailureOr<MemoryTile> tileOf(CallContext &ctx, const BoundArguments &args,
                             llvm::StringRef parameter) {
  const Value &value = args[parameter];
  if (!value.isAggregate() || value.aggregate().type != blockPointerType()) {
    bool isDescriptor = value.isAggregate() &&
                        value.aggregate().type->name == "tensor_descriptor";
    return argumentError(ctx, args, parameter, "a pointer or a block pointer",
                         value.describe(),
                         isDescriptor ? "a descriptor has its own methods: "
                                        "desc.load([...]), desc.store([...], x)"
                                      : "");
  }
  const Aggregate &aggregate = value.aggregate();
  MemoryTile tile;
  tile.base = aggregate.fields[0].tensor();
  auto tensors = [&](size_t field) {
    llvm::SmallVector<Tensor> items;
    for (const Value &item : aggregate.fields[field].items()) {
      items.push_back(item.tensor());
    }
    return items;
  };
  tile.shape = tensors(1);
  tile.strides = tensors(2);
  tile.offsets = tensors(3);
  for (const Value &extent : aggregate.fields[4].items()) {
    tile.blockShape.push_back(static_cast<int64_t>(extent.integer()));
  }
  return tile;
}

FailureOr<Value> emitAdvance(CallContext &ctx, const BoundArguments &args) {
  FailureOr<MemoryTile> tile = tileOf(ctx, args, "base");
  if (failed(tile)) {
    return failure();
  }
  auto steps = scalarsArgument(ctx, args, "offsets", DType::Int64,
                               static_cast<int64_t>(tile->offsets.size()));
  if (failed(steps)) {
    return failure();
  }
  std::vector<Value> moved;
  for (auto [offset, step] : llvm::zip(tile->offsets, *steps)) {
    bool isZero = mlir::matchPattern(step.value, mlir::m_Zero());
    moved.push_back(isZero ? offset : ctx.emitter.add(offset, step));
  }
  Aggregate aggregate = args["base"].aggregate();
  aggregate.fields[3] = Value::tuple(std::move(moved));
  return Value(std::move(aggregate));
}

/// The axes of `boundary_check`.
FailureOr<llvm::SmallVector<int64_t>>
checkedAxes(CallContext &ctx, const BoundArguments &args, int64_t rank) {
  llvm::SmallVector<int64_t> axes = args.ints("boundary_check");
  llvm::SmallSet<int64_t, 4> seen;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank || !seen.insert(axis).second) {
      return argumentError(ctx, args, "boundary_check",
                           "different axes from 0 to " + llvm::Twine(rank - 1),
                           shapeStr(axes));
    }
  }
  return axes;
}

LogicalResult refuseMask(CallContext &ctx, const BoundArguments &args,
                         llvm::ArrayRef<const char *> names) {
  for (const char *name : names) {
    if (!args.isNone(name)) {
      return argumentError(ctx, args, name, "nothing with a block pointer",
                           args[name].describe(),
                           "use boundary_check=(0, 1) to guard axes");
    }
  }
  return success();
}

} // namespace

FailureOr<Value> emitBlockPointerLoad(CallContext &ctx,
                                      const BoundArguments &args,
                                      AccessOperands access) {
  FailureOr<MemoryTile> tile = tileOf(ctx, args, "pointer");
  if (failed(tile) || failed(refuseMask(ctx, args, {"mask", "other"}))) {
    return failure();
  }
  int64_t rank = static_cast<int64_t>(tile->blockShape.size());
  auto checked = checkedAxes(ctx, args, rank);
  FailureOr<size_t> padding =
      choiceArgument(ctx, args, "padding_option", {"", "zero", "nan"});
  if (failed(checked) || failed(padding)) {
    return failure();
  }
  ScalarType element = tile->base.type.pointee();
  bool isNan = *padding == 2;
  if (isNan && !element.isFloat()) {
    return argumentError(ctx, args, "padding_option",
                         "'zero' for elements of " + element.str(), "'nan'");
  }
  AccessOperands addresses = accessTile(ctx.emitter, *tile, *checked);
  access.pointer = addresses.pointer;
  access.mask = addresses.mask;
  if (access.mask && isNan) {
    access.other = nanPadding(ctx.emitter, access);
  }
  return Value(emitLoadOf(ctx.emitter, access));
}

FailureOr<Value> emitBlockPointerStore(CallContext &ctx,
                                       const BoundArguments &args,
                                       AccessOperands access) {
  FailureOr<MemoryTile> tile = tileOf(ctx, args, "pointer");
  FailureOr<Tensor> value = tensorArgument(ctx, args, "value");
  if (failed(tile) || failed(value) ||
      failed(refuseMask(ctx, args, {"mask"})) ||
      failed(requirePointer(ctx, args, "pointer", tile->base, true))) {
    return failure();
  }
  int64_t rank = static_cast<int64_t>(tile->blockShape.size());
  auto checked = checkedAxes(ctx, args, rank);
  if (failed(checked)) {
    return failure();
  }
  value = ctx.emitter.cast(*value, tile->base.type.pointee());
  if (failed(value)) {
    return failure();
  }
  value = spreadArgument(ctx, args, "value", *value, tile->blockShape);
  if (failed(value)) {
    return failure();
  }
  AccessOperands addresses = accessTile(ctx.emitter, *tile, *checked);
  access.pointer = addresses.pointer;
  access.mask = addresses.mask;
  emitStoreOf(ctx.emitter, access, *value);
  return Value();
}

void registerBlockPointerBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "make_block_ptr(base: tensor, shape, strides, offsets, "
             "block_shape: ints, order: ints)",
             emitMakeBlockPtr,
             "A rectangle of an array in memory, for tl.load and tl.store with "
             "boundary_check."});
  table.add({"tl block_ptr", "advance(base, offsets)", emitAdvance,
             "The block pointer moved by this many elements along each axis.",
             Member});
}

} // namespace nereid::irgen
