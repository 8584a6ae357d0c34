//===- OperatorTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorTest.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/cuda/simulated/SimulatedDriver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <mutex>

using namespace nereid;
using namespace nereid::kernels;

double kernels::roundingOf(DType dtype) {
  return dtype == bf16 ? 0x1p-8 : dtype == f16 ? 0x1p-11 : 0x1p-24;
}

static bool isSimulated(Device device) {
  const char *driver = std::getenv("NEREID_CUDA_DRIVER");
  return !device.isHost() && driver && std::string_view(driver) == "simulator";
}

/// 1, so that every run has the same numbers; the soak ring draws others.
static uint64_t firstSeed() {
  const char *given = std::getenv("KERNELS_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 0) : 1;
}

void OperatorTest::SetUp() {
  static std::once_flag once;
  std::call_once(once, [] {
    cuda::installSimulator();
    if (firstSeed() != 1) {
      std::cout << "KERNELS_TEST_SEED=" << firstSeed() << "\n";
    }
  });
  e2e::OnDevice::SetUp();
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
  }
  uint64_t first = seed;
  for (int i = 0; i < cases && !HasFatalFailure(); ++i) {
    seed = first + uint64_t(i);
    generator.seed(seed);
    SCOPED_TRACE("KERNELS_TEST_SEED=" + std::to_string(seed) +
                 " KERNELS_TEST_CASES=1 repeats this case");
    one();
  }
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

void OperatorTest::expectClose(const Tensor &got, const Values &expected,
                               double ulps, double floor, const char *what) {
  Values values = got.toFloat64();
  ASSERT_EQ(values.size(), expected.size()) << what;
  double rounding = roundingOf(got.dtype());
  for (size_t i = 0; i < values.size(); ++i) {
    double scale = std::fabs(expected[i]) + floor;
    // fp16 has nothing smaller than 2^-24; what is computed is fp32.
    double bound = scale * (rounding + ulps * 0x1p-24) +
                   (got.dtype() == f16 ? 0x1p-25 : 1e-38);
    ASSERT_NEAR(values[i], expected[i], bound)
        << what << ", element " << i << " of " << got.str();
  }
}

void OperatorTest::checkGradients(
    const Variable &output, const std::vector<Variable> &inputs,
    const std::function<Values(const std::vector<Values> &)> &reference,
    double tolerance, double floor) {
  Tensor dy = random(output.shape(), output.dtype());
  output.backward(dy);
  Values seed = dy.toFloat64();
  std::vector<Values> at;
  for (const Variable &input : inputs) {
    at.push_back(input.value().toFloat64());
  }
  std::normal_distribution<double> normal;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].requiresGrad()) {
      continue;
    }
    ASSERT_TRUE(inputs[k].grad().defined()) << "input " << k;
    Values gradient = inputs[k].grad().toFloat64();
    Values direction(gradient.size());
    for (double &v : direction) {
      v = normal(generator);
    }
    constexpr double step = 1e-4;
    auto along = [&](double t) {
      std::vector<Values> moved = at;
      for (size_t i = 0; i < direction.size(); ++i) {
        moved[k][i] += t * direction[i];
      }
      Values y = reference(moved);
      double sum = 0;
      for (size_t i = 0; i < y.size(); ++i) {
        sum += y[i] * seed[i];
      }
      return sum;
    };
    // Fourth order. Where half the step gives another value, the difference is
    // what is not known.
    auto derivative = [&](double h) {
      return (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) /
             (12 * h);
    };
    double expected = derivative(step / 2);
    double unknown = std::fabs(derivative(step) - expected);
    double got = 0, scale = 0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      got += gradient[i] * direction[i];
      scale += gradient[i] * gradient[i] * direction[i] * direction[i];
    }
    double rounding = roundingOf(inputs[k].dtype());
    EXPECT_NEAR(got, expected,
                (std::sqrt(scale) + floor) * (4 * rounding + tolerance) +
                    1e-8 * std::fabs(expected) + unknown)
        << "gradient of input " << k << ", " << inputs[k].value().str();
  }
}
