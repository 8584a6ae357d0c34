//===- CrowdedLoopsTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/CrowdedLoops.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

#include <memory>
#include <string>

using namespace nereid;

/// Is a loop crowded that carries one value of `type` where a lane has 4
/// registers?
static bool isCrowded(const std::string &type) {
  std::string text = "define amdgpu_kernel void @k(" + type + " %a) {\n" +
                     "entry:\n  br label %loop\nloop:\n  %b = phi " + type +
                     " [ %a, %entry ], [ %b, %loop ]\n  br label %loop\n}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  return amdgpu::hasCrowdedLoops(*module, 4);
}

TEST(CrowdedLoops, carryTwiceALanesRegisters) {
  EXPECT_TRUE(isCrowded("<8 x float>"));
  EXPECT_FALSE(isCrowded("<7 x float>"));
  EXPECT_TRUE(isCrowded("<4 x double>"));
  EXPECT_TRUE(isCrowded("<16 x half>"));
  EXPECT_FALSE(isCrowded("<8 x i1>"));
}

TEST(CrowdedLoops, theThirdAllocatorIsReplaced) {
  amdgpu::BasicAllocation allocation;
  const char *title = "Greedy Register Allocator";
  EXPECT_FALSE(allocation.replace(title));
  EXPECT_FALSE(allocation.replace("Virtual Register Rewriter"));
  EXPECT_FALSE(allocation.replace(title));
  std::unique_ptr<llvm::Pass> pass(allocation.replace(title));
  ASSERT_TRUE(pass);
  EXPECT_EQ(pass->getPassName(), "Basic Register Allocator");
}
