//===- EmitDescriptor.cpp - Tensor descriptors -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor is an array in memory and the shape of the blocks that are
// loaded from it and stored to it; every access is checked along every axis.
// It becomes plain pointers and masks, as block pointers do.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMemory.h"

namespace nereid::irgen {

namespace {

enum Field {
  Base,
  Shape,
  Strides,
  BlockShape,
  ElementType,
  BlockType,
  Padding
};

std::shared_ptr<const AggregateType> descriptorType() {
  static const auto type = [] {
    auto aggregate = std::make_shared<AggregateType>();
    aggregate->name = "tensor_descriptor";
    aggregate->fields = {"base",  "shape",      "strides", "block_shape",
                         "dtype", "block_type", "padding"};
    aggregate->methods = "tensor_descriptor";
    return aggregate;
  }();
  return type;
}

FailureOr<Value> emitMakeDescriptor(CallContext &ctx,
                                    const BoundArguments &args) {
  const Tensor &base = args.tensor("base");
  if (failed(requirePointer(ctx, args, "base", base, false))) {
    return failure();
  }
  if (base.isBlock()) {
    return argumentError(ctx, args, "base", "a single pointer", base.typeStr());
  }
  ScalarType element = base.type.pointee();
  llvm::SmallVector<int64_t> block = args.ints("block_shape");
  int64_t rank = static_cast<int64_t>(block.size());
  if (rank < 1 || rank > 5) {
    return argumentError(ctx, args, "block_shape", "1 to 5 dimensions",
                         shapeStr(block));
  }
  if (failed(ctx.emitter.checkShape(block))) {
    return failure();
  }
  int64_t bytes = block.back() * static_cast<int64_t>(byteSize(element.dtype));
  if (bytes < 16) {
    return argumentError(ctx, args, "block_shape",
                         "16 bytes or more in the last dimension",
                         llvm::Twine(bytes) + " bytes of " + element.str());
  }
  auto shape = scalarsArgument(ctx, args, "shape", DType::Int32, rank);
  if (failed(shape)) {
    return failure();
  }
  auto strides = scalarsArgument(ctx, args, "strides", DType::Int64, rank);
  if (failed(strides)) {
    return failure();
  }
  const Value &last = args["strides"].items().back();
  if (!last.isIntegral() || last.integer() != 1) {
    return argumentError(ctx, args, "strides",
                         "a last stride that is the constant 1",
                         last.describe());
  }
  FailureOr<size_t> padding =
      choiceArgument(ctx, args, "padding_option", {"zero", "nan"});
  if (failed(padding)) {
    return failure();
  }
  if (*padding == 1 && !element.isFloat()) {
    return argumentError(ctx, args, "padding_option",
                         "'zero' for elements of " + element.str(), "'nan'");
  }
  return makeDescriptor(base, *shape, *strides, block, *padding == 1);
}

/// The `self` aggregate, which a free function may have got wrong.
FailureOr<Aggregate> descriptorArgument(CallContext &ctx,
                                        const BoundArguments &args) {
  const Value &self = args[size_t{0}];
  if (!self.isAggregate() || self.aggregate().type != descriptorType()) {
    return argumentError(ctx, args, ctx.builtin.parameters[0].name,
                         "a tensor descriptor", self.describe(),
                         "make one with tl.make_tensor_descriptor");
  }
  return self.aggregate();
}

/// `size` int64 scalars from a field of integer scalars.
llvm::SmallVector<Tensor> longs(Emitter &e, const Value &field) {
  llvm::SmallVector<Tensor> result;
  for (const Value &item : field.items()) {
    result.push_back(*e.cast(item.tensor(), DType::Int64));
  }
  return result;
}

/// The descriptor at `offsets`, all axes checked.
FailureOr<AccessOperands> accessAt(CallContext &ctx, const BoundArguments &args,
                                   const Aggregate &aggregate) {
  Emitter &e = ctx.emitter;
  MemoryTile tile;
  tile.base = aggregate.fields[Base].tensor();
  tile.shape = longs(e, aggregate.fields[Shape]);
  tile.strides = longs(e, aggregate.fields[Strides]);
  llvm::SmallVector<int64_t> axes;
  for (const Value &extent : aggregate.fields[BlockShape].items()) {
    axes.push_back(static_cast<int64_t>(axes.size()));
    tile.blockShape.push_back(static_cast<int64_t>(extent.integer()));
  }
  auto offsets = scalarsArgument(ctx, args, "offsets", DType::Int64,
                                 static_cast<int64_t>(axes.size()));
  if (failed(offsets)) {
    return failure();
  }
  tile.offsets = *offsets;
  return accessTile(e, tile, axes);
}

Value loaded(Emitter &e, AccessOperands access, const Aggregate &aggregate) {
  if (aggregate.fields[Padding].string() == "nan") {
    access.other = nanPadding(e, access);
  }
  return emitLoadOf(e, access);
}

/// The block to write, in the element type and in `shape` exactly.
FailureOr<Tensor> valueFor(CallContext &ctx, const BoundArguments &args,
                           ScalarType element, llvm::ArrayRef<int64_t> shape) {
  FailureOr<Tensor> value = tensorArgument(ctx, args, "value");
  if (failed(value)) {
    return failure();
  }
  if (value->shape() != shape) {
    return argumentError(ctx, args, "value", "a block of " + shapeStr(shape),
                         value->typeStr());
  }
  return ctx.emitter.cast(*value, element);
}

FailureOr<Value> emitDescriptorAtomic(CallContext &ctx,
                                      const BoundArguments &args) {
  FailureOr<Aggregate> aggregate = descriptorArgument(ctx, args);
  if (failed(aggregate)) {
    return failure();
  }
  FailureOr<AccessOperands> access = accessAt(ctx, args, *aggregate);
  if (failed(access)) {
    return failure();
  }
  ScalarType element = access->pointer.type.pointee();
  FailureOr<Tensor> value =
      valueFor(ctx, args, element, access->pointer.shape());
  FailureOr<tile::AtomicKind> kind =
      atomicKind(ctx, llvm::StringRef(ctx.builtin.name).drop_front(7), element,
                 /*ofDescriptor=*/true);
  if (failed(value) || failed(kind)) {
    return failure();
  }
  emitAtomicOf(ctx.emitter, *kind, *access, *value, tile::MemSemantic::Relaxed,
               tile::MemScope::Device);
  return Value();
}

/// Rows `x_offsets` of a two-dimensional descriptor whose block is one row,
/// from column `y_offset` on.
FailureOr<AccessOperands> accessRows(CallContext &ctx,
                                     const BoundArguments &args,
                                     const Aggregate &aggregate) {
  Emitter &e = ctx.emitter;
  llvm::ArrayRef<Value> block = aggregate.fields[BlockShape].items();
  if (block.size() != 2 || block[0].integer() != 1) {
    return callError(ctx,
                     "expected a descriptor whose block_shape is [1, columns], "
                     "got " +
                         aggregate.fields[BlockShape].repr());
  }
  const Tensor &rows = args.tensor("x_offsets");
  if (rows.rank() != 1 || !rows.type.isInteger()) {
    return argumentError(ctx, args, "x_offsets",
                         "a one-dimensional block of row numbers",
                         rows.typeStr());
  }
  const Tensor &first = args.tensor("y_offset");
  if (first.isBlock() || !first.type.isInteger()) {
    return argumentError(ctx, args, "y_offset", "an integer scalar",
                         first.typeStr());
  }
  FailureOr<Tensor> row = e.cast(rows, DType::Int64);
  FailureOr<Tensor> column = e.cast(first, DType::Int64);
  if (failed(row) || failed(column)) {
    return failure();
  }
  int64_t count = row->shape()[0],
          width = static_cast<int64_t>(block[1].integer());
  auto shape = longs(e, aggregate.fields[Shape]);
  auto strides = longs(e, aggregate.fields[Strides]);
  // One row at each row's own address, then the columns of a plain tile.
  MemoryTile tile;
  tile.base = aggregate.fields[Base].tensor();
  tile.shape = {e.constant(DType::Int64, Int{1}), shape[1]};
  tile.strides = {e.constant(DType::Int64, Int{0}), strides[1]};
  tile.offsets = {e.constant(DType::Int64, Int{0}), *column};
  tile.blockShape = {count, width};
  AccessOperands access = accessTile(e, tile, {1});
  auto spread = [&](Tensor x) {
    return *e.broadcastTo(e.expandDims(x, 1), {count, width});
  };
  Tensor step = spread(e.mul(*row, e.splat(strides[0], {count})));
  access.pointer.value =
      e.create<tile::AddPtrOp>(access.pointer.value, step.value);
  using mlir::arith::CmpIPredicate;
  // As unsigned numbers, negative rows are beyond every extent.
  Tensor inside{e.create<mlir::arith::CmpIOp>(CmpIPredicate::ult, row->value,
                                              e.splat(shape[0], {count}).value),
                DType::Int1};
  access.mask->value =
      e.create<mlir::arith::AndIOp>(access.mask->value, spread(inside).value);
  return access;
}

/// Where an operation's elements lie: accessAt or accessRows.
using AccessOf = FailureOr<AccessOperands>(CallContext &,
                                           const BoundArguments &,
                                           const Aggregate &);

template <AccessOf &accessOf>
FailureOr<Value> emitDescriptorLoad(CallContext &ctx,
                                    const BoundArguments &args) {
  FailureOr<Aggregate> aggregate = descriptorArgument(ctx, args);
  if (failed(aggregate)) {
    return failure();
  }
  FailureOr<AccessOperands> access = accessOf(ctx, args, *aggregate);
  if (failed(access)) {
    return failure();
  }
  return loaded(ctx.emitter, *access, *aggregate);
}

template <AccessOf &accessOf>
FailureOr<Value> emitDescriptorStore(CallContext &ctx,
                                     const BoundArguments &args) {
  FailureOr<Aggregate> aggregate = descriptorArgument(ctx, args);
  if (failed(aggregate)) {
    return failure();
  }
  FailureOr<AccessOperands> access = accessOf(ctx, args, *aggregate);
  if (failed(access)) {
    return failure();
  }
  FailureOr<Tensor> value = valueFor(ctx, args, access->pointer.type.pointee(),
                                     access->pointer.shape());
  if (failed(value)) {
    return failure();
  }
  emitStoreOf(ctx.emitter, *access, *value);
  return Value();
}

} // namespace

Value makeDescriptor(const Tensor &base, llvm::ArrayRef<Tensor> shape,
                     llvm::ArrayRef<Tensor> strides,
                     llvm::ArrayRef<int64_t> blockShape, bool padsWithNan) {
  ScalarType element = base.type.pointee();
  TypeValue blockType{element, true, {blockShape.begin(), blockShape.end()}};
  return Value(Aggregate{
      descriptorType(),
      {base, tupleOf(shape), tupleOf(strides), Value::ints(blockShape),
       Value(element), Value(blockType), Value(padsWithNan ? "nan" : "zero")}});
}

void registerDescriptorBuiltins(BuiltinTable &table) {
  for (const char *signature :
       {"make_tensor_descriptor(base: tensor, shape, strides, block_shape: "
        "ints, padding_option: str='zero')",
        "_experimental_make_tensor_descriptor(base: tensor, shape, strides, "
        "block_shape: ints, padding_option: str='zero')"}) {
    table.add({"tl", signature, emitMakeDescriptor,
               "An array in memory with the block shape of its accesses."});
  }
  table.add({"tl", "load_tensor_descriptor(desc, offsets)",
             emitDescriptorLoad<accessAt>, "desc.load(offsets)."});
  table.add({"tl", "store_tensor_descriptor(desc, offsets, value)",
             emitDescriptorStore<accessAt>, "desc.store(offsets, value)."});
  table.add({"tensor_descriptor", "load(self, offsets)",
             emitDescriptorLoad<accessAt>,
             "The block at these offsets; padding outside of the array.",
             MemberOnly});
  table.add({"tensor_descriptor", "store(self, offsets, value)",
             emitDescriptorStore<accessAt>,
             "The block written; what is outside of the array is dropped.",
             MemberOnly});
  for (const char *signature :
       {"atomic_add(self, offsets, value)", "atomic_min(self, offsets, value)",
        "atomic_max(self, offsets, value)", "atomic_and(self, offsets, value)",
        "atomic_or(self, offsets, value)",
        "atomic_xor(self, offsets, value)"}) {
    table.add({"tensor_descriptor", signature, emitDescriptorAtomic,
               "Read-modify-write of the block in memory; no result.",
               MemberOnly});
  }
  table.add(
      {"tensor_descriptor", "gather(self, x_offsets: tensor, y_offset: tensor)",
       emitDescriptorLoad<accessRows>, "Rows picked by number.", MemberOnly});
  table.add({"tensor_descriptor",
             "scatter(self, value, x_offsets: tensor, y_offset: tensor)",
             emitDescriptorStore<accessRows>, "Rows written by number.",
             MemberOnly});
}

} // namespace nereid::irgen
