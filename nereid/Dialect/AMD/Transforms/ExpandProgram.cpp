//===- ExpandProgram.cpp - The launch and its place -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Expander.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace nereid::amd {

/// hidden_block_count_x, _y, _z are the first three words of the hidden
/// arguments. Constant memory is address space 4.
static void expandGridSize(GridSizeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value hidden = callIntrinsic(b, loc, "llvm.amdgcn.implicitarg.ptr", pointer);
  Value at = LLVM::GEPOp::create(
      b, loc, pointer, b.getI32Type(), hidden,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(op.getAxis())});
  auto load = LLVM::LoadOp::create(b, loc, b.getI32Type(), at, /*alignment=*/4);
  load.setInvariant(true);
  op.replaceAllUsesWith(load.getResult());
  op.erase();
}

/// The counter runs at 100 MHz on all chips.
static void expandTimer(TimerOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value ticks = callIntrinsic(b, loc, "llvm.readsteadycounter", b.getI64Type());
  Value each =
      LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(10));
  auto time = LLVM::MulOp::create(b, loc, ticks, each);
  time.setOverflowFlags(LLVM::IntegerOverflowFlags::nuw); // for 5,849 years
  op.replaceAllUsesWith(time.getResult());
  op.erase();
}

/// The operand is number | offset << 6 | (size - 1) << 11.
static void expandHardwareRegister(HardwareRegisterOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  uint32_t code =
      op.getNumber() | op.getOffset() << 6 | (op.getSize() - 1) << 11;
  Value operand = LLVM::ConstantOp::create(
      b, loc, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(code)));
  op.replaceAllUsesWith(
      callIntrinsic(b, loc, "llvm.amdgcn.s.getreg", b.getI32Type(), operand));
  op.erase();
}

/// Fences of local memory alone (AMDGPUUsage, "Memory Model Relaxation
/// Annotations"): the release waits for LDS and not for global memory.
static void expandLdsBarrier(LdsBarrierOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto fence = [&](LLVM::AtomicOrdering order) {
    auto made = LLVM::FenceOp::create(b, loc, order, "workgroup");
    made->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(),
                             LLVM::MMRATagAttr::get(b.getContext(),
                                                    "amdgpu-synchronize-as",
                                                    "local"));
  };
  fence(LLVM::AtomicOrdering::release);
  ROCDL::SBarrierOp::create(b, loc);
  fence(LLVM::AtomicOrdering::acquire);
  op.erase();
}

bool expandProgram(Operation *op) {
  if (auto size = dyn_cast<GridSizeOp>(op)) {
    expandGridSize(size);
    return true;
  }
  if (auto timer = dyn_cast<TimerOp>(op)) {
    expandTimer(timer);
    return true;
  }
  if (auto barrier = dyn_cast<LdsBarrierOp>(op)) {
    expandLdsBarrier(barrier);
    return true;
  }
  if (auto reads = dyn_cast<HardwareRegisterOp>(op)) {
    expandHardwareRegister(reads);
    return true;
  }
  return false;
}

} // namespace nereid::amd
