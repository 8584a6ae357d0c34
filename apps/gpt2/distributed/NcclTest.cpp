//===- NcclTest.cpp - Several simulated GPUs, over a fake NCCL ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work of a stream runs as late as its waits allow (NEREID_SIMULATOR=lazy), in
// recorded steps, too: what is read too early has another value.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/testing/GpuRanks.h"
#include "apps/gpt2/train/TrainerTesting.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::AnyOf;
using ::testing::HasSubstr;

namespace {

class NcclGpuRanks : public GpuRanks {};
INSTANTIATE_TEST_SUITE_P(Nccl, NcclGpuRanks, testing::Values(2, 4));

/// What a process has after a training.
struct Trained {
  std::vector<double> losses, evaluations;
  std::vector<NamedTensor> weights;
};

/// Five steps; the last three are replayed. The second and the fourth are
/// followed by an evaluation.
std::vector<Trained> train(int n, const Options &options, DType dtype) {
  std::vector<Trained> results(static_cast<size_t>(n));
  auto work = [&](Communicator &all, Device device) {
    Model model(Training::configOf(options, dtype), uint64_t(options.seed),
                device);
    model.setRecomputes(options.recompute);
    Trainer trainer(model, options, all);
    trainer.optimiser().weightsChanged();
    Trained &result = results[size_t(all.rank())];
    Training like(options, Device::cpu()); // for its batches
    const BatchSlice &slice = trainer.slice();
    for (int64_t step = 0; step < 5; ++step) {
      std::vector<Batch> batches;
      for (int64_t i = 0; i < slice.microSteps; ++i) {
        int64_t first = slice.microStep(i) * options.batchSize;
        batches.push_back(like.rows(step, first, first + options.batchSize));
      }
      trainer.step(step, batches);
      result.losses.push_back(trainer.loss());
      if (step % 2 == 1) {
        result.evaluations.push_back(*trainer.evaluate(
            [&](int64_t i) { return like.rows(100 + i, 0, 2); }, 4));
      }
    }
    trainer.completeWeights();
    for (const NamedTensor &one : weightsOf(model)) {
      result.weights.push_back({one.name, one.tensor.onHost()});
    }
    all.check();
  };
  if (n > 1) {
    forGpus(n, work);
  } else {
    std::unique_ptr<Communicator> one =
        makeCommunicator(Processes(), Device::cuda());
    work(*one, Device::cuda());
  }
  return results;
}

double mostOff(const Tensor &a, const Tensor &b) {
  std::vector<double> x = a.toFloat64(), y = b.toFloat64();
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i] - y[i]));
  }
  return most;
}

/// All processes have the same bits. Beside one process a last bit may differ:
/// where the optimiser's chunks begin depends on the parts, and a chunk that
/// ends a part is masked. Biases of keys, whose gradients are noise around 0,
/// differ by as much as a learning rate makes of that.
void expectAlike(const std::vector<Trained> &all, const Trained &alone) {
  for (const Trained &one : all) {
    EXPECT_EQ(one.losses, all[0].losses);
    EXPECT_EQ(one.evaluations, all[0].evaluations);
    for (size_t i = 0; i < one.losses.size(); ++i) {
      EXPECT_NEAR(one.losses[i], alone.losses[i], 1e-6);
    }
    for (size_t i = 0; i < one.evaluations.size(); ++i) {
      EXPECT_NEAR(one.evaluations[i], alone.evaluations[i], 1e-6);
    }
    ASSERT_EQ(one.weights.size(), alone.weights.size());
    for (size_t i = 0; i < one.weights.size(); ++i) {
      const auto &[name, tensor] = one.weights[i];
      EXPECT_TRUE(haveSameBits(tensor, all[0].weights[i].tensor)) << name;
      EXPECT_LE(mostOff(tensor, alone.weights[i].tensor), 1e-5) << name;
    }
  }
}

} // namespace

TEST_P(NcclGpuRanks, sumsAndGathersArriveInTheirOrder) {
  int n = GetParam();
  forGpus(n, [&](Communicator &all, Device device) {
    Tensor parts = arange({n, 5}, f32, Device::cpu(), all.rank()).to(device);
    Tensor sum = zeros({5}, f32, device), whole = zeros({n, 5}, f32, device);
    Tensor word = full({3}, all.rank(), i32, device);
    all.reduceScatter(parts, sum);
    all.allGather(sum, whole);
    size_t gathered = all.mark();
    all.broadcast(word, n - 1);
    all.join(gathered);
    std::vector<float> values = whole.toVector<float>();
    double ranks = n * (n - 1) / 2.0;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], double(i) * n + ranks);
    }
    all.join();
    EXPECT_EQ(word.toVector<int32_t>()[2], n - 1);
    all.check();
  });
}

TEST_P(NcclGpuRanks, oneMicroStepEachTrainsAsOneProcess) {
  int n = GetParam();
  Options plain = optionsOf(2, n);
  Options dropped = plain, again = plain;
  dropped.dropout = 0.2;
  again.recompute = true;
  for (const auto &[options, dtype] :
       {std::pair(plain, f32), {dropped, bf16}, {again, f32}}) {
    expectAlike(train(n, options, dtype), train(1, options, dtype)[0]);
  }
}

TEST_P(NcclGpuRanks, severalMicroStepsEachAreThoseOfOneProcess) {
  int n = GetParam();
  Options options = optionsOf(2, 2 * n);
  expectAlike(train(n, options, f32), train(1, options, f32)[0]);
}

/// Every process fails where one has made another call.
TEST_P(NcclGpuRanks, anotherCallEndsTheRun) {
  int n = GetParam();
  std::vector<std::string> errors = errorsOfRanks(
      n,
      [](Communicator &all) {
        Device device = Device::cuda(all.rank());
        Tensor tensor = zeros({all.rank() == 0 ? 2 : 3}, f32, device);
        all.allReduce(tensor);
        all.join();
        synchronize(device);
        all.check();
      },
      Device::cuda);
  for (const std::string &error : errors) {
    EXPECT_THAT(error, AnyOf(HasSubstr("NCCL has failed"),
                             HasSubstr("has failed; its own message")));
  }
}
