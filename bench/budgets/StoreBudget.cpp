//===- StoreBudget.cpp - What finding something kept may cost -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/budgets/Best.h"

#include "nereid/Runtime/cache/DiskCache.h"
#include "nereid/Tune/TuningStore.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace nereid;

namespace {
class StoreBudget : public testing::Test {
protected:
  StoreBudget() {
    std::string name =
        std::filesystem::temp_directory_path() / "nereid-budgets-XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~StoreBudget() override { std::filesystem::remove_all(folder); }
  std::string folder;
};
} // namespace

/// The runtime's share of the 2 ms that a hit may cost: key, read, verify,
/// decode, of an image of 100 KB. (Loading the code is the compiler's share.)
TEST_F(StoreBudget, AHitOfTheDiskCacheIsHalfAMillisecond) {
  Digest key = hashText("a");
  KernelImage image;
  image.kernel = "k";
  image.code.resize(100000, std::byte{42});
  DiskCache(folder, 1 << 20).store(key, image);
  bool isFound = true;
  double best = bestNs(20, 1, [&] {
    DiskCache fresh(folder, 1 << 20);
    isFound &= fresh.find(key).has_value();
  });
  EXPECT_TRUE(isFound);
  std::printf("disk hit: %.3f ms\n", best / 1e6);
  EXPECT_LT(best / 1e6, 0.5);
}

TEST_F(StoreBudget, AKeptChoiceIsFiveMilliseconds) {
  tune::TuningRecord record;
  record.kernel = "k";
  record.sourceHash = "abc";
  record.device = "a device";
  record.config.values["BLOCK"] = 64;
  record.trials.resize(
      200, {record.config, tune::TrialState::Measured, 0.25, 0.01, 12, ""});
  tune::TuningStore kept(folder + "/tuned");
  ASSERT_TRUE(kept.keep(record).ok());
  bool isFound = true;
  double best = bestNs(5, 1, [&] { isFound &= kept.find(record).has_value(); });
  EXPECT_TRUE(isFound);
  std::printf("kept choice: %.3f ms\n", best / 1e6);
  EXPECT_LT(best / 1e6, 5);
}
