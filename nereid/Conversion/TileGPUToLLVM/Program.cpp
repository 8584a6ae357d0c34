//===- Program.cpp - The launch, barriers, clocks -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

static void emitProgramId(KernelEmitter &e, tile::ProgramIdOp op) {
  e.scalars[op.getResult()] = e.programId[op.getAxis()];
}

static void emitNumPrograms(KernelEmitter &e, tile::NumProgramsOp op) {
  e.scalars[op.getResult()] = e.gridSize[op.getAxis()];
}

static void emitProcessorId(KernelEmitter &e, tile::ProcessorIdOp op) {
  e.scalars[op.getResult()] = e.machine->processorId();
}

static void emitGlobalTimer(KernelEmitter &e, tile::GlobalTimerOp op) {
  Value now = e.machine->globalTimer();
  e.scalars[op.getResult()] = op.getResult().use_empty() ? now : e.agreed(now);
}

static void emitGridDependency(KernelEmitter &e, tile::GridDependencyOp op) {
  e.machine->gridDependency(op.getKind() == tile::GridDependency::Wait);
}

static void emitBarrier(KernelEmitter &e, Operation *) { e.barrier(); }

static void emitNothing(KernelEmitter &, Operation *) {}

void addProgramLowerings(LoweringTable &table) {
  table.add<tile::ProgramIdOp, emitProgramId>();
  table.add<tile::NumProgramsOp, emitNumPrograms>();
  table.add<tile::ProcessorIdOp, emitProcessorId>();
  table.add<tile::GlobalTimerOp, emitGlobalTimer>();
  table.add<tile::GridDependencyOp, emitGridDependency>();
  table.add<tile::BarrierOp, emitBarrier>();
  table.add<tilegpu::BarrierOp, emitBarrier>();
  table.add<tile::AssumeOp, emitNothing>();
  table.add<tile::RelaxOp, emitNothing>();
}

} // namespace nereid::togpu
