//===- RegistersForLoads.cpp - Registers for loads in flight --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler spends registers by a measure of its own. A loop that adds four
// loads a thread to its sums may get so few of them that each load waits for
// the sum with the one before, in whose registers it arrives; with more all
// four are on their way together (docs/decisions/Tiles.md). What such a loop
// needs is known here.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Dialect/Tile/IR/Decisions.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_REGISTERSFORLOADS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

/// Of 32 bits, of a thread.
static unsigned registersOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return 1;
  }
  unsigned bytes = tile::getElementBytes(tile::getElement(type));
  return llvm::divideCeil(layoutOf(type).registerCount() * bytes, 4u);
}

namespace {
/// What an iteration loads.
struct Loads {
  unsigned count = 0;     ///< accesses of a thread
  unsigned registers = 0; ///< that they arrive in
  unsigned carried = 0;   ///< registers that the loop holds besides
};

struct RegistersForLoadsPass
    : impl::RegistersForLoadsBase<RegistersForLoadsPass> {
  void runOnOperation() override;
};
} // namespace

/// Absent where a product or a copy sets the pace.
static std::optional<Loads>
loadsOf(scf::ForOp loop, const AxisInfoAnalysis &axes, unsigned accessBytes) {
  Loads loads;
  for (Operation &op : *loop.getBody()) {
    if (isa<tile::DotOp, CopyAsyncOp>(op)) {
      return std::nullopt;
    }
    auto load = dyn_cast<tile::LoadAccess>(op);
    if (!load || !isa<RankedTensorType>(load.getType())) {
      continue;
    }
    Shape shape = shapeOf(load.getType());
    TileLayout layout = layoutOf(load.getType());
    unsigned inner = axes.order(load.getPtr())[0];
    unsigned width = std::min(
        axes.vectorWidth(load.getPtr(), load.getMask(), inner, accessBytes),
        contiguousRegisters(layout, dimensionShifts(shape)[inner],
                            paddedBits(shape[inner])));
    loads.count += layout.registerCount() / width;
    loads.registers += registersOf(load.getType());
  }
  for (Value carried : loop.getRegionIterArgs()) {
    loads.carried += registersOf(carried.getType());
  }
  return loads;
}

/// Registers of a thread with `loads` in flight: an address of 64 bits each,
/// and what indices and masks take.
static unsigned registersFor(const Loads &loads) {
  constexpr unsigned others = 24, addressRegisters = 2;
  return loads.carried + loads.registers + addressRegisters * loads.count +
         others;
}

void RegistersForLoadsPass::runOnOperation() {
  func::FuncOp kernel = getOperation();
  const TargetInfo *target = targetOf(kernel);
  if (!target) {
    return signalPassFailure();
  }
  auto &axes = getAnalysis<AxisInfoAnalysis>();
  // Of a thread when as many warps are resident as can be. Loads that take no
  // more than half of it are in flight together as it is, and more registers
  // would only cost warps (docs/decisions/Tiles.md).
  unsigned ofMostWarps =
      target->processorRegisters / (target->processorWarps * target->lanes);
  unsigned most = 0;
  kernel.walk([&](scf::ForOp loop) {
    if (!isInnermost(loop)) {
      return;
    }
    std::optional<Loads> loads = loadsOf(loop, axes, target->accessBytes);
    if (!loads || loads->count < 2 ||
        loads->registers + loads->carried <= ofMostWarps / 2) {
      return;
    }
    unsigned registers = registersFor(*loads);
    // Warps that are resident then, and what they have in flight.
    unsigned threads = target->processorRegisters / registers;
    bool isEnough = threads * loads->registers * 4 >= target->bytesInFlight;
    if (registers <= target->threadRegisters && isEnough) {
      most = std::max(most, registers);
      reportDecision(loop, [&] {
        return Decision{
            "loop",
            std::to_string(registers) + " registers a thread, for " +
                counted(loads->count, "load") + " in flight together",
            "", "", ""};
      });
    }
  });
  if (most) {
    kernel->setAttr(registersAttr,
                    Builder(&getContext()).getI32IntegerAttr(most));
  }
  markAllAnalysesPreserved();
}

} // namespace nereid::tilegpu
