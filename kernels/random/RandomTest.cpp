//===- RandomTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/random/Random.h"
#include "kernels/operator/OperatorKernel.h"

#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Stream.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;

NEREID_OPERATOR_TEST(Random);

static std::string bitsOf(const Tensor &tensor) {
  Tensor here = tensor.to(Device::cpu());
  return {static_cast<const char *>(here.data()), size_t(here.bytes())};
}

// On every processor and GPU, by construction: every product in these
// computations that a sum follows is exact or part of a tl.fma (Generators.cpp
// and random.py agree step for step), so that no choice of contractions shows;
// sqrt is rounded correctly; no number is so small that it might be flushed.
TEST_P(Random, hasTheHostsBits) {
  Device cpu = Device::cpu();
  forCases([&] {
    Shape shape = {pick(1, 3), pick(0, isSlow ? 300 : 5000)};
    uint64_t key = generator();
    DType type = oneOf({f32, bf16, f16, f64});
    auto compare = [&](const Generation &g, const Tensor &expected) {
      Tensor got = empty(shape, expected.dtype(), device);
      if (!generate(got, g)) {
        // Without a compiler there are kernels for common types alone.
        EXPECT_FALSE(hasCompiler()) << expected.str();
        EXPECT_NE(expected.dtype(), f32);
        return;
      }
      EXPECT_TRUE(bitsOf(got) == bitsOf(expected)) << expected.str();
    };
    using Kind = Generation::Kind;
    compare({Kind::Uniform, key}, rand(shape, type, cpu, key));
    compare({Kind::Normal, key}, randn(shape, type, cpu, key));
    type = oneOf({i16, i32, i64, u16, u32, u64, f32, bf16, f16});
    int64_t low = isSigned(type) || isFloat(type) ? pick(-30000, 10) : 0,
            high = pick(11, 32767);
    compare({Kind::Integers, key, low, uint64_t(high - low)},
            randint(shape, low, high, type, cpu, key));
    type = oneOf({i32, i64, f32});
    double start = double(pick(-99, 99)), step = double(pick(-9, 9));
    compare({.kind = Kind::Arange, .start = start, .step = step},
            arange(shape, type, cpu, start, step));
  });
}

TEST_P(Random, leavesToTheHostWhatItWouldRound) {
  using Kind = Generation::Kind;
  auto makes = [&](DType type, const Generation &g) {
    return generate(empty({8}, type, device), g);
  };
  EXPECT_FALSE(makes(fp8e5, {Kind::Uniform, 1}));
  EXPECT_FALSE(makes(i64, {Kind::Integers, 1, 0, uint64_t(1) << 32}));
  EXPECT_FALSE(makes(bf16, {Kind::Integers, 1, 0, (1 << 24) + 2}));
  EXPECT_FALSE(makes(i1, {Kind::Integers, 1, 0, 2}));
  EXPECT_FALSE(makes(u8, {.kind = Kind::Arange, .start = 250, .step = 1}));
  EXPECT_FALSE(makes(f32, {.kind = Kind::Arange, .start = 0, .step = 0.5}));
}

TEST_P(Random, runsInAGraph) {
  if (device.isHost()) {
    GTEST_SKIP() << "the host has no graphs";
  }
  Tensor u, z, i, a;
  auto step = [&] {
    u = rand({100}, f32, device, 1);
    z = randn({100}, bf16, device, 2);
    i = randint({100}, 0, 7, i32, device, 3);
    a = arange({100}, i32, device);
  };
  step();
  Graph graph = Graph::capture(device, step);
  EXPECT_EQ(graph.nodes(), 4u);
  graph.replay();
  EXPECT_EQ(bitsOf(u), bitsOf(rand({100}, f32, Device::cpu(), 1)));
  EXPECT_EQ(bitsOf(a), bitsOf(arange({100}, i32, Device::cpu())));
}
