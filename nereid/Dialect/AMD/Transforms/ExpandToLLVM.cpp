//===- ExpandToLLVM.cpp - Instructions as LLVM has them -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Expander.h"
#include "nereid/Dialect/AMD/Transforms/Passes.h"

using namespace mlir;

namespace nereid::amd {

#define GEN_PASS_DEF_EXPANDTOLLVM
#include "nereid/Dialect/AMD/Transforms/Passes.h.inc"

Value callIntrinsic(OpBuilder &b, Location loc, StringRef name, Type result,
                    ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

void expandToLLVM(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<AMDDialect>(op->getDialect())) {
      found.push_back(op);
    }
  });
  for (Operation *op : found) {
    bool isExpanded = expandMemory(op) || expandArithmetic(op) ||
                      expandMatrix(op) || expandProgram(op);
    assert(isExpanded && "an instruction that LLVM has no form for");
    (void)isExpanded;
  }
}

namespace {
struct ExpandToLLVM : impl::ExpandToLLVMBase<ExpandToLLVM> {
  void runOnOperation() override { expandToLLVM(getOperation()); }
};
} // namespace

} // namespace nereid::amd
