//===- Instructions.cpp - Whose instructions a target runs ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Instructions.h"
#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace nereid {

namespace togpu {

static ArrayRef<InstructionSet> instructionSets() {
  static const InstructionSet sets[] = {nvInstructionSet(),
                                        amdInstructionSet()};
  return sets;
}

const InstructionSet *instructionsOf(const tilegpu::TargetInfo &target) {
  for (const InstructionSet &set : instructionSets()) {
    if (set.name == target.instructions) {
      return &set;
    }
  }
  return nullptr;
}

} // namespace togpu

void registerTileGPUToLLVMDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  ub::UBDialect, tile::TileDialect, tilegpu::TileGPUDialect>();
  for (const togpu::InstructionSet &set : togpu::instructionSets()) {
    set.registerDialects(registry);
  }
}

ArrayRef<StringRef> machineDialects() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> all;
    for (const togpu::InstructionSet &set : togpu::instructionSets()) {
      all.insert(all.end(), set.dialects.begin(), set.dialects.end());
    }
    return all;
  }();
  return names;
}

} // namespace nereid
