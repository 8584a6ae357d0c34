//===- OverlappedLaunchesTest.cpp -------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OverlappedLaunches.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear/NormedLinear.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/sampling/Sampling.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/testing/OperatorTest.h"

using namespace nereid;
using namespace nereid::kernels;

NEREID_OPERATOR_TEST(OverlappedLaunch);

namespace {
/// Which launches may begin early.
struct EarlyLaunches final : LaunchWatcher {
  std::vector<bool> isEarly;
  size_t launches = 0;
  void launching(const OperatorLaunch &launch) override {
    ++launches;
    for (const LaunchArgument &a : launch.arguments) {
      if (a.name == "launch_pdl") {
        isEarly.push_back(a.value.integer != 0);
      }
    }
  }
};
} // namespace

/// What a step of inference does with `x`: logits, and a token.
static std::vector<Values> stepOf(const Tensor &x, const Tensor &weight,
                                  const Tensor &bias, const Tensor &table) {
  int64_t rows = x.size(0), width = x.size(1);
  Device device = x.device();
  Tensor index = zeros({rows}, i32, device),
         lengths = full({rows}, 2, i32, device);
  Tensor keys = full({rows, 1, 4, width}, 0.5, x.dtype(), device),
         values = full({rows, 1, 4, width}, 0.25, x.dtype(), device);
  Tensor token = embedding(index, table);
  auto [y, sum] = addLayerNorm(x, token, bias, bias);
  Tensor heads = linear(y, weight, bias, Activation::GeluTanh).unsqueeze(1);
  Tensor mixed = decodeNext(heads, {heads, heads}, keys, values, lengths);
  Tensor logits = linear(mixed.view({rows, width}), table);
  return {sum.toFloat64(), mixed.toFloat64(), logits.toFloat64(),
          keys.toFloat64(), sample(logits, {.topK = 3, .seed = 5}).toFloat64()};
}

// On a GPU other blocks are chosen: each launch is judged there, as those of
// all operators are.
TEST_P(OverlappedLaunch, changesNoResult) {
  forCases([&] {
    constexpr int64_t width = 32;
    int64_t rows = pick(1, 8), tokens = isSlow ? 40 : 5000;
    DType type = floatType();
    Tensor x = random({rows, width}, type), bias = random({width}, type),
           weight = random({width, width}, type),
           table = random({tokens, width}, type);
    std::vector<Values> expected = stepOf(x, weight, bias, table);
    OverlappedLaunches overlap;
    // The second one begins every launch early.
    for (int i = 0; i < 2; ++i) {
      std::vector<Values> got = stepOf(x, weight, bias, table);
      if (device.isHost()) {
        EXPECT_EQ(got, expected);
      }
    }
  });
}

TEST_P(OverlappedLaunch, waitsForCopiesOfWhatItReadsEarly) {
  Tensor x = random({1, 32}, f32), weight = zeros({8, 32}, f32, device),
         table = full({8, 2}, 3, f32, device), bias = full({8}, 3, f32, device);
  EarlyLaunches seen;
  OverlappedLaunches overlap;
  linear(x, weight);
  linear(x, weight, table.select(1, 0)); // a bias with gaps is copied
  Tensor y = linear(x, weight, bias);
  bool begins = !device.isHost() && hasCompiler();
  if (begins) {
    EXPECT_EQ(seen.isEarly, (std::vector<bool>{false, false, true}));
  }
  EXPECT_EQ(y.toFloat64(), Values(8, 3));
}

TEST_P(OverlappedLaunch, beginsBehindTheFirstLaunchOfTheOutermostGuard) {
  Tensor table = random({8, 16}, f32), index = zeros({2}, i32, device);
  EarlyLaunches seen;
  embedding(index, table);
  {
    OverlappedLaunches overlap;
    embedding(index, table);
    embedding(index, table);
    OverlappedLaunches inner;
    embedding(index, table);
  }
  embedding(index, table);
  // Those outside of a guard wait before they read anything.
  bool begins = !device.isHost() && hasCompiler(), waits = hasCompiler();
  EXPECT_EQ(seen.isEarly,
            (std::vector<bool>{waits, false, begins, begins, waits}));
}

// Outside of a guard, each launch of an operator is prepared while the one in
// front of it runs, with or without a word of its own.
TEST_P(OverlappedLaunch, everyLaunchOutsideOfAGuardWaitsAtItsBeginning) {
  Tensor x = random({2, 16}, f32), weight = random({4, 16}, f32);
  EarlyLaunches seen;
  softmax(linear(x, weight));
  if (hasCompiler()) {
    EXPECT_EQ(seen.isEarly, std::vector<bool>(seen.launches, true));
  }
  EXPECT_GE(seen.launches, 2u);
}

// A fence: what an operator that knows of none launches, waits; the next one
// begins early again.
TEST_P(OverlappedLaunch, oneAfterAFenceWaits) {
  Tensor table = random({8, 16}, f32), index = zeros({2}, i32, device),
         row = random({1, 16}, f32), weight = random({4, 16}, f32);
  EarlyLaunches seen;
  OverlappedLaunches overlap;
  embedding(index, table);
  OverlappedLaunches::fence();
  embedding(index, table);
  embedding(index, table);
  bool begins = !device.isHost() && hasCompiler();
  EXPECT_EQ(seen.isEarly, (std::vector<bool>{false, false, begins}));
  if (begins) {
    seen.isEarly.clear();
    OverlappedLaunches::fence();
    addLayerNormLinear(row, row, weight);
    embedding(index, table);
    EXPECT_EQ(seen.isEarly, (std::vector<bool>{true, true}));
  }
}
