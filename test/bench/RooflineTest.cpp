//===- RooflineTest.cpp - Rates are measured once and kept ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By a clock whose readings are a second apart, on a machine whose
// arrays are small: how often it measures, and what its rates are, are known.
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Roofline.h"
#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/nereid.h" // connects the compiler

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>

using namespace nereid;
using bench::Roofline;

namespace {

class RooflineTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nereid-roofline-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name));
    folder = name;
    Knobs knobs = processKnobs();
    knobs.cacheDir = folder;
    before = exchangeKnobs(std::move(knobs));
    options.clock = std::make_shared<ManualClock>(1000);
    options.machine.lastLevelCacheBytes = 1 << 20;
    options.machine.memoryBytes = 16 << 20;
    options.tell = [this](const std::string &what) { told.push_back(what); };
  }
  void TearDown() override {
    exchangeKnobs(std::move(before));
    std::filesystem::remove_all(folder);
  }

  Roofline measured() {
    told.clear();
    return bench::rooflineOf(Device::cpu(), options);
  }
  std::string keptPath() const {
    std::string path;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::string name = entry.path().filename();
      path = name.starts_with("roofline-") ? entry.path().string() : path;
    }
    return path;
  }
  /// Puts another rate into the kept one.
  void keep(double copy, const std::function<void(Roofline &)> &change = {}) {
    Roofline roofline = *bench::parseRoofline(*readFile(keptPath()));
    roofline.copy = copy;
    if (change) {
      change(roofline);
    }
    ASSERT_TRUE(replaceFile(keptPath(), textOf(roofline)).ok());
  }

  std::string folder;
  Knobs before;
  bench::RooflineOptions options;
  std::vector<std::string> told;
};

} // namespace

// A run is a second: arrays of 4 MiB, read and written.
TEST_F(RooflineTest, RatesAreBytesAndOperationsBySeconds) {
  Roofline roofline = measured();
  EXPECT_DOUBLE_EQ(roofline.copy, 2 * (4 << 20) / 1e9);
  const double programs = 64.0 * numThreads();
  EXPECT_DOUBLE_EQ(roofline.cache, 4 * 1024 * 64 * programs / 1e9);
  EXPECT_DOUBLE_EQ(roofline.operations["fp32"],
                   16 * 64 * 1024 * programs / 1e12);
  EXPECT_EQ(told.size(), 3u * 3u); // no turn finds a better one than the first
}

TEST_F(RooflineTest, OneThatIsKeptIsNotMeasured) {
  measured();
  keep(12345);
  EXPECT_EQ(measured().copy, 12345);
  EXPECT_TRUE(told.empty());
  options.again = true;
  EXPECT_NE(measured().copy, 12345);
  EXPECT_FALSE(told.empty());
  options.again = false;
  EXPECT_NE(measured().copy, 12345);
  EXPECT_TRUE(told.empty());
}

TEST_F(RooflineTest, OneOfAnotherBuildDriverOrMachineIsMeasuredAgain) {
  measured();
  for (std::string Roofline::*field :
       {&Roofline::build, &Roofline::driver, &Roofline::device}) {
    keep(12345, [&](Roofline &kept) { kept.*field = "another"; });
    EXPECT_NE(measured().copy, 12345);
    EXPECT_FALSE(told.empty());
  }
}

TEST_F(RooflineTest, ATornOneIsMeasuredAgain) {
  measured();
  ASSERT_TRUE(replaceFile(keptPath(), "torn").ok());
  EXPECT_GT(measured().copy, 0);
  EXPECT_FALSE(told.empty());
  measured();
  EXPECT_TRUE(told.empty());
}

TEST_F(RooflineTest, OneThatIsStoppedIsNotKept) {
  options.stops = [this] { return told.size() >= 2; };
  measured();
  EXPECT_EQ(keptPath(), "");
  EXPECT_LE(told.size(), 2u);
}
