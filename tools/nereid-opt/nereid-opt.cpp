//===- nereid-opt.cpp - mlir-opt for Nereid's dialects and passes ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Conversion/TileToTileGPU/Passes.h"
#include "nereid/Dialect/AMD/IR/AMD.h"
#include "nereid/Dialect/AMD/Transforms/Passes.h"
#include "nereid/Dialect/NV/IR/NV.h"
#include "nereid/Dialect/NV/Transforms/Passes.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/Dialect/Tile/testing/OtherAccesses.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"
#include "nereid/Dialect/TileGPU/Transforms/Passes.h"
#include "nereid/Pipeline/GpuPipeline.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"
#include "tools/nereid-opt/ToyTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<nereid::tile::TileDialect, nereid::tile::testing::OtherDialect,
              nereid::tilegpu::TileGPUDialect, nereid::nv::NVDialect,
              mlir::NVVM::NVVMDialect, nereid::amd::AMDDialect,
              mlir::ROCDL::ROCDLDialect, mlir::arith::ArithDialect,
              mlir::func::FuncDialect, mlir::math::MathDialect,
              mlir::scf::SCFDialect, mlir::ub::UBDialect,
              mlir::vector::VectorDialect, mlir::LLVM::LLVMDialect>();
  nereid::nvptx::registerTargets(registry);
  nereid::amdgpu::registerTargets(registry);
  nereid::registerToyTarget(registry);

  mlir::registerTransformsPasses();
  nereid::tile::registerTilePasses();
  nereid::tile::registerTilePipelines();
  nereid::tile::registerExpandMathPass();
  nereid::registerTileToTileGPUPasses();
  nereid::tilegpu::registerTileGPUPasses();
  nereid::registerTileGPUToLLVMPasses();
  nereid::registerGpuPipelines();
  nereid::nv::registerNVPasses();
  nereid::amd::registerAMDPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Nereid's optimiser driver\n", registry));
}
