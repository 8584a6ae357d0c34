//===- TileMapOps.td - The user's own functions of elements -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEMAPOPS
#define NEREID_DIALECT_TILE_IR_TILEMAPOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "A function of scalars, for every element by itself";
  let description = [{
    n blocks of one shape. The region takes one scalar of each and yields the
    elements of the results, in the same shape. It may branch and loop, and may
    use scalars from outside; it has no effect on memory.
    ```mlir
    %y = "tile.map"(%x) ({
    ^bb0(%a: f32):
      %c = math.exp %a : f32
      tile.yield %c : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let regions = (region SizedRegion<1>:$function);
  let hasVerifier = 1;
}

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Assembly of the user's, for every element by itself";
  let description = [{
    `text` is the target's assembly and `constraints` names its registers, both
    as LLVM has them: outputs first, `$0` the first register. One run works on
    `pack` elements of each operand. Elements narrower than 32 bits share
    registers, the first one lowest; which elements meet in one run is the
    target's choice. With `pure` the text has no effect beside its results.
    ```mlir
    %y = tile.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" pack 1 pure (%x) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints,
                       ConfinedAttr<I32Attr, [IntPositive]>:$pack, UnitAttr:$pure,
                       Variadic<Tile_Any>:$inputs);
  let results = (outs Variadic<Tile_Any>:$outputs);
  let assemblyFormat = "$text `,` $constraints `pack` $pack (`pure` $pure^)? `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

#endif
