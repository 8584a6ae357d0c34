//===- OperatorTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorTest.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

using namespace nereid;
using namespace nereid::kernels;

Numbers kernels::exactly(const Values &values) {
  return {values.begin(), values.end()};
}

Numbers kernels::exactly(const Tensor &tensor) {
  return tensor.defined() ? exactly(tensor.toFloat64()) : Numbers();
}

template <typename Bounds>
static std::string findMisfit(const Tensor &got, const Bounds &expected) {
  Values values = got.toFloat64();
  if (values.size() != expected.size()) {
    return std::to_string(expected.size()) + " elements expected, got " +
           got.str();
  }
  double largest =
      got.dtype() == f16 ? 65504 : std::numeric_limits<float>::max();
  for (size_t i = 0; i < values.size(); ++i) {
    Bound plain = expected[i];
    bool isEqual = values[i] == plain.value ||
                   (std::isnan(values[i]) && std::isnan(plain.value));
    constexpr double timesAPlainLoop = 2;
    Bound bound = reference::roundedTo(
        {plain.value, timesAPlainLoop * plain.error}, got.dtype());
    if (isEqual || std::isinf(bound.error) ||
        std::fabs(bound.value) + bound.error > largest) {
      continue;
    }
    if (!(std::fabs(values[i] - plain.value) <= bound.error)) {
      char text[200];
      std::snprintf(text, sizeof(text),
                    "element %zu of %s: %.9g, expected %.9g +- %.3g", i,
                    got.str().c_str(), values[i], plain.value, bound.error);
      return text;
    }
  }
  return "";
}

std::string kernels::misfit(const Tensor &got, const Numbers &expected) {
  return findMisfit(got, expected);
}
std::string kernels::misfit(const Tensor &got,
                            const std::vector<Bound> &expected) {
  return findMisfit(got, expected);
}

std::string kernels::messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

static bool isSimulated(Device device) {
  const char *driver =
      std::getenv(device.kind() == Device::Kind::Hip ? "NEREID_HIP_DRIVER"
                                                     : "NEREID_CUDA_DRIVER");
  return !device.isHost() && driver && std::string_view(driver) == "simulator";
}

/// 1, so that every run has the same numbers; the soak ring draws others.
static uint64_t firstSeed() {
  const char *given = std::getenv("KERNELS_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 0) : 1;
}

namespace {
/// Before any test of the program, also those of no device: the first that asks
/// for devices decides for the process whether there is a simulated GPU.
struct SimulatedGpu : testing::Environment {
  void SetUp() override {
    gpu::installSimulator();
    if (firstSeed() != 1) {
      std::cout << "KERNELS_TEST_SEED=" << firstSeed() << "\n";
    }
  }
};
const auto *const simulatedGpu =
    testing::AddGlobalTestEnvironment(new SimulatedGpu);
} // namespace

void OperatorTest::SetUp() {
  // The suites of cuda run on another GPU that this names: hip:0.
  const char *gpu = std::getenv("KERNELS_TEST_GPU");
  if (gpu && std::string_view(GetParam()) == "cuda:0") {
    Expected<Device> found = Device::tryParse(gpu);
    if (!found.ok()) {
      GTEST_SKIP() << found.failure().message;
    }
    device = *found;
  } else {
    e2e::OnDevice::SetUp();
  }
  if (!hasCompiler() && device == Device::interp()) {
    GTEST_SKIP() << "kernels compiled ahead of time need no interpreter";
  }
  isSlow = device == Device::interp() || isSimulated(device);
  seed = firstSeed();
  generator.seed(seed);
}

void OperatorTest::forCases(const std::function<void()> &one, int cases) {
  if (const char *given = std::getenv("KERNELS_TEST_CASES")) {
    cases = std::atoi(given);
  } else if (isSlow) {
    cases = std::max(cases / 4, 1);
  } else if (hasCompiler()) {
    cases -= cases / 3; // nearly all of a case's time compiles its kernels
  }
  uint64_t first = seed;
  bool isSlowDevice = isSlow;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    seed = first + uint64_t(i);
    generator.seed(seed);
    SCOPED_TRACE("KERNELS_TEST_SEED=" + std::to_string(seed) +
                 " KERNELS_TEST_CASES=1 repeats this case");
    bool isJudged = device != Device::interp() && seed % 2 == 1;
    isSlow = isSlowDevice || isJudged;
    if (isJudged) {
      judge = LaunchJudge::make(device);
    }
    one();
    judge.reset();
  }
  isSlow = isSlowDevice;
}

int64_t OperatorTest::pick(int64_t low, int64_t high) {
  return low + int64_t(generator() % uint64_t(high - low + 1));
}

int64_t OperatorTest::awkwardSize(int64_t most) {
  constexpr int64_t sizes[] = {1,    2,    3,    7,    8,    31,   32,   33,
                               64,   65,   97,   127,  128,  129,  192,  255,
                               256,  257,  509,  512,  768,  1000, 1021, 1024,
                               1025, 2048, 4096, 4099, 8192, 16411};
  auto end = std::upper_bound(std::begin(sizes), std::end(sizes), most);
  return coin() ? pick(1, most) : sizes[pick(0, end - std::begin(sizes) - 1)];
}

Tensor OperatorTest::random(const Shape &shape, DType dtype, double scale,
                            double offset) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  std::normal_distribution<float> normal(static_cast<float>(offset),
                                         static_cast<float>(scale));
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    value = normal(generator);
  }
  return laidOut(Tensor::fromVector(values, shape).to(dtype));
}

Tensor OperatorTest::laidOut(const Tensor &values) {
  int rank = values.rank();
  switch (rank ? pick(0, 3) : 0) {
  case 1: { // gaps between rows, filled with what must not be read
    Shape wider = values.shape();
    wider[size_t(rank - 1)] += pick(1, 9);
    Tensor whole = full(wider, NAN, f32, Device::cpu()).to(values.dtype());
    Tensor view = whole.to(device).slice(rank - 1, 0, values.size(-1));
    view.copyFrom(values);
    return view;
  }
  case 2: { // at an offset
    int64_t before = pick(1, 7);
    Tensor whole = full({values.numel() + before}, NAN, f32, Device::cpu())
                       .to(values.dtype())
                       .to(device);
    Tensor view = whole.slice(0, before).view(values.shape());
    view.copyFrom(values);
    return view;
  }
  case 3: { // two dimensions exchanged
    if (rank < 2) {
      return values.to(device);
    }
    int a = int(pick(0, rank - 1)), b = int(pick(0, rank - 1));
    return values.transpose(a, b).contiguous().to(device).transpose(a, b);
  }
  default:
    return values.to(device);
  }
}

/// A judgement in which every bound is infinite could not fail.
template <typename Bounds>
static bool claimsSomething(const Bounds &expected) {
  return expected.empty() ||
         std::any_of(expected.begin(), expected.end(),
                     [](const Bound &b) { return std::isfinite(b.error); });
}

void OperatorTest::expectClose(const Tensor &got, const Numbers &expected,
                               const char *what) {
  ASSERT_EQ(misfit(got, expected), "") << what;
  EXPECT_TRUE(claimsSomething(expected)) << what;
}

void OperatorTest::checkGradients(
    const Variable &output, const std::vector<Variable> &inputs,
    const std::function<Numbers(const std::vector<Numbers> &)> &reference) {
  Tensor dy = random(output.shape(), output.dtype());
  output.backward(dy);
  reference::Tape tape;
  std::vector<Numbers> at;
  for (const Variable &input : inputs) {
    at.push_back(exactly(input.value()));
    for (Number &value : at.back()) {
      value = input.requiresGrad() ? tape.leaf(value.value) : value;
    }
  }
  Numbers results = reference(at), leaves;
  Values seeds = dy.toFloat64();
  ASSERT_EQ(results.size(), seeds.size());
  for (const Numbers &input : at) {
    leaves.insert(leaves.end(), input.begin(), input.end());
  }
  std::vector<Bound> all = tape.backward(results, seeds, leaves);
  auto next = all.begin();
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto end = next + std::ptrdiff_t(at[k].size());
    std::vector<Bound> expected(next, end);
    next = end;
    if (!inputs[k].requiresGrad()) {
      continue;
    }
    ASSERT_TRUE(inputs[k].grad().defined()) << "input " << k;
    EXPECT_EQ(misfit(inputs[k].grad(), expected), "")
        << "gradient of input " << k;
    EXPECT_TRUE(claimsSomething(expected)) << "gradient of input " << k;
  }
}
