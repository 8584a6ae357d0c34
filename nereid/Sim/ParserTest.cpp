//===- ParserTest.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/testing/KernelRun.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid::sim;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::string &body) {
  KernelRun kernel;
  kernel.body = body;
  return kernel.run();
}

TEST(Parser, AnUnknownInstructionIsNamedWithItsLine) {
  EXPECT_THAT(errorOf("tex.2d.v4.f32.s32 %r1, %r2;"),
              HasSubstr("line 14: 'tex.2d.v4.f32.s32 %r1, %r2;' is not "
                        "simulated"));
}

TEST(Parser, AnUnknownModifierIsNotOverlooked) {
  EXPECT_THAT(errorOf("add.rz.f32 %f1, %f2, %f3;"),
              HasSubstr("is not simulated"));
  EXPECT_THAT(errorOf("ld.global.strange.b32 %r1, [%rd0];"),
              HasSubstr("is not simulated"));
}

TEST(Parser, ANameThatIsNoneIsAnError) {
  EXPECT_THAT(errorOf("mov.b32 %r1, %r99;"), HasSubstr("no register %r99"));
  EXPECT_THAT(errorOf("bra NOWHERE;"), HasSubstr("no label 'NOWHERE'"));
}

TEST(Parser, TextThatEndsTooEarlyIsAnError) {
  for (const char *text :
       {".version", ".visible .entry k(", ".visible .entry k() {",
        ".visible .entry k() { add.s32", ".visible .entry k() { add.s32 %r1"}) {
    EXPECT_FALSE(parsePtx(text).ok()) << text;
  }
}

TEST(Parser, InlineAssemblyHasLabelsAndRegistersOfItsOwn) {
  KernelRun kernel;
  kernel.body = std::string(ownWord) + R"(
    mov.b32 %r1, 0;
    { .reg .pred more; .reg .b32 step; mov.b32 step, 0;
      NEXT: add.s32 %r1, %r1, 1; add.s32 step, step, 1;
      setp.ne.u32 more, step, 3; @more bra NEXT; }
    { .reg .pred more; .reg .b32 step; mov.b32 step, 0;
      NEXT: add.s32 %r1, %r1, 16; add.s32 step, step, 1;
      setp.ne.u32 more, step, 2; @more bra NEXT; }
    st.global.b32 [%rd1], %r1;)";
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[7], 35u);
}

TEST(Parser, VariablesOfTheModuleHaveTheirValues) {
  auto module = parsePtx(".global .align 4 .b8 text[6] = {72, 105, 0, 1};");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->globals,
            (std::vector<unsigned char>{72, 105, 0, 1, 0, 0}));
}

} // namespace
