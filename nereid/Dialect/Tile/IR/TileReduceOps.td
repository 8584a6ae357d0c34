//===- TileReduceOps.td - Reductions, scans, histograms, matrix products -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEREDUCEOPS
#define NEREID_DIALECT_TILE_IR_TILEREDUCEOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "nereid/Dialect/Tile/IR/TileInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getOperandPlacement", "getResultPlacement"]>]> {
  let summary = "Elements along one axis combined to one";
  let description = [{
    n blocks of one shape. The region takes 2n scalars - the first n one
    partial result, the others the next - and yields n. It must be associative
    and commutative: the order is the target's, the same in every run. The
    axis is dropped; rank 1 gives scalars.
    ```mlir
    %s = "tile.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }) : (tensor<64xf32>) -> f32
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, I32Attr:$axis);
  let results = (outs Variadic<Tile_Any>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The shape that is reduced.
    ::llvm::ArrayRef<int64_t> getSourceShape() {
      return ::llvm::cast<::mlir::RankedTensorType>(getSources()[0].getType()).getShape();
    }
  }];
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getOperandPlacement", "getResultPlacement"]>]> {
  let summary = "Running combinations along one axis, inclusive";
  let description = [{
    As `tile.reduce`, but every prefix is kept: `r[0] = x[0]`,
    `r[i] = combine(r[i-1], x[i])`. With `reverse` from the end. The region
    need not be commutative.
    ```mlir
    %s = "tile.scan"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getSourceShape() {
      return ::llvm::cast<::mlir::RankedTensorType>(getSources()[0].getType()).getShape();
    }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ReduceOp", "ScanOp", "MapOp"]>]> {
  let summary = "Ends the region of a reduction, a scan or a map";
  let description = [{
    ```mlir
    %m = "tile.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    }) : (tensor<64xf32>) -> f32
    ```
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getOperandPlacement", "getSharedBlocks", "mayBranch"]>]> {
  let summary = "How often each of 0 .. n-1 occurs";
  let description = [{
    n is the size of the result. Values outside are dropped, as are elements
    whose `mask` is false.
    ```mlir
    %h = tile.histogram %x : tensor<1024xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins 1DTensorOf<[I32, I64]>:$source, Optional<1DTensorOf<[I1]>>:$mask);
  let results = (outs 1DTensorOf<[I32]>:$result);
  let assemblyFormat = "$source (`,` $mask^)? attr-dict `:` type($source) (`,` type($mask)^)? `->` type($result)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "Matrix product of two blocks, added to a third";
  let description = [{
    `result[b,m,n] = c[b,m,n] + sum_k lhs[b,m,k] * rhs[b,k,n]`, b absent at
    rank 2. Products and sums are formed in the type of `c` or wider.

    | operands | c |
    |---|---|
    | f8E4M3FN, f8E5M2 (may differ) | f32, f16 |
    | f16 | f32, f16 |
    | bf16 | f32 |
    | f32 | f32 (`precision` says how the operands may be read) |
    | f64 | f64 |
    | i8 (`isUnsigned` for uint8) | i32 |
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, Tile_Tensor:$c,
                       DefaultValuedAttr<Tile_InputPrecision, "::nereid::tile::InputPrecision::TF32">:$precision,
                       DefaultValuedAttr<I32Attr, "0">:$maxImpreciseAcc,
                       UnitAttr:$isUnsigned);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $c attr-dict `:` type($lhs) `,` type($rhs) `,` type($c)";
  let hasVerifier = 1;
}

#endif
