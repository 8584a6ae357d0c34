//===- NvptxTargetTest.cpp - What passes know of a target -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include <gtest/gtest.h>

using namespace nereid;
using tilegpu::OperandKind;

static tilegpu::TargetInfo infoOf(const std::string &name) {
  return nvptx::resolve(name)->info;
}

TEST(NvptxTarget, MatrixInstructionsByArchitecture) {
  EXPECT_TRUE(infoOf("sm_75").matrix.empty());
  EXPECT_FALSE(infoOf("sm_80").findMatrix(OperandKind::F8, 1));
  ASSERT_TRUE(infoOf("sm_89").findMatrix(OperandKind::F8, 1));
  EXPECT_EQ(infoOf("sm_90").warpsOfGroup(), 0u);
  EXPECT_EQ(infoOf("sm_100a").warpsOfGroup(), 0u);
  tilegpu::TargetInfo hopper = infoOf("sm_90a");
  EXPECT_EQ(hopper.warpsOfGroup(), 4u);
  EXPECT_FALSE(hopper.findMatrix(OperandKind::F64, 4));
  const tilegpu::MatrixInstruction *half =
      hopper.findMatrix(OperandKind::F16, 4);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->m, 64u);
  // 256 bits of an operand along K, whatever its elements are.
  EXPECT_EQ(hopper.findMatrix(OperandKind::TF32, 1)->k, 8u);
  EXPECT_EQ(hopper.findMatrix(OperandKind::TF32x3, 1)->cycles,
            3 * hopper.findMatrix(OperandKind::TF32, 1)->cycles);
  EXPECT_FALSE(infoOf("sm_75").findMatrix(OperandKind::TF32x3, 1));
  EXPECT_EQ(hopper.findMatrix(OperandKind::BF16, 1)->k, 16u);
  EXPECT_EQ(hopper.findMatrix(OperandKind::I8, 1)->k, 32u);
}

TEST(NvptxTarget, InstructionsByArchitecture) {
  tilegpu::TargetInfo volta = infoOf("sm_70"), turing = infoOf("sm_75"),
                      ampere = infoOf("sm_80"), hopper = infoOf("sm_90");
  EXPECT_FALSE(volta.hasMatrixLoads);
  EXPECT_TRUE(turing.hasMatrixLoads);
  EXPECT_FALSE(turing.hasAsyncCopies);
  EXPECT_TRUE(ampere.hasAsyncCopies);
  EXPECT_FALSE(ampere.hasBulkPrefetch);
  EXPECT_TRUE(hopper.hasBulkPrefetch);
  EXPECT_TRUE(hopper.hasBf16Atomics);
}

TEST(NvptxTarget, KernelsMayNameEveryArchitecture) {
  mlir::DialectRegistry registry;
  nvptx::registerTargets(registry);
  mlir::MLIRContext context(registry);
  auto *dialect = context.getOrLoadDialect<tilegpu::TileGPUDialect>();
  for (const std::string &name : nvptx::architectures()) {
    const tilegpu::TargetInfo *target = dialect->findTarget(name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ(1u << target->laneBits(), target->lanes) << name;
    EXPECT_LE(target->sharedLimit, target->processorShared) << name;
    EXPECT_LE(target->mostWarps, target->processorWarps) << name;
  }
  EXPECT_FALSE(dialect->findTarget("sm_91"));
  EXPECT_EQ(dialect->getTargets().size(), nvptx::architectures().size());
}
