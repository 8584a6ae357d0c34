//===- TrainerTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/TrainerTesting.h"

#include "apps/gpt2/commands/Testing.h"
#include "nereid/Weights/Testing.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, TrainerTest,
                         ::testing::Values("cpu", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find(':'));
                         });

} // namespace

/// fp32's unit roundoff.
static constexpr double unit = 0x1p-24;

// Four micro-steps against four trainings that take one each: the same kernels
// on the same shapes, and a quarter is exact, so that they differ by the
// roundings of sums of four. Weights stay as they are.
TEST_P(TrainerTest, microStepsAreTheMeanOfTheirBatches) {
  for (double clip : {0.0, 1e-2}) {
    Options all = optionsOf(2, 4), one = optionsOf(2, 1);
    all.learningRate = one.learningRate = 0;
    all.minLr = one.minLr = 0;
    all.gradClip = clip;
    one.gradClip = 0;
    Training parts(all, device);
    std::vector<std::unique_ptr<Training>> singles;
    for (int i = 0; i < 4; ++i) {
      singles.push_back(std::make_unique<Training>(one, device));
    }
    // The third one is a graph's replay, on a GPU.
    for (int64_t step = 0; step < 3; ++step) {
      parts.step(step);
      double loss = 0;
      for (int64_t i = 0; i < 4; ++i) {
        Batch batch = parts.rows(step, 2 * i, 2 * i + 2);
        singles[size_t(i)]->trainer.step(step, {&batch, 1});
        loss += singles[size_t(i)]->trainer.loss() / 4;
      }
      EXPECT_NEAR(parts.losses.back(), loss, 4 * unit * loss);
      if (step > 0) {
        continue;
      }
      // First moments are gradients times 1 - beta1.
      auto m = parts.trainer.optimiser().optimizerState();
      std::vector<std::vector<NamedTensor>> of;
      for (const auto &single : singles) {
        of.push_back(single->trainer.optimiser().optimizerState());
      }
      std::vector<std::vector<double>> means, sizes;
      double squares = 0, count = 0;
      for (size_t i = 0; i < m.size(); ++i) {
        std::vector<double> mean(size_t(m[i].tensor.numel())), size(mean);
        for (const auto &state : of) {
          std::vector<double> values = state[i].tensor.toFloat64();
          for (size_t k = 0; k < values.size(); ++k) {
            mean[k] += values[k] / 4;
            size[k] += std::fabs(values[k]) / 4;
          }
        }
        if (m[i].name.starts_with("m.")) {
          for (double value : mean) {
            squares += value * value;
            ++count;
          }
        }
        means.push_back(std::move(mean));
        sizes.push_back(std::move(size));
      }
      // A sum of so many squares, in whatever order.
      double normError = count * unit / 2 + 16 * unit;
      double norm = std::sqrt(squares) / (1 - all.beta1), factor = 1;
      EXPECT_NEAR(parts.trainer.gradientNorm(), norm, normError * norm);
      if (clip > 0) {
        EXPECT_GT(norm, clip);
        factor = clip / norm;
      }
      for (size_t i = 0; i < m.size(); ++i) {
        if (!m[i].name.starts_with("m.")) {
          continue;
        }
        // Three sums, the products with 1 - beta1 of both sides and with the
        // factor.
        double error = 8 * unit + (clip > 0 ? normError + 1e-6 / norm : 0);
        std::vector<double> got = m[i].tensor.toFloat64();
        for (size_t k = 0; k < got.size(); ++k) {
          ASSERT_NEAR(got[k], factor * means[i][k],
                      factor * sizes[i][k] * error + 0x1p-126)
              << m[i].name << ", element " << k;
        }
      }
    }
  }
}

TEST_P(TrainerTest, oneSeedGivesTheSameBits) {
  for (DType dtype : {f32, bf16, f16}) {
    Options o = optionsOf(2, 2);
    o.dropout = 0.2;
    Training a(o, device, dtype), b(o, device, dtype);
    a.steps(0, 4);
    b.steps(0, 4);
    expectSameBits(a, b);
    o.seed = 1338;
    Training c(o, device, dtype);
    c.steps(0, 4);
    EXPECT_FALSE(haveSameState(a, c));
  }
}

TEST_P(TrainerTest, dropoutDependsOnTheStep) {
  Options o = optionsOf(4, 1);
  o.learningRate = o.minLr = 0; // the model stays as it is
  o.weightDecay = 0;
  Training without(o, device);
  o.dropout = 0.3;
  Training with(o, device), again(o, device);
  auto lossAt = [](Training &run, int64_t step) {
    std::vector<Batch> batches = {run.rows(0, 0, 4)};
    run.trainer.step(step, batches);
    return run.trainer.loss();
  };
  double first = lossAt(with, 7);
  EXPECT_EQ(lossAt(without, 7), lossAt(without, 8));
  EXPECT_NE(first, lossAt(without, 7));
  EXPECT_NE(first, lossAt(with, 8)) << "the same mask in another step";
  EXPECT_EQ(first, lossAt(with, 7));
  EXPECT_EQ(first, lossAt(again, 7));
  // No dropout where nothing is learnt.
  auto evaluated = [](Training &run) {
    return *run.trainer.evaluate([&](int64_t i) { return run.rows(i, 0, 4); },
                                 3);
  };
  EXPECT_EQ(evaluated(with), evaluated(without));
}

TEST_P(TrainerTest, goesOnFromItsState) {
  for (DType dtype : {f32, bf16}) {
    Options o = optionsOf(2, 2);
    o.dropout = 0.1;
    Training whole(o, device, dtype);
    whole.steps(0, 6);
    Training first(o, device, dtype);
    first.steps(0, 3);
    Training resumed(o, device, dtype);
    resumed.steps(7, 9); // another state, which is replaced
    resumed.losses = first.losses;
    std::vector<NamedTensor> from = first.state(), to = resumed.state();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i].tensor.copyFrom(from[i].tensor);
    }
    resumed.steps(3, 6);
    expectSameBits(resumed, whole);
  }
}

TEST_P(TrainerTest, capturedStepsAreThoseThatAreLaunched) {
  Options o = optionsOf(2, 2);
  o.dropout = 0.1;
  Training captured(o, device);
  EXPECT_EQ(captured.trainer.isCaptured(), !device.isHost());
  captured.steps(0, 5);
  o.compile = false;
  Training launched(o, device);
  EXPECT_FALSE(launched.trainer.isCaptured());
  launched.steps(0, 5);
  expectSameBits(captured, launched);
}

TEST_P(TrainerTest, recomputedActivationsGiveTheSameBits) {
  Options o = optionsOf(2, 2);
  o.dropout = 0.1;
  Training kept(o, device);
  kept.steps(0, 4);
  o.recompute = true;
  Training recomputed(o, device);
  recomputed.steps(0, 4);
  expectSameBits(kept, recomputed);
}

TEST_P(TrainerTest, lossFallsOnABatch) {
  for (DType dtype : {f32, bf16, f16}) {
    Options o = optionsOf(4, 1);
    Training run(o, device, dtype);
    std::vector<Batch> batches = {run.rows(0, 0, 4)};
    run.trainer.step(0, batches);
    double first = run.trainer.loss();
    EXPECT_NEAR(first, std::log(30), 0.2);
    for (int64_t step = 1; step < 20; ++step) {
      run.trainer.step(step, batches);
    }
    EXPECT_LT(run.trainer.loss(), 0.8 * first);
  }
}

TEST(TrainCommand, endsWhereTheLossIsNotFinite) {
  TestFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "abcdefgh\n";
  }
  writeContent(folder / "text.txt", text);
  runCommand(
      {"prepare", folder / "text.txt", "--dataset=" + (folder / "data")});
  std::vector<std::string> words = {"train",
                                    "--dataset=" + (folder / "data"),
                                    "--out_dir=" + (folder / "out"),
                                    "--device=cpu",
                                    "--n_layer=1",
                                    "--n_head=1",
                                    "--n_embd=8",
                                    "--block_size=8",
                                    "--batch_size=2",
                                    "--gradient_accumulation_steps=1",
                                    "--max_iters=30",
                                    "--eval_interval=30",
                                    "--eval_iters=1"};
  std::vector<std::string> wild = words;
  for (const char *word : {"--learning_rate=1e6", "--decay_lr=False",
                           "--weight_decay=10", "--grad_clip=0"}) {
    wild.emplace_back(word);
  }
  EXPECT_THAT(runCommand(wild).error,
              ::testing::MatchesRegex("the loss of step [0-9]+ is (not a "
                                      "number|infinite); hint: lower "
                                      "--learning_rate.*"))
      << "no checkpoint yet, so that none is kept";
  // Without a line of each step, the evaluation sees it, before a checkpoint.
  wild.emplace_back("--log_interval=1000");
  EXPECT_THAT(runCommand(wild).error, HasSubstr("the loss of step 30 is "));
  EXPECT_THAT(
      runCommand({"eval", "--out_dir=" + (folder / "out"), "--device=cpu"})
          .error,
      HasSubstr(folder / "out"))
      << "a checkpoint was written";
}
