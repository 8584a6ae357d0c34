//===- EmitMemory.cpp - Loads and stores -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An int1 never lives in memory: pointers to int1 are pointers to bytes, a load
// compares with zero and a store widens.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMemory.h"

namespace nereid::irgen {

Tensor emitLoadOf(Emitter &e, const AccessOperands &access) {
  ScalarType element = access.pointer.type.pointee();
  mlir::Value mask = access.mask ? access.mask->value : mlir::Value();
  mlir::Value other = access.other ? access.other->value : mlir::Value();
  Tensor loaded{e.create<tile::LoadOp>(access.pointer.value, mask, other,
                                       access.cache, access.eviction,
                                       access.isVolatile),
                element};
  if (element.isBool()) {
    loaded.type = DType::UInt8;
    return *e.toBool(loaded);
  }
  return loaded;
}

void emitStoreOf(Emitter &e, const AccessOperands &access, Tensor value) {
  mlir::Value mask = access.mask ? access.mask->value : mlir::Value();
  if (value.type.isBool()) {
    value = *e.cast(value, DType::UInt8);
  }
  e.create<tile::StoreOp>(access.pointer.value, value.value, mask, access.cache,
                          access.eviction);
}

FailureOr<Tensor> memoryValue(Emitter &e, Tensor value, ScalarType pointee) {
  FailureOr<Tensor> cast = e.cast(value, pointee);
  if (succeeded(cast) && pointee.isBool()) {
    return e.cast(*cast, DType::UInt8);
  }
  return cast;
}

LogicalResult requirePointer(CallContext &ctx, const BoundArguments &args,
                             llvm::StringRef parameter, const Tensor &pointer,
                             bool isWritten) {
  if (!pointer.type.isPointer) {
    return argumentError(
        ctx, args, parameter, "a pointer or a block of pointers",
        pointer.typeStr(),
        pointer.type.isInteger()
            ? "add it to a pointer argument, or convert an address with "
              ".to(tl.pointer_type(...))"
            : "");
  }
  if (isWritten && pointer.type.isConst) {
    return argumentError(ctx, args, parameter, "a pointer that may be written",
                         pointer.typeStr(),
                         "the parameter is declared tl.const: drop the "
                         "annotation, or write elsewhere");
  }
  return success();
}

static LogicalResult fitsScalarPointer(CallContext &ctx,
                                       const BoundArguments &args,
                                       llvm::StringRef parameter,
                                       const Tensor &x) {
  if (!x.isBlock()) {
    return success();
  }
  return argumentError(
      ctx, args, parameter, "a scalar, because 'pointer' is a single pointer",
      x.typeStr(), "make a block of pointers: pointer + tl.arange(...)");
}

FailureOr<Tensor> maskArgument(CallContext &ctx, const BoundArguments &args,
                               const Tensor &pointer) {
  FailureOr<Tensor> mask = tensorArgument(ctx, args, "mask");
  if (failed(mask)) {
    return failure();
  }
  if (!mask->type.isBool()) {
    if (!args["mask"].isNumber()) {
      return argumentError(ctx, args, "mask", "int1 (a comparison's result)",
                           mask->typeStr(), "compare it: mask != 0");
    }
    mask = ctx.emitter.toBool(*mask);
  }
  if (!pointer.isBlock() &&
      failed(fitsScalarPointer(ctx, args, "mask", *mask))) {
    return failure();
  }
  return mask;
}

LogicalResult cacheArguments(CallContext &ctx, const BoundArguments &args,
                             AccessOperands &access, bool isStore) {
  using C = tile::CacheModifier;
  static constexpr C loads[] = {C::None, C::CA, C::CG, C::CS, C::CV};
  static constexpr C stores[] = {C::None, C::WB, C::CG, C::CS, C::WT};
  FailureOr<size_t> cache =
      isStore ? choiceArgument(ctx, args, "cache_modifier",
                               {"", ".wb", ".cg", ".cs", ".wt"})
              : choiceArgument(ctx, args, "cache_modifier",
                               {"", ".ca", ".cg", ".cs", ".cv"});
  FailureOr<size_t> eviction =
      choiceArgument(ctx, args, "eviction_policy",
                     {"", "evict_first", "evict_last", "evict_normal"});
  if (failed(cache) || failed(eviction)) {
    return failure();
  }
  access.cache = isStore ? stores[*cache] : loads[*cache];
  access.eviction = *eviction == 1   ? tile::EvictionPolicy::First
                    : *eviction == 2 ? tile::EvictionPolicy::Last
                                     : tile::EvictionPolicy::Normal;
  return success();
}

namespace {

/// What only block pointers take.
LogicalResult refuseBlockPointerArguments(CallContext &ctx,
                                          const BoundArguments &args,
                                          llvm::ArrayRef<const char *> names) {
  for (const char *name : names) {
    const Value &value = args[name];
    bool isSet = value.isString()
                     ? !value.string().empty()
                     : value.isSequence() && !value.items().empty();
    if (isSet) {
      return argumentError(ctx, args, name,
                           "nothing, because 'pointer' is no block pointer",
                           value.repr(),
                           "guard the access with mask=..., or use "
                           "tl.make_block_ptr");
    }
  }
  return success();
}

/// Everything of one shape: the pointers' own, or with `growPointer` (loads)
/// the common one.
LogicalResult broadcastAccess(CallContext &ctx, const BoundArguments &args,
                              AccessOperands &access, bool growPointer) {
  Emitter &e = ctx.emitter;
  if (!access.mask) {
    return success();
  }
  if (growPointer) {
    return e.broadcast(access.pointer, *access.mask,
                       ctx.name() + ": arguments 'pointer' and 'mask'");
  }
  FailureOr<Tensor> mask =
      spreadArgument(ctx, args, "mask", *access.mask, access.pointer.shape());
  if (failed(mask)) {
    return failure();
  }
  access.mask = *mask;
  return success();
}

FailureOr<Value> emitLoad(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  AccessOperands access;
  if (failed(cacheArguments(ctx, args, access, /*isStore=*/false))) {
    return failure();
  }
  access.isVolatile = args.boolean("volatile");
  if (args["pointer"].isAggregate()) {
    return emitBlockPointerLoad(ctx, args, access);
  }
  FailureOr<Tensor> pointer = tensorArgument(ctx, args, "pointer");
  if (failed(pointer) ||
      failed(requirePointer(ctx, args, "pointer", *pointer, false)) ||
      failed(refuseBlockPointerArguments(
          ctx, args, {"boundary_check", "padding_option"}))) {
    return failure();
  }
  access.pointer = *pointer;
  if (args.isNone("mask")) {
    if (!args.isNone("other")) {
      return argumentError(ctx, args, "other", "nothing without a mask",
                           args["other"].describe(),
                           "'other' is what masked-off elements get: pass "
                           "mask=... as well");
    }
    return Value(emitLoadOf(e, access));
  }
  FailureOr<Tensor> mask = maskArgument(ctx, args, *pointer);
  if (failed(mask)) {
    return failure();
  }
  access.mask = *mask;
  if (failed(broadcastAccess(ctx, args, access, /*growPointer=*/true))) {
    return failure();
  }
  if (!args.isNone("other")) {
    FailureOr<Tensor> other = tensorArgument(ctx, args, "other");
    if (failed(other) ||
        (!access.pointer.isBlock() &&
         failed(fitsScalarPointer(ctx, args, "other", *other)))) {
      return failure();
    }
    other = memoryValue(e, *other, access.pointer.type.pointee());
    if (failed(other)) {
      return failure();
    }
    other = spreadArgument(ctx, args, "other", *other, access.pointer.shape());
    if (failed(other)) {
      return failure();
    }
    access.other = *other;
  }
  return Value(emitLoadOf(e, access));
}

FailureOr<Value> emitStore(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  AccessOperands access;
  if (failed(cacheArguments(ctx, args, access, /*isStore=*/true))) {
    return failure();
  }
  if (args["pointer"].isAggregate()) {
    return emitBlockPointerStore(ctx, args, access);
  }
  FailureOr<Tensor> pointer = tensorArgument(ctx, args, "pointer");
  FailureOr<Tensor> value = tensorArgument(ctx, args, "value");
  if (failed(pointer) || failed(value) ||
      failed(requirePointer(ctx, args, "pointer", *pointer, true)) ||
      failed(refuseBlockPointerArguments(ctx, args, {"boundary_check"}))) {
    return failure();
  }
  access.pointer = *pointer;
  if (!pointer->isBlock() &&
      failed(fitsScalarPointer(ctx, args, "value", *value))) {
    return failure();
  }
  if (!args.isNone("mask")) {
    FailureOr<Tensor> mask = maskArgument(ctx, args, *pointer);
    if (failed(mask)) {
      return failure();
    }
    access.mask = *mask;
  }
  if (failed(broadcastAccess(ctx, args, access, /*growPointer=*/false))) {
    return failure();
  }
  value = e.cast(*value, pointer->type.pointee());
  if (failed(value)) {
    return failure();
  }
  value = spreadArgument(ctx, args, "value", *value, pointer->shape());
  if (failed(value)) {
    return failure();
  }
  emitStoreOf(e, access, *value);
  return Value();
}

} // namespace

void registerMemoryBuiltins(BuiltinTable &table) {
  table.add({"tl block_ptr",
             "load(pointer, mask=None, other=None, boundary_check: ints=(), "
             "padding_option: str='', cache_modifier: str='', "
             "eviction_policy: str='', volatile: bool=False)",
             emitLoad,
             "Elements read through pointers; where mask is false `other`, or "
             "zero.",
             Member});
  table.add({"tl block_ptr",
             "store(pointer, value, mask=None, boundary_check: ints=(), "
             "cache_modifier: str='', eviction_policy: str='')",
             emitStore, "Elements written through pointers where mask is true.",
             Member});
  registerAtomicBuiltins(table);
  registerBlockPointerBuiltins(table);
  registerDescriptorBuiltins(table);
}

} // namespace nereid::irgen
