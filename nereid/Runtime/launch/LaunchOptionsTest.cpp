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
  template <typename T>
  std::string launch(const char *name, const T &value) {
    return errorOf([&] {
      kernel("add")[1](x, x, x, 10, LaunchArgument(name, Argument(value)));
    });
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

TEST_F(LaunchOptions, HintsWithoutEffectAreTaken) {
  EXPECT_EQ(launch("num_warps", 4), "");
  for (const char *name : {"sanitize_overflow", "enable_reflect_ftz"}) {
    EXPECT_EQ(launch(name, true), "");
    EXPECT_EQ(world->compiles, 1) << name;
  }
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
