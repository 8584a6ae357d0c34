//===- PrintAssembly.cpp - Instructions as inline assembly ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"
#include "nereid/Dialect/NV/Transforms/Passes.h"

using namespace mlir;

namespace nereid::nv {

#define GEN_PASS_DEF_PRINTASSEMBLY
#include "nereid/Dialect/NV/Transforms/Passes.h.inc"

/// A zero that only the running kernel knows for one, once a function: a block
/// has less than 2^24 bytes of shared memory.
static Value unknownZero(Operation *user, DenseMap<Region *, Value> &zeros) {
  Region *function =
      user->getParentOfType<FunctionOpInterface>().getCallableRegion();
  Value &zero = zeros[function];
  if (!zero) {
    OpBuilder b = OpBuilder::atBlockBegin(&function->front());
    Type i32 = b.getI32Type();
    Location loc = user->getLoc();
    auto bytes = LLVM::InlineAsmOp::create(
        b, loc, i32, ValueRange(), "mov.u32 $0, %dynamic_smem_size;", "=r",
        /*has_side_effects=*/false, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
        /*operand_attrs=*/ArrayAttr());
    Value by = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(24));
    zero = LLVM::LShrOp::create(b, loc, bytes.getResult(0), by);
  }
  return zero;
}

void printAssembly(ModuleOp module) {
  DenseMap<Region *, Value> zeros;
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<NVDialect>(op->getDialect())) {
      found.push_back(op);
    }
  });
  for (Operation *op : found) {
    if (auto hide = dyn_cast<HideFromAssemblerOp>(op)) {
      OpBuilder b(op);
      hide.replaceAllUsesWith(LLVM::XOrOp::create(b, op->getLoc(), hide.getX(),
                                                  unknownZero(op, zeros))
                                  .getResult());
      op->erase();
      continue;
    }
    bool isPrinted = printMemory(op) || printAsync(op) || printMatrix(op) ||
                     printArithmetic(op);
    assert(isPrinted && "an instruction without assembly");
    (void)isPrinted;
  }
}

namespace {
struct PrintAssembly : impl::PrintAssemblyBase<PrintAssembly> {
  void runOnOperation() override { printAssembly(getOperation()); }
};
} // namespace

} // namespace nereid::nv
