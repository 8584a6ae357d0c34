//===- AMDMemoryOps.td - Loads, stores, atomics ------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMDMEMORYOPS
#define NEREID_DIALECT_AMD_IR_AMDMEMORYOPS

include "nereid/Dialect/AMD/IR/AMDDialect.td"

def AMD_Word : AnyTypeOf<[I16, I32, I64]>;
def AMD_Address : AnyTypeOf<[I32, I64]>;

def AMD_LoadOp : AMD_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "1, 2 or 4 words of memory";
  let description = [{
    words = predicate ? memory[address + offset] : others. Without others, zeros.
    `byte`: one byte, in the low half of an i16. The address is a multiple of all
    that is read. `relaxed` is one word as an atomic operation reads it, with a
    scope. GLOBAL_LOAD and DS_READ.
    ```mlir
    %a, %b = amd.load global %p + 16 if %m else %x, %y : i32, i32 : i64 -> i32, i32
    ```
  }];
  let arguments = (ins AMD_SpaceAttr:$space, AMD_Address:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
                       Optional<I1>:$predicate, Variadic<AMD_Word>:$others,
                       DefaultValuedAttr<AMD_CacheAttr, "Cache::Normal">:$cache,
                       DefaultValuedAttr<AMD_OrderAttr, "Order::Weak">:$order,
                       OptionalAttr<AMD_ScopeAttr>:$scope, UnitAttr:$byte);
  let results = (outs Variadic<AMD_Word>:$words);
  let assemblyFormat = [{
    $space $address (`+` $offset^)? (`if` $predicate^)? (`else` $others^ `:` type($others))? attr-dict
    `:` type($address) `->` type($words)
  }];
  let hasVerifier = 1;
}

def AMD_StoreOp : AMD_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "1, 2 or 4 words to memory";
  let description = [{
    if (predicate) memory[address + offset] = words. `byte`: the low byte of an
    i16. GLOBAL_STORE and DS_WRITE.
    ```mlir
    amd.store lds %a + 8, %x, %y if %m : i32, i32, i32
    ```
  }];
  let arguments = (ins AMD_SpaceAttr:$space, AMD_Address:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
                       Variadic<AMD_Word>:$words, Optional<I1>:$predicate,
                       DefaultValuedAttr<AMD_CacheAttr, "Cache::Normal">:$cache, UnitAttr:$byte);
  let assemblyFormat = [{
    $space $address (`+` $offset^)? `,` $words (`if` $predicate^)? attr-dict `:` type($address) `,` type($words)
  }];
  let hasVerifier = 1;
}

def AMD_CompareAndSwapOp : AMD_Op<"compare_and_swap", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["compare", "value", "old"]>]> {
  let summary = "memory = memory == compare ? value : memory, at once";
  let description = [{
    old = predicate ? memory[address] : compare. Of 16 bits LLVM makes a loop
    around the word that holds them.
    ```mlir
    %old = amd.compare_and_swap %address, %compare, %value if %p acq_rel agent : i32
    ```
  }];
  let arguments = (ins I64:$address, AMD_Word:$compare, AMD_Word:$value, I1:$predicate,
                       AMD_OrderAttr:$order, AMD_ScopeAttr:$scope);
  let results = (outs AMD_Word:$old);
  let assemblyFormat = [{
    $address `,` $compare `,` $value `if` $predicate $order $scope attr-dict `:` type($old)
  }];
  let hasVerifier = 1;
}

def AMD_AtomicOp : AMD_Op<"atomic", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A word of global memory, updated at once";
  let description = [{
    old = predicate ? memory[address + offset] : 0; if (predicate)
    memory[address + offset] = update(old, value). Without a result nothing is
    returned. A word of 32 bits may hold two floats of 16 (`element`) to add to.
    GLOBAL_ATOMIC.
    ```mlir
    %old = amd.atomic fadd %a + 16, %x if %p of f32 relaxed agent : i32 -> i32
    ```
  }];
  let arguments = (ins AMD_UpdateAttr:$update, I64:$address, DefaultValuedAttr<I32Attr, "0">:$offset,
                       AMD_Word:$value, Optional<I1>:$predicate, TypeAttr:$element,
                       AMD_OrderAttr:$order, AMD_ScopeAttr:$scope);
  let results = (outs Optional<AMD_Word>:$old);
  let assemblyFormat = [{
    $update $address (`+` $offset^)? `,` $value (`if` $predicate^)? `of` $element $order $scope attr-dict
    `:` type($value) (`->` type($old)^)?
  }];
  let hasVerifier = 1;
}

def AMD_CountSharedOp : AMD_Op<"count_shared", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds a constant to a word of LDS, at once";
  let description = [{
    if (predicate) lds[address] += by, in 32 bits. DS_ADD_U32.
    ```mlir
    amd.count_shared %address by 1 if %p
    ```
  }];
  let arguments = (ins I32:$address, I32Attr:$by, I1:$predicate);
  let assemblyFormat = "$address `by` $by `if` $predicate attr-dict";
}

#endif // NEREID_DIALECT_AMD_IR_AMDMEMORYOPS
