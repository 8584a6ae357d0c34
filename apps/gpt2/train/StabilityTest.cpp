//===- StabilityTest.cpp - Skipped steps, and losses that are scaled ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Testing.h"
#include "apps/gpt2/train/TrainerTesting.h"
#include "nereid/Runtime/Error.h"

#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
using ::testing::HasSubstr;

namespace {

class StabilityTest : public TrainerTest {};

INSTANTIATE_TEST_SUITE_P(Devices, StabilityTest,
                         ::testing::Values("cpu", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find(':'));
                         });

/// Numbers around `mean` that a filter has seen.
json windowAround(double mean) {
  json values = json::array();
  for (int i = 0; i < 128; ++i) {
    values.push_back(mean * (1 + (i % 2 ? 0.01 : -0.01)));
  }
  return {{"values", values}, {"counts", {128, 0}}};
}

} // namespace

// Gradients in fp16 of a loss that is scaled are those of one that is not, to
// the roundings of fp16.
TEST_P(StabilityTest, aScaledLossChangesNothingButRoundings) {
  Options o = optionsOf(4, 2);
  Training exact(o, device), half(o, device, f16);
  exact.steps(0, 3);
  half.steps(0, 3);
  EXPECT_EQ(half.trainer.lossScale(), 65536);
  EXPECT_FALSE(exact.trainer.lossScale());
  for (size_t i = 0; i < exact.losses.size(); ++i) {
    EXPECT_NEAR(half.losses[i], exact.losses[i], 0x1p-9 * exact.losses[i]);
  }
  EXPECT_NEAR(half.trainer.gradientNorm(), exact.trainer.gradientNorm(),
              0x1p-7 * exact.trainer.gradientNorm());
}

TEST_P(StabilityTest, theScaleBacksOffUntilGradientsAreFinite) {
  for (double clip : {0.0, 1.0}) {
    Options o = optionsOf(4, 2);
    o.gradClip = clip;
    Training run(o, device, f16), untouched(o, device, f16);
    run.trainer.loadStabilityState({{"loss_scale", 0x1p40}, {"good_steps", 7}},
                                   "state.json");
    run.step(0);
    EXPECT_FALSE(std::isfinite(run.trainer.gradientNorm()));
    EXPECT_TRUE(haveSameState(run, untouched));
    EXPECT_EQ(run.trainer.lossScale(), 0x1p39);
    EXPECT_EQ(run.trainer.stabilityState()["good_steps"], 0);
    // On a GPU the graph does the rest.
    int64_t step = 1;
    for (; step < 60 && !std::isfinite(run.trainer.gradientNorm()); ++step) {
      run.step(step);
    }
    EXPECT_LT(step, 40);
    EXPECT_FALSE(haveSameState(run, untouched));
    EXPECT_EQ(run.trainer.stabilityState()["good_steps"], 1);
  }
}

TEST_P(StabilityTest, theScaleGrowsAfterGoodSteps) {
  Training run(optionsOf(4, 1), device, f16);
  run.trainer.loadStabilityState({{"loss_scale", 256}, {"good_steps", 1998}},
                                 "state.json");
  run.step(0);
  EXPECT_EQ(run.trainer.lossScale(), 256);
  run.step(1);
  EXPECT_EQ(run.trainer.lossScale(), 512);
  EXPECT_EQ(run.trainer.stabilityState()["good_steps"], 0);
}

TEST_P(StabilityTest, anOutlierIsSkipped) {
  // A step's loss is near log 30, its norm near 1.
  for (bool isLoss : {true, false}) {
    Options o = optionsOf(4, 2);
    (isLoss ? o.skipUpdateLossZ : o.skipUpdateGradZ) = 3;
    Training run(o, device), untouched(o, device);
    const char *name = isLoss ? "loss" : "norm";
    run.trainer.loadStabilityState(
        {{"outliers", {{name, windowAround(isLoss ? 1 : 1e-3)}}}},
        "state.json");
    run.step(0);
    EXPECT_EQ(run.trainer.skipped(), 1);
    EXPECT_TRUE(haveSameState(run, untouched));
    EXPECT_TRUE(std::isfinite(run.trainer.gradientNorm()));
    // Many of the kind are no outliers.
    for (int64_t step = 1; step < 20; ++step) {
      run.step(step);
    }
    EXPECT_LT(run.trainer.skipped(), 20);
    EXPECT_FALSE(haveSameState(run, untouched));
    auto counts = run.trainer.stabilityState()["outliers"][name]["counts"]
                      .get<std::vector<int64_t>>();
    EXPECT_THAT(counts, ::testing::ElementsAre(148, run.trainer.skipped()));
  }
}

TEST_P(StabilityTest, filtersThatFindNothingChangeNoBit) {
  for (DType dtype : {f32, f16}) {
    Options o = optionsOf(2, 2);
    Training plain(o, device, dtype);
    o.skipUpdateLossZ = o.skipUpdateGradZ = 1000;
    Training filtered(o, device, dtype);
    plain.steps(0, 4);
    filtered.steps(0, 4);
    EXPECT_EQ(filtered.trainer.skipped(), 0);
    expectSameBits(plain, filtered);
  }
}

TEST_P(StabilityTest, capturedStepsAreThoseThatAreLaunched) {
  Options o = optionsOf(2, 2);
  o.skipUpdateLossZ = o.skipUpdateGradZ = 0.5;
  json state = {
      {"loss_scale", 0x1p30},
      {"good_steps", 0},
      {"outliers", {{"loss", windowAround(3.4)}, {"norm", windowAround(1)}}}};
  Training captured(o, device, f16);
  o.compile = false;
  Training launched(o, device, f16);
  for (Training *run : {&captured, &launched}) {
    run->trainer.loadStabilityState(state, "state.json");
    run->steps(0, 12);
  }
  expectSameBits(captured, launched);
  EXPECT_EQ(captured.trainer.stabilityState(),
            launched.trainer.stabilityState());
  EXPECT_GT(captured.trainer.skipped(), 0);
  EXPECT_LT(*captured.trainer.lossScale(), 0x1p30);
}

TEST_P(StabilityTest, goesOnFromItsState) {
  Options o = optionsOf(2, 2);
  o.skipUpdateLossZ = o.skipUpdateGradZ = 0.5;
  json before = {
      {"loss_scale", 0x1p28},
      {"good_steps", 0},
      {"outliers", {{"loss", windowAround(3.4)}, {"norm", windowAround(1)}}}};
  Training whole(o, device, f16), first(o, device, f16),
      resumed(o, device, f16);
  whole.trainer.loadStabilityState(before, "state.json");
  first.trainer.loadStabilityState(before, "state.json");
  whole.steps(0, 10);
  first.steps(0, 5);
  std::vector<NamedTensor> from = first.state(), to = resumed.state();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i].tensor.copyFrom(from[i].tensor);
  }
  // As state.json has it.
  resumed.trainer.loadStabilityState(
      json::parse(first.trainer.stabilityState().dump()), "state.json");
  resumed.losses = first.losses;
  resumed.steps(5, 10);
  expectSameBits(resumed, whole);
  EXPECT_EQ(resumed.trainer.stabilityState(), whole.trainer.stabilityState());
}

TEST_P(StabilityTest, whatIsDamagedIsRefused) {
  Options o = optionsOf(2, 1);
  o.skipUpdateGradZ = 3;
  Training run(o, device, f16);
  for (const json &state :
       {json{{"loss_scale", -1}, {"good_steps", 0}}, json{{"loss_scale", 1}},
        json{{"loss_scale", "x"}, {"good_steps", 0}},
        json{{"outliers", {{"norm", {{"values", {1}}, {"counts", {1, 0}}}}}}},
        json{{"outliers", {{"norm", {{"values", 1}, {"counts", {1, 0}}}}}}},
        json{{"outliers", {{"norm", 3}}}}, json{{"outliers", {1}}}}) {
    EXPECT_THAT(
        errorOf([&] { run.trainer.loadStabilityState(state, "o/state.json"); }),
        HasSubstr("'o/state.json': expected a loss scale and the losses and "
                  "norms of earlier steps, got others: "))
        << state;
  }
  // What this run has no use for, or what is not there, is no fault.
  run.trainer.loadStabilityState({{"outliers", {{"loss", 3}}}}, "");
  run.trainer.loadStabilityState(json::object(), "");
}

TEST(StabilityOptions, haveTheirRanges) {
  EXPECT_THAT(runCommand({"train", "--skip_update_gradz=-1"}).error,
              HasSubstr("--skip_update_gradz: expected a number from 0"));
  EXPECT_THAT(runCommand({"train", "--skip_update_lossz=x"}).error,
              HasSubstr("--skip_update_lossz: expected a number from 0"));
  EXPECT_THAT(runCommand({"train", "--dtype=half"}).error,
              HasSubstr("dtype: expected one of auto, float32, bfloat16, "
                        "float16, got 'half'"));
}
