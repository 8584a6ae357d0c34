//===- TileProgramOps.td - Program ids, constants of a launch, hints -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_TILEPROGRAMOPS
#define NEREID_DIALECT_TILE_IR_TILEPROGRAMOPS

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "Index of the running program along one axis of the grid";
  let description = [{
    `0 <= result < num_programs(axis)`.
    ```mlir
    %p = tile.program_id 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "Extent of the grid along one axis";
  let description = [{
    ```mlir
    %n = tile.num_programs 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_HintOp : Tile_Op<"hint", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The operand, with the user's word on its values";
  let description = [{
    From `tl.multiple_of`, `max_contiguous`, `max_constancy`: one number a
    dimension (one in all for a scalar). `divisibility[d]`: the first value of
    every contiguous run along d is a multiple; `contiguity[d]`: runs of that
    many consecutive values; `constancy[d]`: runs of that many equal values. A
    false hint is undefined behaviour.
    ```mlir
    %1 = tile.hint %0 {divisibility = array<i64: 16>} : tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_Any:$source,
                       OptionalAttr<DenseI64ArrayAttr>:$divisibility,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguity,
                       OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "The condition holds, says the user";
  let description = [{
    From `tl.assume`. A false assumption is undefined behaviour.
    ```mlir
    tile.assume %c
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_RelaxOp : Tile_Op<"relax", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The program waits for another one; let others run";
  let description = [{
    In the body of a loop that ends only when memory changes, by the pass
    tile-insert-relax. On a GPU all programs of such a grid are resident; an
    executor with fewer threads than programs starts more of them here.
    ```mlir
    tile.relax
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_GlobalTimerOp : Tile_Op<"global_timer", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A clock that all programs share";
  let description = [{
    Never goes back. Nanoseconds on a GPU and in the reference executor; on a
    CPU the ticks of its time-stamp counter.
    ```mlir
    %t = tile.global_timer
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ProcessorIdOp : Tile_Op<"processor_id", [Pure]> {
  let summary = "Number of the multiprocessor that runs the program";
  let description = [{
    Zero where there are no multiprocessors.
    ```mlir
    %p = tile.processor_id
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_GridDependencyOp : Tile_Op<"grid_dependency", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Order between this launch and its neighbours in the stream";
  let description = [{
    `wait`: what the launches before this one have written is visible after
    it. `launch`: the next launch may start once every program has come here.
    Nothing happens where a launch starts only after the one before has ended.
    ```mlir
    tile.grid_dependency wait
    ```
  }];
  let arguments = (ins Tile_GridDependency:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Memory accesses of the program before it come before those after it";
  let description = [{
    From `tl.debug_barrier`.
    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif
