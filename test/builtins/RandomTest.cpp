//===- RandomTest.cpp - Philox against a plain implementation --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <array>
#include <cmath>

using namespace nereid::test;

namespace {

using Counter = std::array<uint32_t, 4>;

/// Philox4x32-10 as its authors define it (Salmon et al., SC 2011).
Counter philox(uint64_t seed, Counter c, int rounds = 10) {
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < rounds; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1,
         static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

float uniformOf(uint32_t bits) {
  auto x = static_cast<int32_t>(bits);
  return static_cast<float>(x < 0 ? -x - 1 : x) * 4.6566127342e-10f;
}

/// The published vectors, so that the reference above is not its own judge.
TEST(Philox, ReferenceMatchesPublishedVectors) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0x299f31d0'a4093822,
                   {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

class RandomTest : public OnTarget {};

TEST_P(RandomTest, BitsAreExact) {
  constexpr int n = 53;
  for (int64_t seed : {int64_t{0}, int64_t{42}, int64_t{0x123456789abcdef}}) {
    std::vector<uint32_t> out(4 * n);
    std::vector<uint32_t> one(n), six(n);
    Snippet(GetParam(), "o = tl.arange(0, N)\n"
                        "a, b, c, d = tl.randint4x(seed, o)\n"
                        "tl.store(out + o, a)\n"
                        "tl.store(out + N + o, b)\n"
                        "tl.store(out + 2 * N + o, c)\n"
                        "tl.store(out + 3 * N + o, d)\n"
                        "tl.store(one + o, tl.randint(seed, o))\n"
                        "tl.store(six + o, tl.randint(seed, o, n_rounds=6))")
        .array("out", out)
        .array("one", one)
        .array("six", six)
        .scalar("seed", seed)
        .constant("N", n)
        .run();
    for (uint32_t i = 0; i < n; ++i) {
      Counter expected = philox(seed, {i, 0, 0, 0});
      for (int word = 0; word < 4; ++word) {
        EXPECT_EQ(out[word * n + i], expected[word]) << i;
      }
      EXPECT_EQ(one[i], expected[0]);
      EXPECT_EQ(six[i], philox(seed, {i, 0, 0, 0}, 6)[0]);
    }
  }
}

TEST_P(RandomTest, LongOffsetsAndRawPhilox) {
  constexpr int n = 16;
  std::vector<uint32_t> out(n);
  std::vector<uint32_t> raw(n);
  Snippet(GetParam(), "o = tl.arange(0, N)\n"
                      "far = o.to(tl.int64) + 0x500000003\n"
                      "tl.store(out + o, tl.randint(7, far))\n"
                      "a, b, c, d = tl.philox(7, o, 1, 2, 3)\n"
                      "tl.store(raw + o, d)")
      .array("out", out)
      .array("raw", raw)
      .constant("N", n)
      .run();
  for (uint32_t i = 0; i < n; ++i) {
    EXPECT_EQ(out[i], philox(7, {3 + i, 5, 0, 0})[0]);
    EXPECT_EQ(raw[i], philox(7, {i, 1, 2, 3})[3]);
  }
}

TEST_P(RandomTest, UniformAndNormal) {
  constexpr int n = 2048;
  std::vector<float> uniform(n), normal(n), normal3(n);
  Snippet(GetParam(), "o = tl.arange(0, N)\n"
                      "tl.store(u + o, tl.rand(seed, o))\n"
                      "tl.store(g + o, tl.randn(seed, o))\n"
                      "a, b, c, d = tl.randn4x(seed, o)\n"
                      "tl.store(h + o, d)")
      .array("u", uniform)
      .array("g", normal)
      .array("h", normal3)
      .scalar("seed", int32_t{99})
      .constant("N", n)
      .run();
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < n; ++i) {
    Counter bits = philox(99, {i, 0, 0, 0});
    EXPECT_EQ(uniform[i], uniformOf(bits[0]));
    auto boxMuller = [](uint32_t a, uint32_t b, bool second) {
      double u1 = std::max(1e-7f, uniformOf(a));
      double angle = 6.283185307179586 * uniformOf(b);
      return std::sqrt(-2 * std::log(u1)) *
             (second ? std::sin(angle) : std::cos(angle));
    };
    EXPECT_NEAR(normal[i], boxMuller(bits[0], bits[1], false), 5e-6);
    EXPECT_NEAR(normal3[i], boxMuller(bits[2], bits[3], true), 5e-6);
    sum += normal[i];
    squares += normal[i] * normal[i];
  }
  EXPECT_NEAR(sum / n, 0, 0.08);
  EXPECT_NEAR(squares / n, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomTest, testing::Values("interp", "cpu"));

} // namespace
