//===- CopyableLoads.cpp - Which loads can be copied ahead ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace nereid::tilegpu {

std::optional<unsigned> copyDimension(tile::LoadAccess load,
                                      const AxisInfoAnalysis &axes,
                                      StringRef &why) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile()) {
    why = type ? "it is volatile" : "it is a scalar";
    return std::nullopt;
  }
  if (load.getOther() && !isPositiveZero(load.getOther())) {
    why = "its 'other' is not 0, and copies fill with zeros";
    return std::nullopt;
  }
  Shape shape = shapeOf(type);
  unsigned bytes = tile::getElementBytes(tile::getElement(type));
  unsigned inner = axes.order(load.getPtr())[0];
  unsigned held = contiguousRegisters(
      layoutOf(type), dimensionShifts(shape)[inner], paddedBits(shape[inner]));
  AccessWidth width =
      axes.accessWidth(load.getPtr(), load.getMask(), inner, 16);
  if (std::min(held, width.elements) * bytes < 4) {
    why = held < width.elements
              ? "a thread holds less than 4 bytes side by side"
          : width.limit == WidthLimit::Mask
              ? "its mask may change within 4 bytes, and copies move no less"
          : width.limit == WidthLimit::Alignment
              ? "its address is not known to be divisible by 4 bytes"
              : "less than 4 bytes lie side by side";
    return std::nullopt;
  }
  return inner;
}

void addSources(Value value, Block &body, SetVector<Operation *> &loads) {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != &body || !seen.insert(next).second) {
      continue;
    }
    if (isa<tile::LoadAccess>(op) && isa<RankedTensorType>(next.getType())) {
      loads.insert(op);
    } else if (tile::isElementwise(op) ||
               isa<ConvertLayoutOp, tile::TransposeOp, tile::ExpandDimsOp,
                   tile::BroadcastOp, tile::ReshapeOp, tile::JoinOp>(op)) {
      work.append(op->operand_begin(), op->operand_end());
    }
  }
}

Operation *writerOf(Block &body, Value pointers) {
  Value root = rootPointer(pointers);
  Operation *writer = nullptr;
  body.walk([&](tile::MemoryAccess access) {
    if (!access.writes()) {
      return WalkResult::advance();
    }
    Value written = rootPointer(access.getPtr());
    if (root && written && root != written) {
      return WalkResult::advance();
    }
    writer = access;
    return WalkResult::interrupt();
  });
  return writer;
}

bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk(
                  [](LoopLikeOpInterface) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

void reportStays(tile::LoadAccess load, const Twine &reason,
                 const Twine &hint) {
  reportDecision(load, [&] {
    return Decision{"load", "the loop waits for it in its own iteration",
                    "copied ahead", reason.str(), hint.str()};
  });
}

void reportStages(scf::ForOp loop, const StagesChosen &s) {
  reportDecision(loop, [&] {
    Decision d{"loop", "", "", "", ""};
    d.chosen = s.distance ? counted(s.copies, "load") + " copied " +
                                counted(s.distance, "iteration") + " ahead, " +
                                counted(s.distance + 1, "stage") + " of " +
                                byteCount(s.slotBytes)
                          : "its loads wait in their own iteration";
    if (s.asked <= 1) {
      d.rejected = "copied ahead";
      d.reason = "num_stages is " + std::to_string(s.asked);
      d.hint = "num_stages=2 or more";
    } else if (s.distance + 1 < s.asked) {
      d.rejected = counted(s.asked, "stage");
      d.reason = "a block has " + byteCount(s.sharedLimit) +
                 " of shared memory, and one more stage needs " +
                 byteCount(s.needed);
      d.hint = "smaller blocks, or a smaller num_stages";
    }
    return d;
  });
}

void reportLoopsNotSeen(func::FuncOp kernel, const TargetInfo &target) {
  if (!tellsDecisions(kernel.getContext())) {
    return;
  }
  kernel.walk([&](LoopLikeOpInterface loop) {
    bool hasLoad = false;
    for (Region *region : loop.getLoopRegions()) {
      hasLoad |= llvm::any_of(region->front(), [](Operation &op) {
        return isa<tile::LoadAccess>(op) &&
               isa<RankedTensorType>(op.getResult(0).getType());
      });
    }
    auto counted = dyn_cast<scf::ForOp>(*loop);
    std::string reason = !counted ? "a while loop may end after any iteration"
                         : !target.hasAsyncCopies
                             ? target.name + " has no asynchronous copies"
                             : "";
    if (hasLoad && !reason.empty()) {
      recordDecision(loop.getLoc(),
                     {"loop", "its loads wait in their own iteration",
                      "copied ahead", reason,
                      counted ? "" : "for i in range(n), where n is known"});
    }
  });
}

} // namespace nereid::tilegpu
