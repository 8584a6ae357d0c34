//===- Hazards.cpp - Where the threads of a program must meet -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/Hazards.h"

using namespace mlir;

namespace nereid {

/// Are the threads to meet between what is pending and what comes? If not, the
/// pairs stay unordered.
bool HazardWalk::mustMeet(const Accesses &before, const Accesses &after) {
  if (before.global.conflictsWith(after.global) ||
      conflict(before.shared, after.shared)) {
    return true;
  }
  leaveUnordered(before.shared, after.shared);
  return false;
}

/// What comes next has begun: the threads have met, if they must.
void HazardWalk::reach(Flow &flow, const Accesses &next,
                       llvm::function_ref<void()> place) {
  if (mustMeet(flow.pending, next)) {
    place();
    flow.meet();
  }
  if (flow.through) {
    flow.exposed.add(next);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

ArrayRef<ScratchPiece> HazardWalk::piecesOf(Operation *op) {
  auto [found, isNew] = pieces.try_emplace(op);
  if (isNew) {
    SmallVector<ScratchPiece> list = scratchOf(op);
    found->second.assign(list.begin(), list.end());
  }
  return found->second;
}

void HazardWalk::write(Flow &flow, Operation *owner, unsigned piece,
                       llvm::function_ref<void()> place) {
  Accesses written;
  written.shared.add(spanOf(owner, piece));
  reach(flow, written, place);
}

void HazardWalk::visitTrips(Operation *op, Flow &flow) {
  ArrayRef<ScratchPiece> pieces = piecesOf(op);
  for (size_t first = 0, end; first < pieces.size(); first = end) {
    for (end = first;
         end < pieces.size() && pieces[end].trip == pieces[first].trip; ++end) {
      write(flow, op, end, [&] { placeBeforePiece(op, end); });
    }
    flow.meet();
    for (size_t i = first; i < end; ++i) {
      flow.pending.shared.add(spanOf(op, i));
    }
  }
}

void HazardWalk::visit(Operation *op, Flow &flow) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return visitFor(loop, flow);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return visitIf(branch, flow);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return visitWhile(loop, flow);
  }
  if (beginsWithBarrier(op)) {
    flow.meet();
  }
  if (GlobalAccesses accesses = GlobalAccesses::of(op); !accesses.empty()) {
    reach(flow, {accesses, {}}, [&] { placeBefore(op); });
    flow.pending.global.add(accesses);
  }
  if (isa<tilegpu::AllocOp>(op)) {
    // Later writers place their own barrier.
    write(flow, op, 0, [&] { placeBefore(op); });
  }
  if (auto free = dyn_cast<tilegpu::FreeOp>(op)) {
    flow.pending.shared.add(spanOf(free.getBuffer().getDefiningOp(), 0));
  }
  visitTrips(op, flow);
  if (endsWithBarrier(op)) {
    flow.meet();
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void HazardWalk::visit(Block &block, Flow &flow) {
  // Barriers are inserted meanwhile.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    visit(&op, flow);
  }
}

/// A part of an iteration of `loop`, as others see it.
HazardWalk::Flow HazardWalk::visitAlone(Block &block, Operation *loop) {
  Flow flow;
  visit(block, flow);
  flow.pending.global.leave(loop);
  flow.exposed.global.leave(loop);
  return flow;
}

void HazardWalk::visitIf(scf::IfOp branch, Flow &flow) {
  Flow other = flow;
  visit(branch.getThenRegion().front(), flow);
  if (!branch.getElseRegion().empty()) {
    visit(branch.getElseRegion().front(), other);
  }
  flow.pending.add(other.pending);
  flow.exposed.add(other.exposed);
  flow.through |= other.through;
  forget(flow.pending.shared, flow.exposed.shared);
}

void HazardWalk::visitFor(scf::ForOp loop, Flow &flow) {
  Block &block = *loop.getBody();
  Flow body = visitAlone(block, loop);
  if (mustMeet(body.pending, body.exposed)) {
    placeAtEnd(block);
    body.meet();
  }
  // There may be no iteration at all: what was pending stays so.
  reach(flow, body.exposed, [&] { placeBefore(loop); });
  flow.pending.add(body.pending);
  forget(flow.pending.shared, flow.exposed.shared);
}

void HazardWalk::visitWhile(scf::WhileOp loop, Flow &flow) {
  Flow before = visitAlone(loop.getBefore().front(), loop);
  Flow after = visitAlone(loop.getAfter().front(), loop);
  if (mustMeet(before.pending, after.exposed)) {
    placeAtStart(loop.getAfter().front());
    after.exposed.clear();
    after.through = false;
  }
  // An iteration: both, one after the other.
  Flow body = before;
  if (before.through) {
    body.exposed.add(after.exposed);
  }
  if (!after.through) {
    body.pending.clear();
  }
  body.pending.add(after.pending);
  body.through = before.through && after.through;
  if (mustMeet(body.pending, body.exposed)) {
    placeAtEnd(loop.getAfter().front());
    body.meet();
  }
  reach(flow, body.exposed, [&] { placeBefore(loop); });
  // Control leaves after the first region.
  if (!before.through) {
    flow.meet();
  }
  flow.pending.add(before.pending);
  if (before.through) {
    flow.pending.add(body.pending);
  }
  forget(flow.pending.shared, flow.exposed.shared);
}

void HazardWalk::run(func::FuncOp kernel) {
  Flow flow;
  visit(kernel.getBody().front(), flow);
}

} // namespace nereid
