//===- TileMemoryOps.td - Pointers, loads, stores, atomics, conversions -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEMEMORYOPS
#define NEREID_DIALECT_TILE_IR_TILEMEMORYOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "nereid/Dialect/Tile/IR/TileInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Address of the element `offset` elements on";
  let description = [{
    `result = ptr + sext(offset) * sizeof(pointee)`; a narrow unsigned offset
    is extended to i64 before.
    ```mlir
    %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_IntLike:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure, SameOperandsAndResultShape]> {
  let summary = "A 64-bit integer as an address";
  let description = [{
    ```mlir
    %p = tile.int_to_ptr %i : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins Tile_IntLike:$source);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure, SameOperandsAndResultShape]> {
  let summary = "An address as a 64-bit integer";
  let description = [{
    ```mlir
    %i = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins Tile_PtrLike:$source);
  let results = (outs Tile_IntLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PtrCastOp : Tile_Op<"ptr_cast", [Pure, SameOperandsAndResultShape]> {
  let summary = "The same address, of elements of another type";
  let description = [{
    ```mlir
    %q = tile.ptr_cast %p : !tile.ptr<i8> -> !tile.ptr<f16>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$source);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_LoadOp : Tile_Op<"load", [
    Tile_MemoryAccess, AttrSizedOperandSegments, Tile_MaskOf<"ptr", "::llvm::cast<LoadOp>($_op).getMask()">,
    Tile_PointeeOf<"other", "::llvm::cast<LoadOp>($_op).getOther()">, Tile_PointeeOf<"result">, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Elements read through pointers";
  let description = [{
    Where `mask` is false memory is not touched and the result is `other`, or
    zero (all bits; the null pointer) without one: on every target, whatever
    uses the result. `volatile` loads are neither removed nor reordered.
    ```mlir
    %x = tile.load %p, %m, %o : tensor<64x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_BoolLike>:$mask,
                       Optional<Tile_NumberLike>:$other,
                       DefaultValuedAttr<Tile_CacheModifier, "::nereid::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::nereid::tile::EvictionPolicy::Normal">:$evict,
                       UnitAttr:$isVolatile);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_Op<"store", [
    Tile_MemoryAccess, Tile_MaskOf<"ptr", "::llvm::cast<StoreOp>($_op).getMask()">, Tile_PointeeOf<"value">, MemoryEffects<[MemWrite]>]> {
  let summary = "Elements written through pointers";
  let description = [{
    Where `mask` is false memory is not touched. Two elements of one store at
    the same address: one of them is left there.
    ```mlir
    tile.store %p, %x, %m : tensor<64x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_NumberLike:$value, Optional<Tile_BoolLike>:$mask,
                       DefaultValuedAttr<Tile_CacheModifier, "::nereid::tile::CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "::nereid::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = "$ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)";
  let hasCanonicalizer = 1;
}

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [
    Tile_MemoryAccess, Tile_MaskOf<"ptr", "::llvm::cast<AtomicRMWOp>($_op).getMask()">, Tile_PointeeOf<"value">, Tile_PointeeOf<"result">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Read-modify-write, element by element; the old values";
  let description = [{
    Each element is atomic on its own; elements of one block at the same
    address are all applied, in no stated order. A masked-off element gives
    zero. `fmax`/`fmin` order as maxNum/minNum.
    ```mlir
    %old = tile.atomic_rmw fadd, acq_rel, gpu, %p, %x, %m : tensor<64x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_MemSemantic:$semantic, Tile_MemScope:$scope,
                       Tile_PtrLike:$ptr, Tile_NumberLike:$value, Optional<Tile_BoolLike>:$mask);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = "$kind `,` $semantic `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [
    Tile_MemoryAccess, Tile_PointeeOf<"compare">, Tile_PointeeOf<"value">, Tile_PointeeOf<"result">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Compare and swap, element by element; the old values";
  let description = [{
    Compares bits. 16, 32 or 64 bits wide.
    ```mlir
    %old = tile.atomic_cas acq_rel, gpu, %p, %c, %v : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_MemSemantic:$semantic, Tile_MemScope:$scope, Tile_PtrLike:$ptr,
                       Tile_NumberLike:$compare, Tile_NumberLike:$value);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = "$semantic `,` $scope `,` $ptr `,` $compare `,` $value attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

def Tile_ConvertFloatOp : Tile_Op<"convert_float", [Pure, SameOperandsAndResultShape]> {
  let summary = "A float in another format, where arith has no such conversion";
  let description = [{
    To or from an 8-bit float, or rounding toward zero. To an 8-bit float the
    value saturates: a finite value or an infinity beyond the largest finite
    number becomes that number with its sign; NaN stays NaN. Conversions among
    f16, bf16, f32 and f64 that round to nearest are `arith.extf`/`truncf`.
    ```mlir
    %y = tile.convert_float %x {rounding = 0 : i32} : tensor<64xf32> -> tensor<64xf8E5M2>
    ```
  }];
  let arguments = (ins Tile_FloatLike:$source, DefaultValuedAttr<Tile_Rounding, "::nereid::tile::Rounding::Nearest">:$rounding);
  let results = (outs Tile_FloatLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

#endif
