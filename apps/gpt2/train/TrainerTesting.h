//===- TrainerTesting.h - Small trainings in tests --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_TRAINERTESTING_H
#define NEREID_APPS_GPT2_TRAIN_TRAINERTESTING_H

#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/Weights/Testing.h"
#include "test/e2e/OnDevice.h"

namespace nereid::gpt2 {

/// NEREID_CUDA_DRIVER=simulator makes cuda:0 the simulated GPU.
class TrainerTest : public e2e::OnDevice {
protected:
  static void SetUpTestSuite() { gpu::installSimulator(); }
};

inline Options optionsOf(int64_t batch, int64_t parts) {
  Options o;
  o.batchSize = batch;
  o.gradientAccumulationSteps = parts;
  o.blockSize = 8;
  o.layers = 2;
  o.heads = 2;
  o.width = 16;
  o.learningRate = 1e-2;
  o.warmupIters = 2;
  o.maxIters = o.lrDecayIters = 20;
  return o;
}

/// A model and what trains it.
struct Training {
  Training(const Options &o, Device device, DType dtype = f32)
      : options(o), model(configOf(o, dtype), uint64_t(o.seed), device),
        trainer(model, o) {
    model.setRecomputes(o.recompute);
    trainer.optimiser().weightsChanged();
  }

  static GptConfig configOf(const Options &o, DType dtype) {
    GptConfig config;
    config.layers = o.layers;
    config.heads = o.heads;
    config.width = o.width;
    config.context = o.blockSize;
    config.vocabulary = 30;
    config.dropout = o.dropout;
    config.dtype = dtype;
    return config;
  }

  /// Rows first to last of a batch of many.
  Batch rows(int64_t step, int64_t first, int64_t last) const {
    auto tokens = [&](int which) {
      return randint({64, options.blockSize}, 0, 30, i32, Device::cpu(),
                     uint64_t(2 * step + which))
          .slice(0, first, last)
          .contiguous();
    };
    return {tokens(0), tokens(1)};
  }

  void step(int64_t number) {
    std::vector<Batch> batches;
    for (int64_t i = 0; i < options.gradientAccumulationSteps; ++i) {
      batches.push_back(
          rows(number, i * options.batchSize, (i + 1) * options.batchSize));
    }
    trainer.step(number, batches);
    losses.push_back(trainer.loss());
  }

  void steps(int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      step(i);
    }
  }

  std::vector<NamedTensor> state() {
    std::vector<NamedTensor> all = weightsOf(model);
    for (NamedTensor &one : trainer.optimiser().optimizerState()) {
      all.push_back(std::move(one));
    }
    return all;
  }

  Options options;
  Model model;
  Trainer trainer;
  std::vector<double> losses;
};

inline void expectSameBits(Training &a, Training &b) {
  EXPECT_EQ(a.losses, b.losses);
  std::vector<NamedTensor> x = a.state(), y = b.state();
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(haveSameBits(x[i].tensor, y[i].tensor)) << x[i].name;
  }
}

inline bool haveSameState(Training &a, Training &b) {
  std::vector<NamedTensor> x = a.state(), y = b.state();
  for (size_t i = 0; i < x.size(); ++i) {
    if (!haveSameBits(x[i].tensor, y[i].tensor)) {
      return false;
    }
  }
  return true;
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_TRAINERTESTING_H
