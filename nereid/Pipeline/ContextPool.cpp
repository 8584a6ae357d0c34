//===- ContextPool.cpp - MLIR contexts, kept warm ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/ContextPool.h"

#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/CPU/CpuTarget.h"
#include "nereid/Target/CodeEmission.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid {

static constexpr unsigned maxUses = 256;
static constexpr size_t maxIdle = 8;

std::unique_ptr<MLIRContext> makeCompilerContext() {
  DialectRegistry registry;
  registry
      .insert<tile::TileDialect, arith::ArithDialect, cf::ControlFlowDialect,
              func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
              scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  target::registerTranslations(registry);
  nvptx::registerTranslation(registry);
  amdgpu::registerTranslation(registry);
  registerTileToCPUDialects(registry);
  registerTileGPUToLLVMDialects(registry);
  nvptx::registerTargets(registry);
  amdgpu::registerTargets(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

ContextPool &ContextPool::shared() {
  // Never destroyed: threads may compile while the process ends.
  static auto *pool = new ContextPool;
  return *pool;
}

ContextPool::Lease ContextPool::take() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      Entry entry = std::move(idle.back());
      idle.pop_back();
      return Lease(*this, std::move(entry));
    }
  }
  return Lease(*this, Entry{makeCompilerContext(), 0});
}

void ContextPool::giveBack(Entry entry) {
  if (++entry.uses >= maxUses) {
    return;
  }
  std::lock_guard lock(mutex);
  if (idle.size() < maxIdle) {
    idle.push_back(std::move(entry));
  }
}

} // namespace nereid
