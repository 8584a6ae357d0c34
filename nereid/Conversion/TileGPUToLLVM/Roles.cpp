//===- Roles.cpp - Rings between warps that copy and warps that compute ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/LoweringTable.h"

using namespace mlir;

namespace nereid::togpu {

/// A slot's barriers: bytes from its beginning on.
static constexpr unsigned fullBarrier = 0, emptyBarrier = 8;

static Value barrierAddress(KernelEmitter &e, Value barriers, Value slot,
                            unsigned which) {
  return arith::AddIOp::create(e.b, e.loc, e.slotAddress(barriers, slot),
                               e.ops().i32(which));
}

static Value isThread(KernelEmitter &e, Value number, unsigned which) {
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, number,
                               e.ops().i32(which));
}

static void emitInit(KernelEmitter &e, tilegpu::InitSlotsOp op) {
  Value isFirst = isThread(e, e.thread, 0);
  for (Value argument : op->getParentOfType<func::FuncOp>().getArguments()) {
    if (isa<tilegpu::TensorMapType>(argument.getType())) {
      e.machine->prefetchMap(e.scalar(argument), isFirst);
    }
  }
  for (Value barriers : op.getBarriers()) {
    auto type = cast<tilegpu::BufferType>(barriers.getType());
    Value start = e.sharedAddress(
        *barriers.getDefiningOp<tilegpu::AllocOp>().getOffset());
    for (unsigned slot = 0; slot < type.getSlots(); ++slot) {
      for (auto [which, arrivals] :
           {std::pair(fullBarrier, 1u), std::pair(emptyBarrier, e.warps)}) {
        Value address = arith::AddIOp::create(
            e.b, e.loc, start, e.ops().i32(slot * type.getSlotBytes() + which));
        e.machine->initBarrier(address, arrivals, isFirst);
      }
    }
  }
  e.machine->publishBarriers();
  e.machine->barrier(e.ordersGlobal);
}

static void emitIsProducer(KernelEmitter &e, tilegpu::IsProducerOp op) {
  Value first = e.ops().i32(e.warps);
  e.scalars[op.getResult()] =
      op.getOne() ? isThread(e, e.thread, e.warps * e.target.lanes)
                  : arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                          e.warp, first)
                        .getResult();
}

static void emitSetRegisters(KernelEmitter &e, tilegpu::SetRegistersOp op) {
  e.machine->setRegisters(op.getCount(), op.getIncrease());
}

static void emitFill(KernelEmitter &e, tilegpu::FillSlotOp op) {
  // A barrier that is new has the phase in front of its first one after it.
  Value parity = arith::XOrIOp::create(e.b, e.loc, e.scalar(op.getPhase()),
                                       e.ops().i32(1));
  e.machine->waitBarrier(
      barrierAddress(e, op.getBarriers(), op.getSlot(), emptyBarrier), parity);
  e.machine->expectBytes(
      barrierAddress(e, op.getBarriers(), op.getSlot(), fullBarrier),
      op.getBytes());
}

static void emitCopyTile(KernelEmitter &e, tilegpu::CopyTileOp op) {
  tilegpu::BufferType buffer = op.getBuffer().getType();
  Value start = e.slotAddress(op.getBuffer(), op.getSlot());
  Value barrier =
      barrierAddress(e, op.getBarriers(), op.getSlot(), fullBarrier);
  unsigned bytes = tile::getElementBytes(buffer.getElementType());
  std::vector<uint32_t> offsets = tilegpu::offsetsOfIndex(buffer);
  ArrayRef<int64_t> shape = buffer.getShape();
  // A panel is a row of 128 bytes, for all rows.
  unsigned inner = offsets[0] == 1 ? shape.size() - 1 : 0;
  unsigned innerShift = inner ? 0 : paddedBits(shape[1]);
  unsigned panel = tilegpu::wavefrontBytes / bytes;
  SmallVector<Value> coordinates;
  for (Value one : op.getCoordinates()) {
    coordinates.push_back(e.scalar(one));
  }
  Value first = coordinates[0];
  for (unsigned at = 0; at < shape[inner]; at += panel) {
    uint32_t offset = bytesOf(at << innerShift, offsets, bytes)[0];
    coordinates[0] =
        at ? arith::AddIOp::create(e.b, e.loc, first, e.ops().i32(at))
                 .getResult()
           : first;
    Value to = arith::AddIOp::create(e.b, e.loc, start, e.ops().i32(offset));
    e.machine->copyBox(to, e.scalar(op.getMap()), coordinates, barrier);
  }
}

static void emitWaitSlot(KernelEmitter &e, tilegpu::WaitSlotOp op) {
  e.machine->waitBarrier(
      barrierAddress(e, op.getBarriers(), op.getSlot(), fullBarrier),
      e.scalar(op.getPhase()));
}

static void emitRelease(KernelEmitter &e, tilegpu::ReleaseSlotOp op) {
  Value one = e.andOf(isThread(e, e.lane, 0), e.scalar(op.getCondition()));
  e.machine->arriveAtBarrier(
      barrierAddress(e, op.getBarriers(), op.getSlot(), emptyBarrier), one);
}

static Value groupOf(KernelEmitter &e) {
  return arith::DivUIOp::create(e.b, e.loc, e.warp,
                                e.ops().i32(e.target.warpsOfGroup()));
}

static unsigned threadsOfTwoGroups(KernelEmitter &e) {
  return 2 * e.target.warpsOfGroup() * e.target.lanes;
}

static void emitTakeTurn(KernelEmitter &e, tilegpu::TakeTurnOp op) {
  e.machine->takeTurn(groupOf(e), threadsOfTwoGroups(e));
}

static void emitGiveTurn(KernelEmitter &e, tilegpu::GiveTurnOp op) {
  unsigned groups = e.warps / e.target.warpsOfGroup();
  Value isLast = isThread(e, groupOf(e), groups - 1);
  if (!op.getFirst()) {
    Value next = arith::AddIOp::create(e.b, e.loc, groupOf(e), e.ops().i32(1));
    Value turn =
        arith::SelectOp::create(e.b, e.loc, isLast, e.ops().i32(0), next);
    e.machine->giveTurn(turn, threadsOfTwoGroups(e));
    return;
  }
  auto branch = scf::IfOp::create(e.b, e.loc, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  e.machine->giveTurn(e.ops().i32(0), threadsOfTwoGroups(e));
}

void addRoleLowerings(LoweringTable &table) {
  table.add<tilegpu::InitSlotsOp, emitInit>();
  table.add<tilegpu::IsProducerOp, emitIsProducer>();
  table.add<tilegpu::SetRegistersOp, emitSetRegisters>();
  table.add<tilegpu::FillSlotOp, emitFill>();
  table.add<tilegpu::CopyTileOp, emitCopyTile>();
  table.add<tilegpu::WaitSlotOp, emitWaitSlot>();
  table.add<tilegpu::ReleaseSlotOp, emitRelease>();
  table.add<tilegpu::TakeTurnOp, emitTakeTurn>();
  table.add<tilegpu::GiveTurnOp, emitGiveTurn>();
}

} // namespace nereid::togpu
