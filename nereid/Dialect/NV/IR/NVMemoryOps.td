//===- NVMemoryOps.td - Loads, stores, copies, atomics -----*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NVMEMORYOPS
#define NEREID_DIALECT_NV_IR_NVMEMORYOPS

include "nereid/Dialect/NV/IR/NVDialect.td"

/// A byte travels in a 16-bit register.
def NV_Word : AnyTypeOf<[I16, I32, I64]>;
def NV_Address : AnyTypeOf<[I32, I64]>;

def NV_LoadOp : NV_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "1, 2 or 4 words of one aligned place, at most 16 bytes";
  let description = [{
    words = predicate ? memory[address + offset] : others; without `others`
    words of a load that does not happen are 0. `byte`: a word of 8 bits, in the
    lower half of an i16, the upper half 0. A cache operator and an eviction
    priority exclude each other. Section "ld".
    ```mlir
    %w:2 = nv.load global %a + 16 if %p else %x, %y evict_first : i64 -> i32, i32
    ```
  }];
  let arguments = (ins
    NV_SpaceAttr:$space, NV_Address:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
    Optional<I1>:$predicate, Variadic<NV_Word>:$others,
    DefaultValuedAttr<NV_CacheAttr, "Cache::Default">:$cache,
    DefaultValuedAttr<NV_EvictionAttr, "Eviction::Normal">:$eviction,
    DefaultValuedAttr<NV_OrderAttr, "Order::Weak">:$order,
    OptionalAttr<NV_ScopeAttr>:$scope, UnitAttr:$byte);
  let results = (outs Variadic<NV_Word>:$words);
  let assemblyFormat = [{
    $space $address (`+` $offset^)? (`if` $predicate^)? (`else` $others^ `:` type($others))?
    attr-dict `:` type($address) `->` type($words)
  }];
  let hasVerifier = 1;
}

def NV_StoreOp : NV_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "1, 2 or 4 words to one aligned place, at most 16 bytes";
  let description = [{
    if (predicate) memory[address + offset] = words. Section "st".
    ```mlir
    nv.store shared %a + 4, %w if %p : i32, i32
    ```
  }];
  let arguments = (ins
    NV_SpaceAttr:$space, NV_Address:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
    Variadic<NV_Word>:$words, Optional<I1>:$predicate,
    DefaultValuedAttr<NV_CacheAttr, "Cache::Default">:$cache,
    DefaultValuedAttr<NV_EvictionAttr, "Eviction::Normal">:$eviction, UnitAttr:$byte);
  let assemblyFormat = [{
    $space $address (`+` $offset^)? `,` $words (`if` $predicate^)? attr-dict `:` type($address) `,` type($words)
  }];
  let hasVerifier = 1;
}

def NV_CopyAsyncOp : NV_Op<"cp_async", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts to copy 4, 8 or 16 bytes from global to shared memory";
  let description = [{
    if (predicate) shared[to + toOffset ...] = the first `read` of `bytes` bytes
    of global[from + fromOffset ...], then zeros. Done when the group that
    `nvvm.cp.async.commit.group` closes has been waited for
    (`nvvm.cp.async.wait.group`). 16 bytes pass the first-level cache by, fewer
    cannot. Section "cp.async".
    ```mlir
    nv.cp_async %to + 32, %from + 64, 16 read %n if %p
    ```
  }];
  let arguments = (ins
    I32:$to, DefaultValuedAttr<I32Attr, "0">:$toOffset, I64:$from, DefaultValuedAttr<I32Attr, "0">:$fromOffset,
    I32Attr:$bytes, Optional<I32>:$read, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $to (`+` $toOffset^)? `,` $from (`+` $fromOffset^)? `,` $bytes (`read` $read^)? (`if` $predicate^)? attr-dict
  }];
  let hasVerifier = 1;
}

def NV_PrefetchBulkOp : NV_Op<"prefetch_bulk", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Asks for a run of global memory in the second-level cache";
  let description = [{
    `bytes`, a multiple of 16 that is not 0, from the aligned `address`, if
    `predicate`. Section "cp.async.bulk.prefetch".
    ```mlir
    nv.prefetch_bulk %address, %bytes if %p
    ```
  }];
  let arguments = (ins I64:$address, I32:$bytes, I1:$predicate);
  let assemblyFormat = "$address `,` $bytes `if` $predicate attr-dict";
}

def NV_CompareAndSwapOp : NV_Op<"compare_and_swap", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["compare", "value", "old"]>]> {
  let summary = "memory = memory == compare ? value : memory, at once";
  let description = [{
    old = predicate ? memory[address] : compare. Section "atom". LLVM's own
    operation has no predicate and not 16 bits.
    ```mlir
    %old = nv.compare_and_swap %address, %compare, %value if %p acq_rel gpu : i32
    ```
  }];
  let arguments = (ins I64:$address, NV_Word:$compare, NV_Word:$value, I1:$predicate,
                       NV_OrderAttr:$order, NV_ScopeAttr:$scope);
  let results = (outs NV_Word:$old);
  let assemblyFormat = [{
    $address `,` $compare `,` $value `if` $predicate $order $scope attr-dict `:` type($old)
  }];
  let hasVerifier = 1;
}

def NV_AtomicOp : NV_Op<"atomic", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "1, 2 or 4 words of global memory, each updated at once";
  let description = [{
    old = predicate ? memory[address + offset] : 0; if (predicate)
    memory[address + offset] = update(old, values). Without results nothing is
    returned. Several words, and the words of 32 bits that hold two floats of 16
    (`element`), are sums of floats; several from sm_90 on. Sections "atom",
    "red". LLVM's `atomicrmw` has neither predicate nor vectors, and its back
    end drops the order.
    ```mlir
    %old:2 = nv.atomic fadd %a + 16, %x, %y if %p of f32 relaxed gpu : i32, i32 -> i32, i32
    ```
  }];
  let arguments = (ins NV_UpdateAttr:$update, I64:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
                       Variadic<NV_Word>:$values, Optional<I1>:$predicate, TypeAttr:$element,
                       NV_OrderAttr:$order, NV_ScopeAttr:$scope);
  let results = (outs Variadic<NV_Word>:$old);
  let assemblyFormat = [{
    $update $address (`+` $offset^)? `,` $values (`if` $predicate^)? `of` $element $order $scope attr-dict
    `:` type($values) (`->` type($old)^)?
  }];
  let hasVerifier = 1;
}

def NV_FenceOp : NV_Op<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What the thread did to memory before comes before what it does after";
  let description = [{
    Of order acq_rel, for the threads of `scope`. Section "membar/fence".
    ```mlir
    nv.fence gpu
    ```
  }];
  let arguments = (ins NV_ScopeAttr:$scope);
  let assemblyFormat = "$scope attr-dict";
}

def NV_CountSharedOp : NV_Op<"count_shared", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds a constant to a word of shared memory, at once";
  let description = [{
    if (predicate) shared[address] += by, in 32 bits. Section "red".
    ```mlir
    nv.count_shared %address by 1 if %p
    ```
  }];
  let arguments = (ins I32:$address, I32Attr:$by, I1:$predicate);
  let assemblyFormat = "$address `by` $by `if` $predicate attr-dict";
}

#endif // NEREID_DIALECT_NV_IR_NVMEMORYOPS
