//===- TileDebugOps.td - Printing, assertions, checks -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEDEBUGOPS
#define NEREID_DIALECT_TILE_IR_TILEDEBUGOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device_print of one value, or of the prefix alone";
  let description = [{
    A line for each element: the program, the element's index, the prefix as it
    stands, and the value. `dtype` is the language's name of the element type, which tells unsigned
    from signed ("u32"). With `hex`, integers are shown by their bits, floats
    as printf's %a.
    ```mlir
    tile.print " x: " (%x) {dtype = "fp32"} : tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$prefix, Optional<Tile_Any>:$value, StrAttr:$dtype, UnitAttr:$hex);
  let assemblyFormat = "$prefix (`(` $value^ `)`)? attr-dict (`:` type($value)^)?";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device_assert: the launch fails where an element is false";
  let description = [{
    ```mlir
    tile.assert %c, "n must be positive" : i1
    ```
  }];
  let arguments = (ins Tile_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_CheckBoundsOp : Tile_Op<"check_bounds", [Tile_MaskOf<"ptr", "::llvm::cast<CheckBoundsOp>($_op).getMask()">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The launch fails where an address lies in none of its arrays";
  let description = [{
    Inserted before accesses under NEREID_CHECK=oob. `what` says which access
    ("load", "store"); `parameter` is the index of the function argument the
    address derives from, or -1. Masked-off elements are not checked.
    ```mlir
    tile.check_bounds "load" %p, %m {parameter = 0 : i32} : tensor<64x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins StrAttr:$what, Tile_PtrLike:$ptr, Optional<Tile_BoolLike>:$mask,
                       DefaultValuedAttr<I32Attr, "-1">:$parameter);
  let assemblyFormat = "$what $ptr (`,` $mask^)? attr-dict `:` type($ptr)";
}

def Tile_CheckNanOp : Tile_Op<"check_nan", [Tile_MaskOf<"value", "::llvm::cast<CheckNanOp>($_op).getMask()">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The launch fails where an element is not a number";
  let description = [{
    Inserted before stores under NEREID_CHECK=nan.
    ```mlir
    tile.check_nan "store" %x, %m : tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$what, Tile_FloatLike:$value, Optional<Tile_BoolLike>:$mask);
  let assemblyFormat = "$what $value (`,` $mask^)? attr-dict `:` type($value)";
}

#endif
