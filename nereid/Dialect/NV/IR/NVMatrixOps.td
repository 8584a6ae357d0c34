//===- NVMatrixOps.td - Matrices in registers and products -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NVMATRIXOPS
#define NEREID_DIALECT_NV_IR_NVMATRIXOPS

include "nereid/Dialect/NV/IR/NVDialect.td"

def NV_LoadMatrixOp : NV_Op<"ldmatrix", [MemoryEffects<[MemRead]>]> {
  let summary = "1, 2 or 4 matrices of 8 x 8 elements of 16 bits, from shared memory";
  let description = [{
    Lane 8 * i + r says where row r of matrix i begins (16 bytes). Word i of
    lane 4 * r + c holds elements (r, 2 * c) and (r, 2 * c + 1) of matrix i;
    `transposed`: (2 * c, r) and (2 * c + 1, r). Section "ldmatrix".
    ```mlir
    %w:4 = nv.ldmatrix %address + 64 {transposed} : i32, i32, i32, i32
    ```
  }];
  let arguments = (ins I32:$address, DefaultValuedAttr<I32Attr, "0">:$offset, UnitAttr:$transposed);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$address (`+` $offset^)? attr-dict `:` type($words)";
  let hasVerifier = 1;
}

def NV_StoreMatrixOp : NV_Op<"stmatrix", [MemoryEffects<[MemWrite]>]> {
  let summary = "1, 2 or 4 matrices of 8 x 8 elements of 16 bits, to shared memory";
  let description = [{
    The inverse of `nv.ldmatrix`, from sm_90 on. Section "stmatrix".
    ```mlir
    nv.stmatrix %address + 64, %w0, %w1
    ```
  }];
  let arguments = (ins I32:$address, DefaultValuedAttr<I32Attr, "0">:$offset, Variadic<I32>:$words, UnitAttr:$transposed);
  let assemblyFormat = "$address (`+` $offset^)? `,` $words attr-dict";
  let hasVerifier = 1;
}

def NV_MmaOp : NV_Op<"mma", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "A matrix product of one warp";
  let description = [{
    D = A B + C, of 16 x K by K x 8 where a row of A is 32 bytes (K = 32 of
    8-bit, 16 of 16-bit, 8 of tf32 elements). Of f64 16 x 8 by 8 x 8, from sm_90
    on, and 8 x 4 by 4 x 8. Which
    lane holds which elements: section "Matrix Fragments for mma". Integers say
    their signedness; results are f32 of floats, i32 of integers, f64 of f64.

    | types                         | words of A | of B | of C and D |
    |-------------------------------|-----------:|-----:|-----------:|
    | f16 f16, bf16 bf16, tf32 tf32 | 4          | 2    | 4          |
    | f8E4M3FN, f8E5M2, mixed       | 4          | 2    | 4          |
    | si8, ui8, mixed               | 4          | 2    | 4          |
    | f64 f64                       | 4          | 2    | 4          |
    | f64 f64, eight rows           | 1          | 1    | 2          |
    ```mlir
    %d:4 = nv.mma f16 %a0, %a1, %a2, %a3 : i32, i32, i32, i32 times f16 %b0, %b1 : i32, i32 plus %c0, %c1, %c2, %c3 : f32, f32, f32, f32
    ```
  }];
  let arguments = (ins TypeAttr:$lhsType, Variadic<AnyTypeOf<[I32, F64]>>:$lhs,
                       TypeAttr:$rhsType, Variadic<AnyTypeOf<[I32, F64]>>:$rhs,
                       Variadic<AnyTypeOf<[F32, F64, I32]>>:$sums);
  let results = (outs Variadic<AnyTypeOf<[F32, F64, I32]>>:$results);
  let assemblyFormat = [{
    $lhsType $lhs `:` type($lhs) `times` $rhsType $rhs `:` type($rhs) `plus` $sums attr-dict `:` type($sums)
  }];
  let hasVerifier = 1;
}

def NV_WarpgroupMmaOp : NV_Op<"wgmma", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, InferTypeOpAdaptor]> {
  let summary = "A matrix product of four warps, as a group of instructions";
  let description = [{
    wgmma.fence, a list of wgmma.mma_async of m64 n`columns` k, and
    wgmma.commit_group; `waits`: wgmma.wait_group 0, too. It is one operation
    since nothing may touch the sums in between, not even a copy: ptxas
    serialises what it cannot prove (section "Asynchronous Warpgroup Level
    Matrix Instructions"). Without `waits` the results are there after the
    `nv.wgmma_wait` that takes them.

    The list has `steps` instructions for each block of 64 x `columns` sums,
    `columns` / 2 registers each. Instruction s of block b adds to the block's
    sums

        D(b) += A(b, s) B(b, s)

    where B is read by the descriptor `right`, advanced by `rightOffsets`[b *
    steps + s] (sixteenths of bytes), and A by the descriptor `left` and
    `leftOffsets` alike, or from four of the words `left`, numbers
    `leftWords`[4 * (b * steps + s) ...]. `leftAlongM`, `rightAlongN`: rows of
    the operand's matrix in shared memory run along M, along N ("transposed" in
    the manual). `looped`: one iteration a step, with a group of its own; a
    product then takes ptxas less time.

    K of an instruction is 32 bytes: 16 of f16 and bf16, 8 of tf32, 32 of 8-bit
    floats and integers. Only 16-bit elements may lie along M or N.
    ```mlir
    %d:32 = nv.wgmma f16 %a : i64 times f16 %b : i64 plus %c ... : f32, ...
      {columns = 64 : i32, steps = 1 : i32, leftOffsets = array<i32: 0>, rightOffsets = array<i32: 0>, waits}
    ```
  }];
  let arguments = (ins TypeAttr:$lhsType, Variadic<AnyTypeOf<[I32, I64]>>:$left,
                       TypeAttr:$rhsType, I64:$right, Variadic<AnyTypeOf<[F32, I32]>>:$sums,
                       I32Attr:$columns, I32Attr:$steps,
                       DenseI32ArrayAttr:$leftOffsets, DenseI32ArrayAttr:$leftWords, DenseI32ArrayAttr:$rightOffsets,
                       UnitAttr:$leftAlongM, UnitAttr:$rightAlongN, UnitAttr:$looped, UnitAttr:$waits);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    $lhsType $left `:` type($left) `times` $rhsType $right `plus` $sums `:` type($sums) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool readsLeftFromRegisters() { return getLeft().front().getType().isInteger(32); }
    /// Blocks of 64 x `columns` sums.
    unsigned getBlocks() { return getSums().size() / (getColumns() / 2); }
    /// Do the descriptors advance by the same from each step to the next? For
    /// operands outside of registers.
    bool isEven();
  }];
}

def NV_WarpgroupWaitOp : NV_Op<"wgmma_wait", [MemoryEffects<[MemRead, MemWrite]>, InferTypeOpAdaptor]> {
  let summary = "Waits until at most `pending` groups of products are in flight";
  let description = [{
    Hands the sums on, and nothing may read the ones it takes; with none it
    only waits. Section "wgmma.wait_group".
    ```mlir
    %d:2 = nv.wgmma_wait 0, %c0, %c1 : f32, f32
    ```
  }];
  let arguments = (ins I32Attr:$pending, Variadic<AnyTypeOf<[F32, I32]>>:$sums);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = "$pending (`,` $sums^ `:` type($sums))? attr-dict";
}

#endif // NEREID_DIALECT_NV_IR_NVMATRIXOPS
