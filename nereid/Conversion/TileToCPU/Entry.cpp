//===- Entry.cpp - The function around the programs -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   void kernel_entry(ptr self, ptr frame, i64 begin, i64 end)
//
// Arguments are read once, ids advance by additions. Field offsets are those
// of nereid/ABI/LaunchABI.h.
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/LaunchABI.h"
#include "nereid/Analysis/RootPointer.h"
#include "nereid/Conversion/Lanes/KernelConversion.h"
#include "nereid/Conversion/TileToCPU/Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

LoopEmitter::LoopEmitter(func::FuncOp kernel, const cpu::CpuTarget &target,
                         bool fpFusion)
    : b(kernel.getContext()), loc(kernel.getLoc()), target(target),
      laneTarget{.hasF16c = target.hasF16c, .fpFusion = fpFusion},
      ranges(kernel), kernel(kernel), regions(kernel) {}

void LoopEmitter::fail(Operation *op, const Twine &message) {
  if (!failure) {
    failure = cannotRun("cpu", op, message);
  }
}

Value LoopEmitter::frameField(int64_t offset, Type type) {
  return LLVM::LoadOp::create(b, loc, type, ops().byteOffset(frame, offset));
}

void LoopEmitter::createEntry() {
  Type ptrType = LLVM::LLVMPointerType::get(b.getContext());
  Type i64Type = b.getI64Type();
  b.setInsertionPoint(kernel);
  entry = func::FuncOp::create(
      b, loc, (kernel.getSymName() + "_entry").str(),
      b.getFunctionType({ptrType, ptrType, i64Type, i64Type}, {}));
  entryBlock = entry.addEntryBlock();
  b.setInsertionPointToEnd(entryBlock);
  frame = entryBlock->getArgument(1);
  for (int axis = 0; axis < 3; ++axis) {
    grid.push_back(
        frameField(offsetof(LaunchFrame, grid) + 4 * axis, b.getI32Type()));
  }
  scratchBase = frameField(offsetof(LaunchFrame, scratch), ptrType);
  services = frameField(offsetof(LaunchFrame, services), ptrType);
  Value flags = frameField(offsetof(LaunchFrame, flags), b.getI32Type());
  LaneOps ops = this->ops();
  Value bit = arith::AndIOp::create(b, loc, flags, ops.i32(StreamingStores));
  streaming =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, ops.i32(0));
  // The upper bits of the flags are zero.
  opaqueTrue = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, flags,
                                     ops.i32(0));
  opaqueZero = arith::ExtUIOp::create(
      b, loc, b.getI64Type(),
      arith::ShRUIOp::create(b, loc, flags, ops.i32(31)));
}

void LoopEmitter::loadArguments() {
  Type ptrType = LLVM::LLVMPointerType::get(b.getContext());
  Value slots = frameField(offsetof(LaunchFrame, arguments), ptrType);
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = laneType(argument.getType());
    Value slot = ops().byteOffset(slots, 8 * argument.getArgNumber());
    Value value;
    if (type.isInteger(1)) {
      Value byte = LLVM::LoadOp::create(b, loc, b.getI8Type(), slot);
      value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte,
                                    ops().integer(b.getI8Type(), 0));
    } else {
      value = LLVM::LoadOp::create(b, loc, type, slot);
    }
    scalars[argument] = value;
  }
}

void LoopEmitter::emitProgramLoop() {
  Value begin = entryBlock->getArgument(2), end = entryBlock->getArgument(3);
  LaneOps ops = this->ops();
  auto wide = [&](Value value) {
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
  };
  auto narrow = [&](Value value) {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), value);
  };
  // The first program's ids by division, the others' by counting.
  Value g0 = wide(grid[0]), g1 = wide(grid[1]);
  Value row = arith::DivUIOp::create(b, loc, begin, g0);
  Value x = narrow(arith::RemUIOp::create(b, loc, begin, g0));
  Value y = narrow(arith::RemUIOp::create(b, loc, row, g1));
  Value z = narrow(arith::DivUIOp::create(b, loc, row, g1));
  scf::ForOp loop = createFor(begin, end, ops.i64(1), {x, y, z});
  programId.assign(loop.getRegionIterArgs().begin(),
                   loop.getRegionIterArgs().end());
  for (int axis = 0; callsServices && axis < 3; ++axis) {
    LLVM::StoreOp::create(
        b, loc, programId[axis],
        ops.byteOffset(frame, offsetof(LaunchFrame, programId) + 4 * axis));
  }
  emitNextIds();
  Block *body = loop.getBody();
  setTop({body, body->end()});
  emitBlock(&kernel.getBody().front(), {}, {});
  b.setInsertionPointToEnd(body);
  yield(nextProgramId);
}

void LoopEmitter::emitNextIds() {
  LaneOps ops = this->ops();
  Value one = ops.i32(1), zero = ops.i32(0);
  Value nextX = ops.add(programId[0], one);
  Value wrapX =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, nextX, grid[0]);
  Value bumpY = ops.add(programId[1], one);
  Value wrapY =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bumpY, grid[1]);
  Value nextY = arith::SelectOp::create(
      b, loc, wrapX, arith::SelectOp::create(b, loc, wrapY, zero, bumpY),
      programId[1]);
  Value both = arith::AndIOp::create(b, loc, wrapX, wrapY);
  Value nextZ = arith::SelectOp::create(
      b, loc, both, ops.add(programId[2], one), programId[2]);
  nextX = arith::SelectOp::create(b, loc, wrapX, zero, nextX);
  nextProgramId = {nextX, nextY, nextZ};
}

void LoopEmitter::finishEntry() {
  b.setInsertionPointToEnd(entryBlock);
  if (usesStreaming) {
    // Streaming stores are weakly ordered; the caller will signal completion.
    auto branch = scf::IfOp::create(b, loc, streaming, false);
    OpBuilder then = branch.getThenBodyBuilder();
    LLVM::CallIntrinsicOp::create(
        then, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
  }
  func::ReturnOp::create(b, loc);
}

/// Which arguments are written, and which of those are never read.
void LoopEmitter::surveyMemory(CpuKernelInfo &info) {
  SmallVector<bool> read(kernel.getNumArguments());
  info.writtenParameters.assign(kernel.getNumArguments(), false);
  auto mark = [&](Value pointer, auto &&set) {
    if (auto sink = cast_or_null<BlockArgument>(rootPointer(pointer))) {
      return set(sink.getArgNumber());
    }
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      set(i);
    }
  };
  kernel.walk([&](Operation *op) {
    auto access = dyn_cast<tile::MemoryAccess>(op);
    if (access && access.reads()) {
      mark(access.getPtr(), [&](unsigned i) { read[i] = true; });
    }
    if (access && access.writes()) {
      mark(access.getPtr(),
           [&](unsigned i) { info.writtenParameters[i] = true; });
    }
    callsServices |= isa<tile::PrintOp, tile::AssertOp, tile::CheckBoundsOp,
                         tile::CheckNanOp, tile::RelaxOp>(op);
  });
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (!isa<tile::PtrType>(argument.getType())) {
      info.writtenParameters[i] = false;
    }
    streamable[argument] = info.writtenParameters[i] && !read[i];
  }
}

bool LoopEmitter::canStream(tile::StoreAccess store) const {
  Value sink = rootPointer(store.getPtr());
  return sink && streamable.lookup(sink) && !fetched.contains(store);
}

Expected<CpuKernelInfo> LoopEmitter::run() {
  CpuKernelInfo info;
  surveyMemory(info);
  createEntry();
  loadArguments();
  emitProgramLoop();
  finishEntry();
  if (failure) {
    return *failure;
  }
  info.entry = entry.getSymName().str();
  info.scratchBytes = scratch.bytes();
  kernel.erase();
  return info;
}

} // namespace nereid::tocpu
