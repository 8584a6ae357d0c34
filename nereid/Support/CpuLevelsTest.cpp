//===- CpuLevelsTest.cpp - The levels of x86-64 processors ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/CpuLevels.h"

#include "nereid/Support/Knobs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using testing::HasSubstr;

namespace {
class CpuLevels : public testing::Test {
protected:
  ~CpuLevels() override { exchangeKnobs(before); }
  static void pin(const std::string &level) {
    Knobs settings = knobs();
    settings.cpu = level;
    exchangeKnobs(settings);
  }
  Knobs before = knobs();
};
} // namespace

TEST_F(CpuLevels, EachHasWhatThoseBeforeItHave) {
  const std::vector<cpu::CpuTarget> &levels = cpu::levels();
  for (size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].level, static_cast<int>(i) + 1);
    EXPECT_EQ(cpu::resolve(levels[i].name)->level, levels[i].level);
    EXPECT_EQ(cpu::runsHere(levels[i]), levels[i].level <= cpu::machineLevel());
    if (i == 0) {
      continue;
    }
    const cpu::CpuTarget &lower = levels[i - 1], &higher = levels[i];
    EXPECT_GE(higher.vectorBytes, lower.vectorBytes);
    EXPECT_GE(higher.vectorRegisters, lower.vectorRegisters);
    for (bool cpu::CpuTarget::*feature :
         {&cpu::CpuTarget::hasMaskRegisters, &cpu::CpuTarget::hasMaskedMemory,
          &cpu::CpuTarget::hasGather, &cpu::CpuTarget::hasFma,
          &cpu::CpuTarget::hasF16c, &cpu::CpuTarget::hasDotProducts,
          &cpu::CpuTarget::hasTiles}) {
      EXPECT_GE(higher.*feature, lower.*feature) << higher.name;
    }
  }
  EXPECT_EQ(cpu::resolve("x86-64-v4")->lanes(4), 16u);
  EXPECT_EQ(cpu::resolve("x86-64-v3")->lanes(4), 8u);
  EXPECT_FALSE(cpu::resolve("x86-64-v3")->hasMaskRegisters);
  EXPECT_FALSE(cpu::resolve("x86-64-v2")->hasFma);
}

TEST_F(CpuLevels, UnknownTargetsAreAnsweredWithThoseThatThereAre) {
  Expected<cpu::CpuTarget> unknown = cpu::resolve("x86-64-v5");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.failure().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(unknown.failure().message, HasSubstr("'x86-64-v5'"));
  EXPECT_THAT(unknown.failure().message, HasSubstr("'x86-64-v4'"));
}

TEST_F(CpuLevels, TheDeviceIsTheMachineOrWhatItIsPinnedTo) {
  pin("");
  ASSERT_TRUE(cpu::deviceTarget().ok());
  EXPECT_EQ(cpu::deviceTarget()->level, cpu::machineLevel());
  for (const cpu::CpuTarget &target : cpu::levels()) {
    pin(target.name);
    Expected<cpu::CpuTarget> found = cpu::resolve("cpu");
    if (cpu::runsHere(target)) {
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(found->name, target.name);
      EXPECT_EQ(cpu::deviceLevel(), target.level);
      continue;
    }
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.failure().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(found.failure().message,
                HasSubstr("NEREID_CPU=" + target.name +
                          ": expected a level that this machine can run, one "
                          "of 'x86-64'"));
    EXPECT_THAT(found.failure().message, HasSubstr("got a higher one"));
    EXPECT_EQ(cpu::deviceLevel(), cpu::machineLevel());
  }
}

TEST_F(CpuLevels, WordsThatAreNoLevelAreRefused) {
  pin("x86-64v3");
  Expected<cpu::CpuTarget> found = cpu::deviceTarget();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.failure().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(found.failure().message, HasSubstr("NEREID_CPU=x86-64v3: "));
  EXPECT_THAT(found.failure().message,
              HasSubstr("got an unknown word; did you mean 'x86-64-v3'?"));
}
