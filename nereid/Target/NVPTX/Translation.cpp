//===- Translation.cpp - What `nv` says of assembly, in LLVM IR -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute of an llvm.inline_asm becomes one of the call in LLVM IR, where
// ProductLoops finds it after LLVM's passes.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/Passes.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "llvm/IR/Instructions.h"

using namespace mlir;

namespace nereid {

namespace {
struct AssemblyTranslation : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult amendOperation(Operation *,
                               ArrayRef<llvm::Instruction *> instructions,
                               NamedAttribute attribute,
                               LLVM::ModuleTranslation &) const override {
    if (attribute.getName() != nv::warpgroupProductAttr) {
      return success();
    }
    for (llvm::Instruction *instruction : instructions) {
      if (auto *call = dyn_cast<llvm::CallInst>(instruction)) {
        call->addFnAttr(
            llvm::Attribute::get(call->getContext(), nv::warpgroupProductAttr));
      }
    }
    return success();
  }
};
} // namespace

void nvptx::registerTranslation(DialectRegistry &registry) {
  registry.insert<nv::NVDialect>();
  registry.addExtension(+[](MLIRContext *, nv::NVDialect *dialect) {
    dialect->addInterfaces<AssemblyTranslation>();
  });
}

} // namespace nereid
