//===- ContextsTest.cpp - Operators of contexts beside each other ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/Expression.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/device/DeviceGenerator.h"
#include "nereid/nereid.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::AllOf;
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
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr("operator 'accumulate': the context that this "
                                "thread works for (ContextScope) has no "
                                "compiler"),
                      HasSubstr("make the Context with createKernelCompiler()"),
                      HasSubstr("or link Nereid::KernelsAheadOfTime")));
  }
  try {
    (void)Tensor(Expression(a) * 2);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(
        error.message(),
        AllOf(HasSubstr("expression: the context that this thread works "
                        "for (ContextScope) has no compiler"),
              HasSubstr("or link Nereid::KernelsAheadOfTime")));
  }
}

/// As the host's functions are there, gradients are added there.
TEST_F(OperatorsOfContexts, declineToBeDeviceFunctionsWhereThereIsNoKernel) {
  Context none(nullptr, ownOptions());
  ContextScope scope(none);
  EXPECT_FALSE(hasKernels("accumulate"));
  EXPECT_FALSE(deviceFunctions().add(a, b, false).defined());
  EXPECT_FALSE(deviceFunctions().copy(a, b));
  EXPECT_FALSE(deviceFunctions().generate(
      a, {.kind = Generation::Kind::Uniform, .seed = 1}));
  Variable x(a, true);
  for (int use = 0; use < 2; ++use) {
    autograd::reshape(x, {10, 10})
        .backward(full({10, 10}, 1, f32, Device::cpu()));
  }
  EXPECT_EQ(x.grad().at({99}), 2);
}

TEST_F(OperatorsOfContexts, areThoseOfTheProgramWithoutBeingInstalled) {
  Tensor sum = deviceFunctions().add(a, b, false);
  EXPECT_EQ(sum.toFloat64(), accumulate(a, b, false).toFloat64());
  Context none(nullptr, {.deviceFunctions = DeviceFunctions()});
  ContextScope scope(none);
  EXPECT_EQ(deviceFunctions().add, nullptr);
}
