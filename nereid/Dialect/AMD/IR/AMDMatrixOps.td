//===- AMDMatrixOps.td - Matrix products -------------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMDMATRIXOPS
#define NEREID_DIALECT_AMD_IR_AMDMATRIXOPS

include "nereid/Dialect/AMD/IR/AMDDialect.td"

/// Of elements of 8 and 16 bits i32 words, the first element lowest.
def AMD_MatrixWord : AnyTypeOf<[I32, F32, F64]>;

class AMD_MatrixOp<string mnemonic> : AMD_Op<mnemonic, [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let arguments = (ins I32Attr:$size, I32Attr:$depth,
                       TypeAttr:$lhsType, Variadic<AMD_MatrixWord>:$lhs,
                       TypeAttr:$rhsType, Variadic<AMD_MatrixWord>:$rhs,
                       Variadic<AMD_MatrixWord>:$sums);
  let results = (outs Variadic<AMD_MatrixWord>:$results);
  let assemblyFormat = [{
    $size `deep` $depth $lhsType $lhs `:` type($lhs) `times` $rhsType $rhs `:` type($rhs)
    `plus` $sums attr-dict `:` type($sums)
  }];
  let hasVerifier = 1;
}

def AMD_MfmaOp : AMD_MatrixOp<"mfma"> {
  let summary = "A matrix product of a wave of 64 lanes: V_MFMA";
  let description = [{
    D = A B + C of `size` x `depth` by `depth` x `size`, `size` 16 or 32. Lane
    l holds row l % size of A and column l % size of B, from element
    l / size * e on along K, where e elements are what a lane has of them. Of D
    it holds column l % size: for each e in turn rows 4 * (l / size) + 0 ... 3 of
    every 256 / size; of f64 row l / 16 of every 4.

    | types                     | size x depth           | words of A and B | of C and D |
    |---------------------------|------------------------|-----------------:|-----------:|
    | f16, bf16                 | 16 x 16, 32 x 8        | 2                | 4, 16      |
    | f16, bf16 (gfx950)        | 16 x 32, 32 x 16       | 4                | 4, 16      |
    | f32                       | 16 x 4, 32 x 2         | 1                | 4, 16      |
    | tf32 (gfx942)             | 16 x 8, 32 x 4         | 2                | 4, 16      |
    | f64                       | 16 x 4                 | 1                | 4          |
    | si8 (gfx90a)              | 16 x 16, 32 x 8        | 1                | 4, 16      |
    | si8, from gfx942          | 16 x 32, 32 x 16       | 2                | 4, 16      |
    | si8 (gfx950)              | 16 x 64, 32 x 32       | 4                | 4, 16      |
    | f8E4M3FN, f8E5M2 (gfx950) | 16 x 32, 32 x 16       | 2                | 4, 16      |
    | the same, V_MFMA_*_F8F6F4 | 16 x 128, 32 x 64      | 8                | 4, 16      |

    Bytes have a sign. Results are f32 of floats, i32 of integers, f64 of f64.
    ```mlir
    %d:4 = amd.mfma 16 deep 16 f16 %a0, %a1 : i32, i32 times f16 %b0, %b1 : i32, i32 plus %c0, %c1, %c2, %c3 : f32, f32, f32, f32
    ```
  }];
}

def AMD_WmmaOp : AMD_MatrixOp<"wmma"> {
  let summary = "A matrix product of a wave of 32 lanes: V_WMMA";
  let description = [{
    D = A B + C of 16 x 16 by 16 x 16. On gfx11 lanes l and l + 16 both hold row
    l % 16 of A and column l % 16 of B, all of K, and of column l % 16 of D every
    other row, from l / 16 on. On gfx12 a lane holds half of K, from
    l / 16 * 8 on, and rows l / 16 * 8 + 0 ... 7 of D.

    | types                     | words of A and B, gfx11 | gfx12 | of C and D |
    |---------------------------|------------------------:|------:|-----------:|
    | f16, bf16                 | 8                       | 4     | 8          |
    | si8, ui8, mixed           | 4                       | 2     | 8          |
    | f8E4M3FN, f8E5M2, mixed   |                         | 2     | 8          |

    Results are f32 of floats, i32 of integers.
    ```mlir
    %d:8 = amd.wmma 16 deep 16 ui8 %a0, %a1 : i32, i32 times si8 %b0, %b1 : i32, i32 plus %c, %c, %c, %c, %c, %c, %c, %c : i32, i32, i32, i32, i32, i32, i32, i32
    ```
  }];
}

#endif // NEREID_DIALECT_AMD_IR_AMDMATRIXOPS
