//===- SearchingCompilerTest.cpp - A search that needs no list ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/SearchingCompiler.h"

#include <gmock/gmock.h>

using namespace nereid;
using testing::ElementsAre;

namespace {

/// Describes one kernel: f(x_ptr, n, BLOCK: tl.constexpr, MODE: tl.constexpr).
class OneKernel : public ForwardingCompiler {
public:
  explicit OneKernel(bool isTuned)
      : ForwardingCompiler(nullptr), isTuned(isTuned) {}
  Expected<KernelDescription> describe(const Source &,
                                       const std::string &) override {
    KernelDescription kernel;
    for (const char *name : {"x_ptr", "n", "BLOCK", "MODE"}) {
      ParameterDescription parameter;
      parameter.name = name;
      parameter.isPointer = name == std::string("x_ptr");
      parameter.isStatic =
          name == std::string("BLOCK") || name == std::string("MODE");
      kernel.parameters.push_back(parameter);
    }
    if (isTuned) {
      kernel.configs = {{{{"BLOCK", 7}}, {}}};
    }
    return kernel;
  }

private:
  bool isTuned;
};

} // namespace

TEST(SearchingCompiler, BeginsWithWhatTheLaunchLeavesOpen) {
  tune::SearchingCompiler compiler(std::make_unique<OneKernel>(false), {"MODE"},
                                   {{"BLOCK", {48, 96}}});
  KernelDescription kernel = *compiler.describe({}, "f");
  ASSERT_EQ(kernel.configs.size(), 1u);
  ASSERT_EQ(kernel.configs[0].values.size(), 1u);
  EXPECT_EQ(kernel.configs[0].values.begin()->first, "BLOCK");
  EXPECT_THAT(kernel.configs[0].values["BLOCK"].str(),
              testing::AnyOf("48", "96"));
  EXPECT_THAT(kernel.tuneKey, ElementsAre("n"));
}

TEST(SearchingCompiler, LeavesAListAlone) {
  tune::SearchingCompiler compiler(std::make_unique<OneKernel>(true));
  KernelDescription kernel = *compiler.describe({}, "f");
  ASSERT_EQ(kernel.configs.size(), 1u);
  EXPECT_EQ(kernel.configs[0].values["BLOCK"].str(), "7");
  EXPECT_TRUE(kernel.tuneKey.empty());
}
