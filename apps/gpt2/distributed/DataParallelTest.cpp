//===- DataParallelTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/DataParallel.h"
#include "apps/gpt2/distributed/testing/Ranks.h"

#include "kernels/expression/Expression.h"
#include "kernels/linear/Linear.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/nereid.h"

#include <gmock/gmock.h>

#include <cmath>
#include <mutex>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

using Values = std::vector<double>;

/// Two layers, whose gradients are whole numbers of sixteenths whatever the
/// weights are: every sum of them is exact, also in bf16, so that no order of
/// sums shows in the weights.
struct Network {
  explicit Network(Device device, DType dtype = f32) {
    auto add = [&](const char *name, Shape shape, uint64_t seed, double decay) {
      parameters.push_back(
          {name,
           Variable(randn(shape, f32, Device::cpu(), seed).to(dtype).to(device),
                    true),
           decay});
    };
    add("first", {24, 16}, 1, 0.1);
    add("unused", {7}, 2, 0);
    add("second", {8, 24}, 3, 0.1);
    add("bias", {8}, 4, 0);
  }

  /// Adds the gradients of part `i` of four: each has its own.
  void backward(int i, double scale) const {
    const Tensor &weight = parameters[0].variable.value();
    auto whole = [&](Shape shape, int which) {
      return randint(std::move(shape), -2, 3, f32, Device::cpu(),
                     uint64_t(100 * which + i));
    };
    auto on = [&](const Tensor &t) {
      return t.to(weight.dtype()).to(weight.device());
    };
    auto seed = [&](Shape shape, int which) {
      return on(kernels::evaluate(
          kernels::Expression(whole(std::move(shape), which)) * (scale / 4)));
    };
    Variable first = kernels::linear(Variable(on(whole({4, 16}, 1))),
                                     parameters[0].variable, Variable());
    Variable second =
        kernels::linear(Variable(on(whole({4, 24}, 2))), parameters[2].variable,
                        parameters[3].variable);
    first.backward(seed({4, 24}, 3));
    second.backward(seed({4, 8}, 4));
  }

  std::vector<TrainedParameter> parameters;
};

struct Result {
  Values weights, norms;
  std::vector<NamedTensor> state;
  int64_t kept = 0;
  size_t buckets = 0;
};

DataParallelOptions smallBuckets(int64_t microSteps = 1) {
  DataParallelOptions options;
  options.microSteps = microSteps;
  options.optimizer.learningRate = 0.01;
  options.bucketBytes = 1000;
  return options;
}

void step(const Network &network, DataParallel &optimizer,
          const Communicator &all, Values *norms = nullptr) {
  optimizer.zeroGrad();
  int each = 4 / all.size();
  for (int i = 0; i < each; ++i) {
    if (i == each - 1) {
      optimizer.begin();
    }
    network.backward(all.rank() * each + i, 1.0 / 4);
  }
  optimizer.finish();
  kernels::ClippedNorm clipped = optimizer.clippedNorm(0.5);
  if (norms) {
    norms->push_back(clipped.norm.item());
  }
  optimizer.step(clipped.factor);
}

/// Five steps in `n` processes; what each of them has then.
std::vector<Result> train(int n, DType dtype = f32,
                          Device device = Device::cpu(),
                          const std::vector<NamedTensor> &begin = {}) {
  std::vector<Result> results(static_cast<size_t>(n));
  forRanks(
      n,
      [&](Communicator &all) {
        Network network(device, dtype);
        Result &result = results[size_t(all.rank())];
        DataParallel optimizer(all, network.parameters,
                               smallBuckets(4 / all.size()));
        if (!begin.empty()) {
          optimizer.loadOptimizerState(begin, "state");
        }
        for (int i = 0; i < 5; ++i) {
          step(network, optimizer, all, &result.norms);
        }
        for (const TrainedParameter &one : network.parameters) {
          Values values = one.variable.value().toFloat64();
          result.weights.insert(result.weights.end(), values.begin(),
                                values.end());
        }
        result.kept = optimizer.elementsKept();
        result.buckets = optimizer.buckets();
        result.state = optimizer.optimizerState();
        all.check();
      },
      [device](int) { return device; });
  return results;
}

} // namespace

TEST(DataParallel, anyNumberOfProcessesTrainsTheSame) {
  Result alone = train(1)[0];
  for (int n : {2, 4}) {
    std::vector<Result> all = train(n), again = train(n);
    int64_t kept = 0;
    for (size_t r = 0; r < all.size(); ++r) {
      EXPECT_EQ(all[r].weights, all[0].weights);
      EXPECT_EQ(all[r].weights, again[r].weights);
      kept += all[r].kept;
    }
    EXPECT_GT(all[0].buckets, 1u);
    EXPECT_EQ(kept, alone.kept);
    EXPECT_LT(all[0].kept, alone.kept * 3 / 4);
    // The gradient of "unused" is 0 here, and undefined there: both leave the
    // weights as they are without decay.
    EXPECT_EQ(all[0].weights, alone.weights);
    EXPECT_EQ(all[0].norms, alone.norms);
  }
}

TEST(DataParallel, narrowGradientsAreSummedInFp32) {
  Result alone = train(1, bf16)[0];
  std::vector<Result> all = train(2, bf16);
  EXPECT_EQ(all[1].weights, all[0].weights);
  EXPECT_EQ(all[0].norms, alone.norms);
  EXPECT_THAT(all[0].state.back().name, "powers");
}

/// Gradients of random numbers: every order of sums has its own roundings. One
/// process has two micro-steps, and each of two has one.
TEST(DataParallel, microStepsOfProcessesAreThoseOfOne) {
  auto weightsOf = [](int n) {
    std::vector<Values> results(2);
    forRanks(n, [&](Communicator &all) {
      Device cpu = Device::cpu();
      Variable w(randn({40, 33}, bf16, cpu, 1), true);
      DataParallel optimizer(all, {{"w", w, 0.1}}, smallBuckets(2 / n));
      for (int step = 0; step < 4; ++step) {
        optimizer.zeroGrad();
        for (int i = 0; i < 2 / n; ++i) {
          if (i == 2 / n - 1) {
            optimizer.begin();
          }
          auto seed = uint64_t(10 + 2 * step + i * n + all.rank());
          // Two uses of one parameter: a micro-step's gradient is a sum itself.
          auto draw = [&](uint64_t which) {
            return randn({40, 33}, bf16, cpu, seed + 100 * which);
          };
          Variable first = w * draw(1), second = w * draw(2);
          Variable(first + second).backward(draw(3));
        }
        optimizer.finish();
        optimizer.step(optimizer.clippedNorm(0.5).factor);
      }
      results[size_t(all.rank())] = w.value().toFloat64();
    });
    return results;
  };
  EXPECT_EQ(weightsOf(2)[1], weightsOf(1)[0]);
}

/// In bf16 a sum of 1 and 300 times 1/512 stays 1.
TEST(DataParallel, aSumOfManyMicroStepsLosesNothing) {
  forRanks(1, [&](Communicator &all) {
    Variable w(full({1}, 1, bf16, Device::cpu()), true);
    DataParallel optimizer(all, {{"w", w, 0}}, smallBuckets(301));
    optimizer.zeroGrad();
    for (int i = 0; i < 301; ++i) {
      Variable(w * 1).backward(
          full({1}, i == 0 ? 1 : 1.0 / 512, bf16, Device::cpu()));
    }
    optimizer.finish();
    EXPECT_EQ(optimizer.clippedNorm(1).norm.item(), 1 + 300.0 / 512);
  });
}

TEST(DataParallel, aStateIsThatOfAnyNumberOfProcesses) {
  std::vector<NamedTensor> four = train(4)[0].state, one = train(1)[0].state;
  EXPECT_TRUE(train(4)[3].state.empty());
  ASSERT_EQ(four.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(four[i].name, one[i].name);
    EXPECT_EQ(four[i].tensor.toFloat64(), one[i].tensor.toFloat64());
  }
  Result goesOn = train(1, f32, Device::cpu(), four)[0];
  EXPECT_EQ(train(2, f32, Device::cpu(), four)[1].weights, goesOn.weights);
}

TEST(DataParallel, refusesAStateThatDoesNotFit) {
  std::vector<NamedTensor> state = train(1)[0].state;
  forRanks(2, [&](Communicator &all) {
    Network network(Device::cpu());
    DataParallel optimizer(all, network.parameters, smallBuckets());
    std::vector<NamedTensor> some = state;
    some.pop_back();
    EXPECT_THAT(errorOf([&] { optimizer.loadOptimizerState(some, "a.file"); }),
                HasSubstr("a.file: expected the optimiser's tensor 'powers', "
                          "got none"));
    some = state;
    some[0].tensor = zeros({3}, f32, Device::cpu());
    EXPECT_THAT(errorOf([&] { optimizer.loadOptimizerState(some, "a.file"); }),
                HasSubstr("'m.first' as fp32[24, 16], got fp32[3]"));
  });
}

TEST(DataParallel, processesWithOtherParametersAreTold) {
  std::vector<std::string> errors = errorsOfRanks(2, [](Communicator &all) {
    Network network(Device::cpu());
    if (all.rank() == 1) {
      network.parameters[0].name = "other";
    }
    DataParallel optimizer(all, network.parameters, smallBuckets());
  });
  // The one that sees it first ends the run.
  EXPECT_THAT(errors,
              Contains(HasSubstr("process 1: expected the parameters and "
                                 "options of process 0, got others")));
  EXPECT_THAT(errors, Not(Contains("")));
}

TEST(DataParallel, processesWithOtherOptionsAreTold) {
  std::vector<std::string> errors = errorsOfRanks(2, [](Communicator &all) {
    Network network(Device::cpu());
    DataParallelOptions options = smallBuckets();
    options.agreement = all.rank() == 1 ? "after step 20" : "after step 10";
    DataParallel optimizer(all, network.parameters, options);
  });
  EXPECT_THAT(errors,
              Contains(HasSubstr("the same checkpoint to go on from?")));
  EXPECT_THAT(errors, Not(Contains("")));
}

TEST(DataParallel, refusesAStepOfNoMicroSteps) {
  forRanks(1, [](Communicator &all) {
    Network network(Device::cpu());
    EXPECT_THAT(errorOf([&] {
                  DataParallel(all, network.parameters, smallBuckets(0));
                }),
                HasSubstr("microSteps: expected a positive number, got 0"));
  });
}

TEST(DataParallel, refusesBucketsOfNothing) {
  forRanks(1, [](Communicator &all) {
    Network network(Device::cpu());
    DataParallelOptions options;
    options.bucketBytes = 0;
    EXPECT_THAT(
        errorOf([&] { DataParallel(all, network.parameters, options); }),
        HasSubstr("bucketBytes: expected a positive number, got 0"));
  });
}
