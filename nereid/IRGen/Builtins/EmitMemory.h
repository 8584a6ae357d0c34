//===- EmitMemory.h - What accesses to memory share -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One access, however its addresses were described: pointers, a block pointer
// or a tensor descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_BUILTINS_EMITMEMORY_H
#define NEREID_IRGEN_BUILTINS_EMITMEMORY_H

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

/// Pointers with what belongs to each element; all of one shape, `other` in the
/// type that lies in memory.
struct AccessOperands {
  Tensor pointer;
  std::optional<Tensor> mask;
  std::optional<Tensor> other;
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy eviction = tile::EvictionPolicy::Normal;
  bool isVolatile = false;
};

/// The loaded value in the pointee's language type.
Tensor emitLoadOf(Emitter &e, const AccessOperands &access);
/// `value` has the pointee's language type and the pointer's shape.
void emitStoreOf(Emitter &e, const AccessOperands &access, Tensor value);

/// `value` cast to the pointee, and to a byte for int1.
FailureOr<Tensor> memoryValue(Emitter &e, Tensor value, ScalarType pointee);

/// Fails unless the argument is a pointer, and one that may be written.
LogicalResult requirePointer(CallContext &ctx, const BoundArguments &args,
                             llvm::StringRef parameter, const Tensor &pointer,
                             bool isWritten);

/// The `mask` argument as int1, not yet broadcast; scalar for a scalar pointer.
FailureOr<Tensor> maskArgument(CallContext &ctx, const BoundArguments &args,
                               const Tensor &pointer);

/// `cache_modifier` and `eviction_policy`.
LogicalResult cacheArguments(CallContext &ctx, const BoundArguments &args,
                             AccessOperands &access, bool isStore);

/// tl.load and tl.store of an aggregate from tl.make_block_ptr.
FailureOr<Value> emitBlockPointerLoad(CallContext &ctx,
                                      const BoundArguments &args,
                                      AccessOperands access);
FailureOr<Value> emitBlockPointerStore(CallContext &ctx,
                                       const BoundArguments &args,
                                       AccessOperands access);

/// A rectangle of an array in memory: `base` points at element (0, ..., 0),
/// and everything else counts elements. Sizes are int64 scalars.
struct MemoryTile {
  Tensor base;
  llvm::SmallVector<Tensor> shape, strides, offsets;
  llvm::SmallVector<int64_t> blockShape;
};

/// The pointers of a tile, and a mask that is true inside of the array along
/// the `checked` axes (none if there are none).
AccessOperands accessTile(Emitter &e, const MemoryTile &tile,
                          llvm::ArrayRef<int64_t> checked);

/// What a load of float elements with NaN padding gives outside.
Tensor nanPadding(Emitter &e, const AccessOperands &access);

/// What tl.make_tensor_descriptor gives; shape in int32, strides in int64.
Value makeDescriptor(const Tensor &base, llvm::ArrayRef<Tensor> shape,
                     llvm::ArrayRef<Tensor> strides,
                     llvm::ArrayRef<int64_t> blockShape, bool padsWithNan);

/// One read-modify-write; `value` has the pointee's type and the pointer's
/// shape. The old values.
Tensor emitAtomicOf(Emitter &e, tile::AtomicKind kind,
                    const AccessOperands &access, Tensor value,
                    tile::MemSemantic semantic, tile::MemScope scope);
/// The operation of "add", "min", ... for this element type. Extrema of 16-bit
/// floats are for descriptors alone, as the language has it.
FailureOr<tile::AtomicKind> atomicKind(CallContext &ctx, llvm::StringRef op,
                                       ScalarType type,
                                       bool ofDescriptor = false);

/// The items of a sequence argument as scalar integers of `type`; `count`
/// items unless it is negative.
FailureOr<llvm::SmallVector<Tensor>> scalarsArgument(CallContext &ctx,
                                                     const BoundArguments &args,
                                                     llvm::StringRef parameter,
                                                     DType type, int64_t count);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_BUILTINS_EMITMEMORY_H
