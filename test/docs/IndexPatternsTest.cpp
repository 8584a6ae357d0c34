//===- IndexPatternsTest.cpp - Patterns whose places come from data -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/docs/Patterns.h"

using namespace nereid;
using namespace nereid::literals;
using namespace nereid::guide;
using e2e::Guarded;

namespace {

class IndexPatterns : public Pattern {};

TEST_P(IndexPatterns, GatherRows) {
  int64_t words = 20, columns = 100, rows = 31;
  Tensor table = randn({words, columns}, f32, device, 1),
         index = randint({rows}, 0, words, i32, device, 2);
  Guarded y({rows, columns}, f32, device);
  load("gather.py", "gather_rows")[{rows}](y.tensor(), table, index, columns,
                                           "BLOCK"_a = 128);
  std::vector<double> from = table.toFloat64(), at = index.toFloat64(),
                      expected;
  for (double row : at) {
    auto begin = from.begin() + int64_t(row) * columns;
    expected.insert(expected.end(), begin, begin + columns);
  }
  expectValues(y, expected);
}

TEST_P(IndexPatterns, ScatterAddRows) {
  int64_t words = 5, columns = 100, rows = 31; // several rows a word
  Tensor x = small({rows, columns}, 1),
         index = randint({rows}, 0, words, i32, device, 2);
  Guarded table({words, columns}, f32, device);
  table.tensor().fill(0);
  load("gather.py", "scatter_add_rows")[{rows}](table.tensor(), x, index,
                                                columns, "BLOCK"_a = 128);
  std::vector<double> values = x.toFloat64(), at = index.toFloat64(),
                      expected(words * columns);
  for (int64_t i = 0; i < rows * columns; ++i) {
    expected[int64_t(at[i / columns]) * columns + i % columns] += values[i];
  }
  expectValues(table, expected);
}

TEST_P(IndexPatterns, SegmentSums) {
  // One is empty, one ends with a block, one is longer than several.
  std::vector<int32_t> begins = {0, 5, 5, 37, 300};
  Tensor x = small({300}, 1),
         begin = Tensor::fromVector(begins, std::nullopt, device);
  auto segments = int64_t(begins.size()) - 1;
  Guarded y({segments}, f32, device);
  load("gather.py", "segment_sums")[{segments}](y.tensor(), x, begin,
                                                "BLOCK"_a = 32);
  std::vector<double> values = x.toFloat64(), expected(segments);
  for (int64_t s = 0; s < segments; ++s) {
    for (int64_t i = begins[s]; i < begins[s + 1]; ++i) {
      expected[s] += values[i];
    }
  }
  expectValues(y, expected);
}

TEST_P(IndexPatterns, KeepPositive) {
  int64_t n = 500;
  Tensor x = randn({n}, f32, device, 1), count = zeros({1}, i32, device);
  std::vector<double> expected;
  for (double value : x.toFloat64()) {
    if (value > 0) {
      expected.push_back(value);
    }
  }
  Guarded y({int64_t(expected.size())}, f32, device);
  load("scan.py", "keep_positive")[{cdiv(n, 64)}](y.tensor(), count, x, n,
                                                  "BLOCK"_a = 64);
  // Blocks come in any order.
  std::vector<double> kept = y.tensor().toFloat64();
  std::sort(kept.begin(), kept.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(count.at({0}), double(expected.size()));
  EXPECT_EQ(y.strayBytes(), 0u);
}

TEST_P(IndexPatterns, Dropout) {
  int64_t n = 10000;
  Tensor x = full({n}, 1, f32, device);
  Kernel dropout = load("dropout.py", "dropout");
  auto run = [&](int64_t seed, int64_t block) {
    Guarded y({n}, f32, device);
    dropout[{cdiv(n, block)}](y.tensor(), x, n, 0.25, seed, "BLOCK"_a = block);
    EXPECT_EQ(y.strayBytes(), 0u);
    return y.tensor().toVector<float>();
  };
  std::vector<float> first = run(7, 128);
  auto dropped = std::count(first.begin(), first.end(), 0.0f);
  // 2500 and five standard deviations of a binomial (43).
  EXPECT_NEAR(double(dropped), 2500, 217);
  for (float value : first) {
    ASSERT_TRUE(value == 0 || std::fabs(value - 4.0f / 3) < 1e-6) << value;
  }
  EXPECT_EQ(first, run(7, 1000)) << "the mask must not hang on the block size";
  EXPECT_NE(first, run(8, 128)) << "nor be the same for another seed";
}

TEST_P(IndexPatterns, Histogram) {
  int64_t n = 1000, bins = 16;
  Tensor x = randint({n}, 0, bins, i32, device, 1);
  Guarded count({bins}, i32, device);
  count.tensor().fill(0);
  load("histogram.py", "histogram")[{cdiv(n, 128)}](
      count.tensor(), x, n, "BINS"_a = bins, "BLOCK"_a = 128);
  std::vector<double> expected(bins);
  for (double value : x.toFloat64()) {
    ++expected[int64_t(value)];
  }
  expectValues(count, expected);
}

INSTANTIATE_TEST_SUITE_P(, IndexPatterns,
                         testing::Values("cpu", "interp", "cuda"));

} // namespace
