//===- TileToCPU.cpp - Tile IR to loops of short vectors ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TileToCPU.h"

#include "nereid/Conversion/Lanes/KernelConversion.h"
#include "nereid/Conversion/TileToCPU/Emitter.h"
#include "nereid/Conversion/TileToCPU/SplitRows.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace nereid {

void registerTileToCPUDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
              ub::UBDialect, vector::VectorDialect, tile::TileDialect>();
}

/// Nests have dimensions: numbers that are joined are blocks of one element
/// that follow each other.
static void joinScalarsAsBlocks(func::FuncOp kernel) {
  SmallVector<tile::JoinOp> joins;
  kernel.walk([&](tile::JoinOp join) {
    if (!isa<RankedTensorType>(join.getLhs().getType())) {
      joins.push_back(join);
    }
  });
  for (tile::JoinOp join : joins) {
    OpBuilder b(join);
    auto one = RankedTensorType::get({1}, join.getLhs().getType());
    Value lhs = tile::SplatOp::create(b, join.getLoc(), one, join.getLhs()),
          rhs = tile::SplatOp::create(b, join.getLoc(), one, join.getRhs());
    join.replaceAllUsesWith(
        tile::CatOp::create(b, join.getLoc(), join.getType(), lhs, rhs, 0)
            .getResult());
    join.erase();
  }
}

Expected<CpuKernelInfo>
convertTileToCPU(ModuleOp module, const cpu::CpuTarget &target, bool fpFusion) {
  auto kernel = tile::findKernel(module);
  if (!kernel.ok()) {
    return kernel.status();
  }
  lanes::loadDialects(module.getContext(), registerTileToCPUDialects);
  joinScalarsAsBlocks(*kernel);
  if (tocpu::splitRows(*kernel)) {
    PassManager again(module.getContext());
    OpPassManager &passes = again.nest<func::FuncOp>();
    passes.addPass(tile::createSimplifyTiles());
    passes.addPass(createLoopInvariantCodeMotionPass());
    passes.addPass(createCSEPass());
    if (failed(again.run(module))) {
      return Failure{
          ErrorCode::Internal, "tiles of one row do not simplify", {}};
    }
  }
  return tocpu::LoopEmitter(*kernel, target, fpFusion).run();
}

tile::ExpandMathOptions mathOptionsOf(const cpu::CpuTarget &target) {
  tile::ExpandMathOptions options;
  options.hasFma = target.hasFma;
  options.hasScalef = target.hasMaskRegisters;
  return options;
}

} // namespace nereid
