//===- Passes.td - Target-neutral passes over Tile IR -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_PASSES
#define NEREID_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def SimplifyTiles : Pass<"tile-simplify", "::mlir::func::FuncOp"> {
  let summary = "Canonical forms, with less work on blocks";
  let description = [{
    Every canonicalisation of the dialects in a kernel, and what needs a
    decision of policy: arithmetic moves from a block to the scalar, or to the
    smaller block, that it is a copy of; the uniform part of an address moves
    to its base; comparisons that a range decides become constants. Bits are
    unchanged.
  }];
}

def CountLoops : Pass<"tile-count-loops", "::mlir::func::FuncOp"> {
  let summary = "while loops that count become for loops";
  let description = [{
    `while i < n: ...; i += c` and `while r > 0: ...; r -= c`, where the loop
    does not change n, and c is a positive constant, the number of programs, or
    a product of such. Later passes know how many iterations a `scf.for`
    has: addresses are scalars, and loads can be copied ahead. A loop whose
    counter would wrap before it gets to n is endless, and may end.
  }];
}

def ScalarizeInduction : Pass<"tile-scalarize-induction", "::mlir::func::FuncOp"> {
  let summary = "Loop-carried blocks that advance uniformly become a scalar";
  let description = [{
    A block of pointers or integers that a loop carries and advances by the
    same amount in every element, `p += splat(d)`, is `init + splat(o)` with a
    carried scalar o that advances by d. Exact: sums wrap in both forms.
    `d` need not be the same in every iteration.
    ```mlir
    %r = scf.for ... iter_args(%p = %init) -> tensor<64x!tile.ptr<f32>> {
      %q = tile.addptr %p, %splat : ...
    ```
    becomes
    ```mlir
    %o = scf.for ... iter_args(%k = %c0) -> i64 {
      %p = tile.addptr %init, splat(%k)
    ```
  }];
}

def ExpandMaps : Pass<"tile-expand-maps", "::mlir::func::FuncOp"> {
  let summary = "Functions of elements as operations on blocks";
  let description = [{
    A `tile.map` becomes the operations of its region on blocks. Of an `scf.if`
    both sides are computed; a loop runs until it has ended for every element.
    For targets on which the elements of a block cannot go different ways.
  }];
}

def InsertChecks : Pass<"tile-insert-checks", "::mlir::func::FuncOp"> {
  let summary = "Run-time checks of NEREID_CHECK before memory accesses";
  let options = [
    Option<"bounds", "bounds", "bool", "false", "check addresses before every load, store and atomic">,
    Option<"nan", "nan", "bool", "false", "look for NaN in every value stored">
  ];
}

def InsertRelax : Pass<"tile-insert-relax", "::mlir::func::FuncOp"> {
  let summary = "Mark the loops that wait for memory to change";
  let description = [{
    A `tile.relax` at the end of the body of every `scf.while` whose condition
    depends on a load or an atomic of the loop itself.
  }];
}

def WaitForLaunches : Pass<"tile-wait-for-launches", "::mlir::ModuleOp"> {
  let summary = "A kernel that may begin early waits at its beginning";
  let description = [{
    For launches with `launch_pdl`. A kernel that has no `tile.grid_dependency`
    waits for the launches in front of its own before it does anything else. One
    that has some says itself what it reads early.
  }];
}

def AssignSites : Pass<"tile-assign-sites", "::mlir::func::FuncOp"> {
  let summary = "Number the operations that call the runtime";
  let description = [{
    `tile.site` of every print, assert and check, in the order of the text.
    The table they index is made by `assignSites` (AssignSites.h).
  }];
}

#endif
