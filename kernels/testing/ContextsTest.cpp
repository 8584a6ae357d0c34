//===- ContextsTest.cpp - Operators of contexts beside each other ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/Expression.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/nereid.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

namespace {

class OperatorsOfContexts : public ::testing::Test {
protected:
  static ContextOptions ownOptions() {
    Knobs settings;
    settings.cpu = "x86-64";
    settings.numThreads = 1;
    settings.cacheSize = 0;
    return {.settings = settings};
  }

  /// An operator of each kind: from the library's text, and from one's own.
  std::vector<double> compute() const {
    Tensor sum = accumulate(a, b, false);
    Tensor twice = Expression(sum) * 2;
    return twice.toFloat64();
  }

  Tensor a = rand({100}, f32, Device::cpu(), 1),
         b = rand({100}, f32, Device::cpu(), 2);
};

} // namespace

TEST_F(OperatorsOfContexts, areCompiledOnceByTheThreadsContext) {
  Context own(createKernelCompiler(), ownOptions());
  std::vector<double> here = compute(), there;
  CacheCounters shared = Context::shared().cacheCounters();
  for (int round = 0; round < 2; ++round) {
    ContextScope scope(own);
    there = compute();
  }
  EXPECT_EQ(here, there);
  EXPECT_EQ(own.cacheCounters().compiled, 2u);
  EXPECT_EQ(Context::shared().cacheCounters().compiled, shared.compiled);
}

TEST_F(OperatorsOfContexts, needACompilerWhereTheThreadsContextHasNone) {
  Context none(nullptr, ownOptions());
  EXPECT_TRUE(hasCompiler());
  ContextScope scope(none);
  EXPECT_FALSE(hasCompiler());
  try {
    (void)accumulate(a, b, false);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(), HasSubstr("this program has no compiler"));
  }
}

TEST_F(OperatorsOfContexts, areThoseOfTheProgramWithoutBeingInstalled) {
  EXPECT_EQ(deviceFunctions().add, accumulate);
  Context none(nullptr, {.deviceFunctions = DeviceFunctions()});
  ContextScope scope(none);
  EXPECT_EQ(deviceFunctions().add, nullptr);
}
