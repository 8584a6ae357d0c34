//===- TileShapeOps.td - Creation, shape and element order -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILESHAPEOPS
#define NEREID_DIALECT_TILE_IR_TILESHAPEOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "nereid/Dialect/Tile/IR/TileInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let description = [{
    `result[i] = start + i`. Any length from 1 on.
    ```mlir
    %r = tile.range 0, 768 : tensor<768xi32>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs 1DTensorOf<[I32]>:$result);
  let assemblyFormat = "$start `,` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A scalar in every element";
  let description = [{
    ```mlir
    %b = tile.splat %x : f32 -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "A new dimension of size 1 at `axis` of the result";
  let description = [{
    ```mlir
    %b = tile.expand_dims %a {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, I32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Dimensions of size 1 repeated; same rank";
  let description = [{
    ```mlir
    %b = tile.broadcast %a : tensor<64x1xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "The same elements, row-major, in another shape";
  let description = [{
    With `reorder` the order of the elements is free (tl.view); a target may
    still keep it.
    ```mlir
    %b = tile.reshape %a : tensor<64x2xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, UnitAttr:$reorder);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "Dimensions permuted";
  let description = [{
    Dimension d of the result is dimension `order[d]` of the source.
    ```mlir
    %b = tile.transpose %a {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Two blocks side by side in a new last dimension of size 2";
  let description = [{
    `result[..., 0] = lhs[...]`, `result[..., 1] = rhs[...]`. Two scalars give a
    tensor of 2.
    ```mlir
    %c = tile.join %a, %b : tensor<64xf32> -> tensor<64x2xf32>
    ```
  }];
  let arguments = (ins Tile_Any:$lhs, Tile_Any:$rhs);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "The inverse of join";
  let description = [{
    The last dimension of the source is 2. A tensor of 2 gives two scalars.
    ```mlir
    %a, %b = tile.split %c : tensor<64x2xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Any:$lhs, Tile_Any:$rhs);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($lhs)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_CatOp : Tile_Op<"cat", [Pure,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getSharedBlocks", "getElementSources"]>]> {
  let summary = "Two blocks one after the other along `axis`";
  let description = [{
    Other dimensions equal; order kept.
    ```mlir
    %c = tile.cat %a, %b {axis = 0 : i32} : tensor<3xf32>, tensor<5xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, I32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getSharedBlocks", "getElementSources"]>]> {
  let summary = "A part of a block: every `strides[d]`-th element from `offsets[d]` on"
                " along each dimension d";
  let description = [{
    `result[i, j, ..] = source[offsets[0] + i * strides[0], offsets[1] + j * strides[1], ..]`,
    all inside the source. The inverse of `tile.cat`.
    ```mlir
    %h = tile.slice %x {offsets = array<i32: 0, 8>, strides = array<i32: 1, 2>} : tensor<64x32xf32> -> tensor<64x12xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI32ArrayAttr:$offsets, DenseI32ArrayAttr:$strides);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure,
    DeclareOpInterfaceMethods<Tile_StructuredOp, ["getOperandPlacement", "getSharedBlocks", "getElementSources"]>]> {
  let summary = "Elements picked along one axis of a block";
  let description = [{
    `result[.., i, ..] = source[.., index[.., i, ..], ..]` with i at `axis`.
    Equal ranks; the other dimensions equal. An index outside the axis is
    undefined; executors must not read outside the tile for it.
    ```mlir
    %g = tile.gather %s[%i] {axis = 0 : i32} : tensor<64xf32>, tensor<16xi32> -> tensor<16xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, RankedTensorOf<[Tile_Int]>:$index, I32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` type($source) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

#endif
