//===- LinearLayoutTest.cpp - The laws of layouts -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/LinearLayout.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace nereid;

namespace {
using Random = std::mt19937_64;

f2::Matrix randomMatrix(Random &random, unsigned rows, unsigned columns) {
  f2::Matrix m(columns);
  for (auto &c : m) {
    c = random() & ((uint64_t{1} << rows) - 1);
  }
  return m;
}

f2::Matrix randomInvertible(Random &random, unsigned bits) {
  for (;;) {
    f2::Matrix m = randomMatrix(random, bits, bits);
    if (f2::rank(m) == bits) {
      return m;
    }
  }
}

/// Bits split at random over register, lane, warp.
std::vector<AxisBits> randomInputs(Random &random, unsigned bits) {
  unsigned r = random() % (bits + 1), l = random() % (bits - r + 1);
  return {{Axis::Register, r}, {Axis::Lane, l}, {Axis::Warp, bits - r - l}};
}

std::vector<AxisBits> randomOutputs(Random &random, unsigned bits) {
  unsigned a = random() % (bits + 1);
  return {{Axis::D0, a}, {Axis::D1, bits - a}};
}

LinearLayout randomLayout(Random &random, unsigned in, unsigned out) {
  return LinearLayout(randomInputs(random, in), randomOutputs(random, out),
                      randomMatrix(random, out, in));
}

LinearLayout example() {
  return LinearLayout::fromBases(
      {{Axis::Register, {{{Axis::D1, 1}}, {{Axis::D0, 1}}}},
       {Axis::Lane, {{{Axis::D1, 2}}, {{Axis::D0, 2}}}}},
      {{Axis::D0, 2}, {Axis::D1, 2}});
}
} // namespace

TEST(LinearLayout, TheExampleOfTheHeader) {
  LinearLayout layout = example();
  // Lane and register of each element, as the table there has them.
  const int table[4][4][2] = {{{0, 0}, {0, 1}, {1, 0}, {1, 1}},
                              {{0, 2}, {0, 3}, {1, 2}, {1, 3}},
                              {{2, 0}, {2, 1}, {3, 0}, {3, 1}},
                              {{2, 2}, {2, 3}, {3, 2}, {3, 3}}};
  for (uint32_t row = 0; row < 4; ++row) {
    for (uint32_t column = 0; column < 4; ++column) {
      Point at = layout.apply(
          {{Axis::Lane, static_cast<uint32_t>(table[row][column][0])},
           {Axis::Register, static_cast<uint32_t>(table[row][column][1])}});
      EXPECT_EQ(at, (Point{{Axis::D0, row}, {Axis::D1, column}}));
    }
  }
  EXPECT_EQ(layout.contiguousRegisters(Axis::D1), 2u);
  EXPECT_EQ(layout.contiguousRegisters(Axis::D0), 1u);
  EXPECT_EQ(layout.str(), "register: (0,1) (1,0)  lane: (0,2) (2,0) -> dim0:2 "
                          "dim1:2");
}

TEST(F2, KernelAndSolverAgreeWithEnumeration) {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    unsigned rows = 1 + random() % 8, columns = 1 + random() % 10;
    f2::Matrix m = randomMatrix(random, rows, columns);
    std::set<uint64_t> image;
    uint64_t zeros = 0;
    for (uint64_t x = 0; x < uint64_t{1} << columns; ++x) {
      image.insert(f2::apply(m, x));
      zeros += f2::apply(m, x) == 0;
    }
    ASSERT_EQ(image.size(), uint64_t{1} << f2::rank(m));
    std::vector<uint64_t> kernel = f2::kernel(m);
    ASSERT_EQ(zeros, uint64_t{1} << kernel.size());
    for (uint64_t k : kernel) {
      ASSERT_EQ(f2::apply(m, k), 0u);
    }
    f2::Solver solver(m);
    for (uint64_t y = 0; y < uint64_t{1} << rows; ++y) {
      auto x = solver.solve(y);
      ASSERT_EQ(x.has_value(), image.count(y) == 1);
      if (x) {
        ASSERT_EQ(f2::apply(m, *x), y);
        ASSERT_EQ(*x & solver.dependentColumns(), 0u);
      }
    }
    f2::Matrix inverse = f2::pseudoInverse(m, rows);
    ASSERT_EQ(f2::multiply(f2::multiply(m, inverse), m), m);
  }
}

TEST(F2, SpanKnowsItsVectorsAndTheirExtremes) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    unsigned rows = 1 + random() % 7;
    f2::Matrix m = randomMatrix(random, rows, random() % 9);
    f2::Span span;
    unsigned grown = 0;
    for (uint64_t v : m) {
      grown += span.add(v);
    }
    ASSERT_EQ(grown, f2::rank(m));
    for (uint64_t v = 0; v < uint64_t{1} << rows; ++v) {
      uint64_t least = v, greatest = v;
      for (uint64_t x = 0; x < uint64_t{1} << m.size(); ++x) {
        least = std::min(least, v ^ f2::apply(m, x));
        greatest = std::max(greatest, v ^ f2::apply(m, x));
      }
      ASSERT_EQ(span.least(v), least);
      ASSERT_EQ(span.greatest(v), greatest);
    }
  }
}

TEST(F2, IntersectionIsWhatBothSpansHold) {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    unsigned rows = 1 + random() % 7;
    auto span = [&](const std::vector<uint64_t> &basis) {
      std::set<uint64_t> all;
      for (uint64_t x = 0; x < uint64_t{1} << basis.size(); ++x) {
        all.insert(f2::apply(basis, x));
      }
      return all;
    };
    f2::Matrix a = randomMatrix(random, rows, random() % 6);
    f2::Matrix b = randomMatrix(random, rows, random() % 6);
    std::set<uint64_t> both;
    std::set<uint64_t> ofB = span(b);
    for (uint64_t v : span(a)) {
      if (ofB.count(v)) {
        both.insert(v);
      }
    }
    std::vector<uint64_t> basis = f2::intersection(a, b);
    ASSERT_EQ(span(basis), both);
    ASSERT_EQ(f2::rank(basis), basis.size());
  }
}

TEST(LinearLayout, ComposeIsApplicationTwice) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    unsigned in = random() % 11, mid = random() % 9, out = random() % 9;
    LinearLayout inner = randomLayout(random, in, mid);
    LinearLayout outer(inner.outputs(), {{Axis::Offset, out}},
                       randomMatrix(random, out, mid));
    LinearLayout both = inner.compose(outer);
    for (uint64_t x = 0; x < uint64_t{1} << in; ++x) {
      ASSERT_EQ(both.applyFlat(x), outer.applyFlat(inner.applyFlat(x)));
    }
  }
}

TEST(LinearLayout, InverseOfAProductIsTheProductOfInverses) {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    unsigned bits = random() % 11;
    std::vector<AxisBits> mid = randomOutputs(random, bits);
    LinearLayout a(randomInputs(random, bits), mid,
                   randomInvertible(random, bits));
    LinearLayout b(mid, {{Axis::Offset, bits}}, randomInvertible(random, bits));
    ASSERT_EQ(a.compose(b).invert(), b.invert().compose(a.invert()));
    LinearLayout identity = a.compose(a.invert());
    for (uint64_t x = 0; x < uint64_t{1} << bits; ++x) {
      ASSERT_EQ(identity.applyFlat(x), x);
    }
  }
}

TEST(LinearLayout, InvertAndComposeFindsTheSameElement) {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    unsigned out = random() % 8;
    std::vector<AxisBits> outputs = randomOutputs(random, out);
    LinearLayout from(randomInputs(random, 9), outputs,
                      randomMatrix(random, out, 9));
    LinearLayout to(randomInputs(random, 10), outputs,
                    randomMatrix(random, out, 10));
    if (!to.isSurjective()) {
      continue;
    }
    LinearLayout conversion = from.invertAndCompose(to);
    for (uint64_t x = 0; x < 512; ++x) {
      ASSERT_EQ(to.applyFlat(conversion.applyFlat(x)), from.applyFlat(x));
    }
  }
}

TEST(LinearLayout, DivisionUndoesTheProduct) {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    LinearLayout a = randomLayout(random, random() % 6, random() % 6);
    LinearLayout b = randomLayout(random, random() % 6, random() % 6);
    LinearLayout product = a * b;
    auto quotient = product.divideLeft(a);
    ASSERT_TRUE(quotient.has_value());
    ASSERT_EQ(*quotient, b);
  }
}

TEST(LinearLayout, ProductActsOnItsPartsAlone) {
  LinearLayout inner = LinearLayout::identity(Axis::Register, Axis::D0, 2);
  LinearLayout layout = inner *
                        LinearLayout::identity(Axis::Lane, Axis::D0, 3) *
                        LinearLayout::broadcast(Axis::Warp, Axis::D0, 1);
  EXPECT_EQ(
      layout.apply({{Axis::Register, 3}, {Axis::Lane, 5}, {Axis::Warp, 1}}),
      (Point{{Axis::D0, 3 + 4 * 5}}));
  EXPECT_EQ(layout.freeMask(Axis::Warp), 1u);
  EXPECT_EQ(layout.freeMask(Axis::Lane), 0u);
  EXPECT_FALSE(
      layout.divideLeft(LinearLayout::identity(Axis::Lane, Axis::D0, 2)));
}

TEST(LinearLayout, ContiguityAgreesWithEnumeration) {
  Random random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    // Mostly identity columns, so that contiguity occurs.
    unsigned bits = 6;
    f2::Matrix columns;
    for (unsigned i = 0; i < bits; ++i) {
      columns.push_back(random() % 4 ? uint64_t{1} << i
                                     : random() & ((1u << bits) - 1));
    }
    unsigned r = random() % (bits + 1);
    LinearLayout layout({{Axis::Register, r}, {Axis::Lane, bits - r}},
                        {{Axis::D0, bits}}, columns);
    unsigned expected = 1;
    for (unsigned n = 2; n <= 1u << r; n *= 2) {
      bool holds = true;
      for (uint64_t x = 0; x < 1u << bits && holds; x += n) {
        uint64_t start = layout.applyFlat(x);
        holds = start % n == 0;
        for (uint64_t i = 1; i < n && holds; ++i) {
          holds = layout.applyFlat(x + i) == start + i;
        }
      }
      if (!holds) {
        break;
      }
      expected = n;
    }
    ASSERT_EQ(layout.contiguousRegisters(Axis::D0), expected) << layout.str();
  }
}
