//===- Dialects.cpp - What the conversion makes of tiles ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Dialect/NV/IR/NV.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace nereid {

void registerTileGPUToLLVMDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, nv::NVDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect,
                  tile::TileDialect, tilegpu::TileGPUDialect>();
}

ArrayRef<StringRef> machineDialects() {
  static constexpr StringRef names[] = {"nv", "nvvm"};
  return names;
}

} // namespace nereid
