//===- LoaderTest.cpp
//------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Loader.h"

#include "apps/gpt2/train/Philox.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <set>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {
class LoaderOfShards : public ::testing::Test {
protected:
  /// Token i is i, over shards of these sizes.
  std::vector<Shard> shardsOf(const std::vector<size_t> &sizes) {
    std::vector<Shard> shards;
    int32_t token = 0;
    for (size_t size : sizes) {
      std::string path = folder / std::to_string(sizes.size()) + "-" +
                         std::to_string(shards.size()) + ".tokens";
      std::vector<int32_t> tokens(size);
      std::iota(tokens.begin(), tokens.end(), token);
      token += static_cast<int32_t>(size);
      ShardWriter writer(path, 1 << 20, Digest{});
      writer.append(tokens);
      writer.finish();
      writer.commit();
      shards.push_back(Shard::open(path));
    }
    return shards;
  }
  Loader loader(uint64_t seed = 1337, int64_t batch = 12, int64_t block = 16) {
    return Loader(shardsOf({5000}), batch, block, seed);
  }

  TestFolder folder;
};

using Rows = std::vector<int32_t>;

Rows numbersOf(const Tensor &tensor) {
  const int32_t *first = tensor.data<int32_t>();
  return {first, first + tensor.numel()};
}

/// Inputs, then targets.
Rows numbersOf(const Batch &batch) {
  Rows numbers = numbersOf(batch.inputs), targets = numbersOf(batch.targets);
  numbers.insert(numbers.end(), targets.begin(), targets.end());
  return numbers;
}
} // namespace

/// Random123's known answers for philox4x32-10.
TEST(Philox, hasTheKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0), 0xE169C58D6627E8D5u);
  uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(philox(ones, ones, ones), 0x41C83B0E408F276Du);
  EXPECT_EQ(philox(0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3243F6A88),
            0x94FDCCEBD16CFE09u);
}

TEST_F(LoaderOfShards, rowsAreNeighboursAndTargetsAreOneLater) {
  Loader loader = this->loader();
  EXPECT_EQ(loader.tokens(), 5000u);
  Batch batch = loader.batch(0);
  EXPECT_EQ(batch.inputs.shape(), (std::vector<int64_t>{12, 16}));
  EXPECT_EQ(batch.targets.shape(), (std::vector<int64_t>{12, 16}));
  EXPECT_EQ(batch.inputs.dtype(), i32);
  Rows inputs = numbersOf(batch.inputs), targets = numbersOf(batch.targets);
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i], inputs[i / 16 * 16] + static_cast<int32_t>(i % 16));
    EXPECT_EQ(targets[i], inputs[i] + 1);
    EXPECT_LT(targets[i], 5000);
  }
}

TEST_F(LoaderOfShards, aBatchDependsOnSeedAndStepAlone) {
  Loader first = loader();
  std::vector<Rows> expected;
  for (uint64_t step = 0; step < 20; ++step) {
    expected.push_back(numbersOf(first.batch(step)));
  }
  EXPECT_EQ(std::set<Rows>(expected.begin(), expected.end()).size(), 20u);
  // In any order, some of them twice, and by another loader.
  Loader second = loader();
  std::mt19937 generator(1);
  for (int i = 0; i < 100; ++i) {
    uint64_t step = generator() % 20;
    ASSERT_EQ(numbersOf(second.batch(step)), expected[step]) << step;
  }
  // Late steps and large seeds have batches, too.
  Loader another = loader(1338), large = loader(~uint64_t{0});
  EXPECT_NE(numbersOf(another.batch(0)), expected[0]);
  EXPECT_NE(numbersOf(large.batch(~uint64_t{0})), expected[0]);
  EXPECT_EQ(numbersOf(large.batch(5)),
            numbersOf(loader(~uint64_t{0}).batch(5)));
}

TEST_F(LoaderOfShards, partsOfABatchAreThoseOfOneProcess) {
  Loader one = loader();
  for (uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    Batch whole = one.batch(step);
    for (int ranks : {2, 3, 4, 6, 12}) {
      Rows inputs, targets;
      for (int rank = 0; rank < ranks; ++rank) {
        // A process of its own: its loader never saw another part.
        Loader part = loader();
        Batch mine = part.batch(step, rank, ranks);
        EXPECT_EQ(mine.inputs.shape(), (std::vector<int64_t>{12 / ranks, 16}));
        for (int32_t token : numbersOf(mine.inputs)) {
          inputs.push_back(token);
        }
        for (int32_t token : numbersOf(mine.targets)) {
          targets.push_back(token);
        }
      }
      EXPECT_EQ(inputs, numbersOf(whole.inputs)) << ranks;
      EXPECT_EQ(targets, numbersOf(whole.targets)) << ranks;
    }
  }
}

TEST_F(LoaderOfShards, shardsAreOneText) {
  Loader one = loader(7);
  Loader several(shardsOf({1, 7, 0, 992, 3000, 1000}), 12, 16, 7);
  EXPECT_EQ(several.tokens(), 5000u);
  for (uint64_t step = 0; step < 200; ++step) {
    ASSERT_EQ(numbersOf(one.batch(step)), numbersOf(several.batch(step)));
  }
}

TEST_F(LoaderOfShards, everyPlaceIsDrawnAboutEquallyOften) {
  // 10 starts: 26 tokens, blocks of 16 and a target.
  Loader loader(shardsOf({26}), 100, 16, 3);
  std::vector<int> drawn(10);
  for (uint64_t step = 0; step < 100; ++step) {
    Rows inputs = numbersOf(loader.batch(step).inputs);
    for (size_t row = 0; row < 100; ++row) {
      ++drawn.at(static_cast<size_t>(inputs[row * 16]));
    }
  }
  // 1000 of each are expected, with a standard deviation of 30.
  for (int count : drawn) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST_F(LoaderOfShards, batchesStayTheCallers) {
  Loader loader = this->loader();
  Batch first = loader.batch(0);
  Rows before = numbersOf(first);
  for (uint64_t step = 1; step < 10; ++step) {
    (void)loader.batch(step);
  }
  EXPECT_EQ(numbersOf(first), before);
}

TEST_F(LoaderOfShards, moves) {
  Loader loader = this->loader();
  Rows expected = numbersOf(loader.batch(1));
  Loader moved = std::move(loader);
  (void)moved.batch(0); // step 1 is being read ahead
  EXPECT_EQ(numbersOf(moved.batch(1)), expected);
}

TEST_F(LoaderOfShards, wrongUseIsAnswered) {
  std::vector<Shard> shards = shardsOf({16});
  EXPECT_EQ(errorOf([&] { Loader made(shards, 12, 16, 0); }),
            shards[0].path() +
                ": expected at least 17 tokens, one more than the block, got "
                "16; a smaller --block_size or more text will do");
  EXPECT_EQ(errorOf([&] { Loader made(shards, 12, 15, 0); }), "");
  EXPECT_EQ(errorOf([&] { Loader made({}, 12, 15, 0); }),
            "data: expected at least 16 tokens, one more than the block, got "
            "0; a smaller --block_size or more text will do");
  EXPECT_EQ(errorOf([&] { Loader made(shards, 0, 15, 0); }),
            "expected a batch and a block of at least 1, got a batch of 0 and "
            "a block of 15");
  EXPECT_EQ(errorOf([&] { Loader made(shards, 1, -1, 0); }),
            "expected a batch and a block of at least 1, got a batch of 1 and "
            "a block of -1");
  Loader loader = this->loader();
  EXPECT_EQ(errorOf([&] { (void)loader.batch(0, 0, 5); }),
            "expected a batch that divides by the number of processes, got 12 "
            "rows for process 0 of 5");
  EXPECT_NE(errorOf([&] { (void)loader.batch(0, 2, 2); }), "");
  EXPECT_NE(errorOf([&] { (void)loader.batch(0, -1, 2); }), "");
  EXPECT_NE(errorOf([&] { (void)loader.batch(0, 0, 0); }), "");
}

TEST_F(LoaderOfShards, damageIsAnErrorOfTheStepThatMeetsIt) {
  std::vector<Shard> shards = shardsOf({100000});
  std::string path = shards[0].path(), content = contentOf(path);
  content[4096 + 4 * 50000] ^= 1;
  writeContent(path, content);
  Loader loader({Shard::open(path)}, 1, 16, 1);
  int failed = 0, good = 0;
  for (uint64_t step = 0; step < 100; ++step) {
    std::string error = errorOf([&] { (void)loader.batch(step); });
    // The same answer when it is asked for again, read ahead or not.
    EXPECT_EQ(errorOf([&] { (void)loader.batch(step); }), error);
    good += error.empty();
    failed += !error.empty();
    if (!error.empty()) {
      EXPECT_THAT(error, HasSubstr(path + ": damaged: the checksum of bytes"));
    }
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(failed, 3);
}
