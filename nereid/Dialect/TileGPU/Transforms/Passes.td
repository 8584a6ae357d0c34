//===- Passes.td - Passes over tiles with layouts ----------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

// All of them ask the kernel's `tilegpu.target` what the GPU has, and leave a
// kernel as it is where it lacks the instructions.

def ShareOperands : Pass<"tilegpu-share-operands", "::mlir::func::FuncOp"> {
  let summary = "Operands of products that a loop does not change, to shared memory once";
  let description = [{
    Operands that a product by several warps reads from shared memory, and that
    the loops around it do not change, are written there once, in front of the
    loops, as far as they take no more than half of a block's shared memory;
    others are written for each product. Before `tilegpu-schedule-loops`, which
    leaves the buffers their room.
  }];
}

def SpecializeWarps : Pass<"tilegpu-specialize-warps", "::mlir::func::FuncOp"> {
  let summary = "Warps of their own that copy the operands of a loop's products";
  let description = [{
    Where all products of a kernel are those of one loop, which only adds them
    up, and their operands are boxes of tensors (nereid/Analysis/
    TensorMapAccess.h), one thread of warps of its own has the GPU's engine for
    tensors copy them into a ring of up to `stages` slots, and the other warps
    multiply. The kernel has a parameter more for each tensor. For targets with
    tensor maps; loops that it leaves are `tilegpu-schedule-loops`'.
  }];
  let options = [
    Option<"stages", "stages", "unsigned", "3", "slots of the ring, at most">
  ];
}

def ScheduleLoops : Pass<"tilegpu-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "What of a loop runs ahead of its iteration";
  let description = [{
    Loads that feed matrix products inside a loop become asynchronous copies
    into a ring of buffers, started `stages - 1` iterations before their use; a
    loop that says `tile.num_stages` has all its loads copied so. The operations
    that compute their addresses and masks run that much ahead too. Products
    that four warps start together run while the copies are started.

    A load stays where it is if an address depends on what the loop loads, if
    the loop may write what it reads, or if a piece would be under 4 bytes.

    Only decides: each operation of the loop says when it runs
    (`tilegpu.schedule`), and `tilegpu-expand-loops` rewrites the loop.
  }];
  let options = [
    Option<"stages", "stages", "unsigned", "3",
           "iterations in flight, the current one included, of a loop that does not say tile.num_stages">,
    Option<"sharedLimit", "shared-limit", "unsigned", "0",
           "bytes of shared memory; loops with which the kernel would need more get fewer stages; 0: what a block may have">,
    Option<"carryProducts", "carry-products", "bool", "true",
           "leave a product in flight into the next iteration where that only adds to it">
  ];
}

def ExpandLoops : Pass<"tilegpu-expand-loops", "::mlir::func::FuncOp"> {
  let summary = "Loops rewritten as their schedules say";
  let description = [{
    A loop with `tilegpu.slots` becomes one whose step runs operations of
    several iterations, with the first copies in front of it
    (docs/Schedules.md). Any schedule that keeps the order of definitions and
    uses can be expanded; it is an error if one does not.
  }];
}

def StageOperands : Pass<"tilegpu-stage-operands", "::mlir::func::FuncOp"> {
  let summary = "Operands of products that registers cannot hold, to shared memory";
  let description = [{
    Where a thread's part of a product's operands and sums is more than three
    quarters of its registers, operands that come from other threads stay in
    shared memory, and the product reads them step by step along K. A load that
    nothing else wants is copied there without registers. After
    `tilegpu-expand-loops`, which copies ahead; where shared memory has no
    room, registers hold them.
  }];
}

def PrefetchNextTile : Pass<"tilegpu-prefetch-next-tile", "::mlir::func::FuncOp"> {
  let summary = "Programs ask for the memory that later ones will load";
  let description = [{
    Where a program waits for a row, because it reduces it, memory idles; so
    each program asks for the row of a later one. And what all programs read
    after a reduction program 0 asks for at its start. For targets with bulk
    prefetches.
  }];
}

def RegistersForLoads : Pass<"tilegpu-registers-for-loads", "::mlir::func::FuncOp"> {
  let summary = "Registers for the loads of an iteration, all in flight";
  let description = [{
    An assembler that saves registers lets the loads of an iteration wait for
    each other: the second one takes the registers of the first. Where a loop
    has several, the kernel says how many registers hold them all
    (`tilegpu.registers`), unless so few warps would be resident then that
    fewer bytes were on their way.
  }];
}

def AllocateShared : Pass<"tilegpu-allocate-shared", "::mlir::func::FuncOp"> {
  let summary = "Where buffers and scratch lie in shared memory";
  let description = [{
    Gives every buffer and every trip through shared memory its place
    (nereid/Analysis/SharedAllocation.h), and says on the kernel how many bytes
    that takes. Fails where a buffer is not freed in its block.
  }];
  let options = [
    Option<"sharedLimit", "shared-limit", "unsigned", "0",
           "bytes of shared memory, which are exceeded only if they must; 0: what a block may have">
  ];
}

def InsertBarriers : Pass<"tilegpu-insert-barriers", "::mlir::func::FuncOp"> {
  let summary = "Barriers between accesses of different threads that conflict";
  let description = [{
    Of shared and of global memory (nereid/Analysis/Hazards.h). After
    `tilegpu-allocate-shared`.
  }];
}

#endif
