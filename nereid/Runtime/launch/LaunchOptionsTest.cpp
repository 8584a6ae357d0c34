//===- LaunchOptionsTest.cpp - Named arguments that are no parameters -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LaunchFixture.h"

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class LaunchOptions : public LaunchFixture {
protected:
  template <typename... Options>
  std::string launchWith(const Options &...options) {
    return errorOf([&] { kernel("add")[1](x, x, x, 10, options...); });
  }
  template <typename T>
  std::string launch(const char *name, const T &value) {
    return launchWith(LaunchArgument(name, Argument(value)));
  }
  Tensor x = zeros({16}, f32);
};
} // namespace

TEST_F(LaunchOptions, CooperativeGridsAreAsked) {
  EXPECT_EQ(launch("launch_cooperative_grid", true), "");
  EXPECT_TRUE(world->requests.back().options.cooperativeGrid);
  EXPECT_EQ(launch("launch_cooperative_grid", false), "");
  EXPECT_EQ(world->compiles, 1); // the code is the same
  EXPECT_THAT(launch("launch_cooperative_grid", "yes"),
              HasSubstr("expected true or false, got the string 'yes'"));
}

TEST_F(LaunchOptions, DependentLaunchesAreAsked) {
  EXPECT_EQ(launch("launch_pdl", true), "");
  EXPECT_TRUE(world->requests.back().options.dependentLaunch);
  EXPECT_EQ(launch("launch_pdl", false), "");
  EXPECT_EQ(world->compiles, 1); // the code is the same
  EXPECT_THAT(launch("launch_pdl", "yes"),
              HasSubstr("expected true or false, got the string 'yes'"));
}

TEST_F(LaunchOptions, DebugLooksForOverflowUnlessToldNotTo) {
  auto checks = [&](auto... options) {
    EXPECT_EQ(launchWith(options...), "");
    return world->requests.back().options.checks;
  };
  uint32_t both = CheckAsserts | CheckOverflow, one = CheckAsserts;
  EXPECT_EQ(checks("debug"_a = true), both);
  EXPECT_EQ(checks("debug"_a = true, "sanitize_overflow"_a = true), both);
  EXPECT_EQ(checks("debug"_a = true, "sanitize_overflow"_a = false), one);
  EXPECT_EQ(checks("sanitize_overflow"_a = false, "debug"_a = true), one);
  EXPECT_EQ(checks("sanitize_overflow"_a = true), 0u);
  EXPECT_THAT(launchWith("sanitize_overflow"_a = "yes"),
              HasSubstr("expected true or false, got the string 'yes'"));
}

TEST_F(LaunchOptions, HintsWithoutEffectAreTaken) {
  EXPECT_EQ(launch("num_warps", 4), "");
  EXPECT_EQ(launch("enable_reflect_ftz", true), "");
  EXPECT_EQ(world->compiles, 1);
}

TEST_F(LaunchOptions, WhatIsIgnoredIsSaidOnce) {
  testing::internal::CaptureStderr();
  launch("instrumentation_mode", false);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  launch("instrumentation_mode", true);
  launch("instrumentation_mode", true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "nereid: warning: launch option 'instrumentation_mode' has no "
            "effect\n");
}

TEST_F(LaunchOptions, WhatCannotBeHadIsRefusedWithAReason) {
  EXPECT_THAT(launch("ir_override", "k.ttgir"),
              AllOf(HasSubstr("launch option 'ir_override' is not supported, "
                              "got the string 'k.ttgir'"),
                    HasSubstr("NEREID_OVERRIDE")));
  EXPECT_THAT(launch("default_dot_input_precision", "ieee"),
              HasSubstr("tl.dot(..., input_precision=...)"));
  EXPECT_EQ(launch("ptx_options", nullptr), ""); // as if not given
  EXPECT_THAT(launch("launch_cooperativ_grid", true),
              HasSubstr("did you mean 'launch_cooperative_grid'"));
}
