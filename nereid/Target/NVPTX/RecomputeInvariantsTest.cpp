//===- RecomputeInvariantsTest.cpp ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/RecomputeInvariants.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;

/// A loop that carries `sums` words and loads from `rows` rows, each at an
/// address of a product and a sum that it does not change.
static std::string rowsOf(unsigned sums, unsigned rows) {
  std::string before, phis, body, after;
  for (unsigned i = 0; i < rows; ++i) {
    std::string n = std::to_string(i);
    before += "  %row" + n + " = add i32 %first, " + n + "\n";
    before += "  %at" + n + " = mul i32 %row" + n + ", %stride\n";
    before += "  %p" + n + " = getelementptr float, ptr %x, i32 %at" + n + "\n";
    body += "  %v" + n + " = load volatile float, ptr %p" + n + "\n";
  }
  for (unsigned i = 0; i < sums; ++i) {
    std::string n = std::to_string(i);
    phis += "  %s" + n + " = phi float [0.0, %entry], [%t" + n + ", %loop]\n";
    body += "  %t" + n + " = fadd float %s" + n + ", %v" +
            std::to_string(i % rows) + "\n";
    after += "  store volatile float %t" + n + ", ptr %x\n";
  }
  return "define void @k(ptr %x, i32 %stride, i32 %n) {\nentry:\n"
         "  %first = call i32 @first()\n" +
         before + "  br label %loop\nloop:\n" +
         "  %i = phi i32 [0, %entry], [%next, %loop]\n" + phis + body +
         "  %next = add i32 %i, 1\n  %more = icmp slt i32 %next, %n\n"
         "  br i1 %more, label %loop, label %done\ndone:\n" +
         after + "  ret void\n}\ndeclare i32 @first()\n";
}

/// Products in the loop after the pass.
static unsigned productsInLoop(const std::string &text, unsigned registers) {
  LLVMContext context;
  SMDiagnostic problem;
  auto module = parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module) {
    return 0;
  }
  Function &kernel = *module->getFunction("k");
  bool changed = nereid::nvptx::recomputeInvariants(kernel, registers);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  unsigned products = 0;
  for (Instruction &instruction : instructions(kernel)) {
    products += instruction.getOpcode() == Instruction::Mul &&
                instruction.getParent()->getName() == "loop";
  }
  EXPECT_EQ(changed, products > 0);
  return products;
}

// 16 carried words, 16 loaded ones and 16 addresses of two words.
TEST(RecomputeInvariants, AddressesThatDoNotFitAreComputedInTheLoop) {
  EXPECT_GT(productsInLoop(rowsOf(16, 16), 60), 0u);
}

TEST(RecomputeInvariants, AddressesThatFitStayInFrontOfIt) {
  EXPECT_EQ(productsInLoop(rowsOf(16, 16), 80), 0u);
}

// Its own values spill whatever is done with the addresses.
TEST(RecomputeInvariants, ALoopThatDoesNotFitWithoutThemIsLeftAlone) {
  EXPECT_EQ(productsInLoop(rowsOf(64, 16), 60), 0u);
}

// The words that remain are within the registers, less what ptxas works with.
TEST(RecomputeInvariants, NoMoreThanNecessary) {
  unsigned products = productsInLoop(rowsOf(8, 32), 80);
  EXPECT_GT(products, 0u);
  EXPECT_LT(products, 32u);
}

// An address that is wanted after the loop too stays there, and the loop has
// its own.
TEST(RecomputeInvariants, UsesBehindTheLoopStay) {
  std::string text = rowsOf(16, 16);
  size_t end = text.find("  ret void");
  text.insert(end, "  store volatile float 1.0, ptr %p3\n");
  EXPECT_GT(productsInLoop(text, 60), 0u);
}
