//===- TileToCPU.cpp - Tile IR to loops of short vectors ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TileToCPU.h"

#include "nereid/Conversion/TileToCPU/Emitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid {

void registerTileToCPUDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
              ub::UBDialect, vector::VectorDialect, tile::TileDialect>();
}

Expected<CpuKernelInfo> convertTileToCPU(ModuleOp module,
                                         const CpuTargetInfo &target) {
  func::FuncOp kernel;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(tile::kernelAttr)) {
      if (kernel) {
        return {ErrorCode::Internal, "a module holds more than one kernel"};
      }
      kernel = function;
    }
  }
  if (!kernel || kernel.isExternal()) {
    return {ErrorCode::Internal, "a module holds no kernel"};
  }
  if (!kernel.getBody().hasOneBlock()) {
    return {ErrorCode::Internal, "the body of kernel '" +
                                     kernel.getSymName().str() +
                                     "' is not one structured block"};
  }
  DialectRegistry registry;
  registerTileToCPUDialects(registry);
  MLIRContext *context = module.getContext();
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames()) {
    context->getOrLoadDialect(name);
  }
  return tocpu::KernelEmitter(kernel, target).run();
}

} // namespace nereid
