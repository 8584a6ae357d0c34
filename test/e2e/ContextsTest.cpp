//===- ContextsTest.cpp - Contexts with compilers of their own -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What nereid/Runtime/ContextTest.cpp shows of a compiler of tests holds of
// the real one, whose code is mapped into the process.
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/CpuLevels.h"
#include "nereid/nereid.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

using namespace nereid;
using namespace nereid::literals;

namespace {

constexpr const char *source = "import triton\n"
                               "import triton.language as tl\n"
                               "@triton.jit\n"
                               "def twice(y, x, n, BLOCK: tl.constexpr):\n"
                               "    i = tl.arange(0, BLOCK)\n"
                               "    m = i < n\n"
                               "    v = tl.load(x + i, mask=m)\n"
                               "    tl.store(y + i, v + v, mask=m)\n";

Knobs settingsFor(const char *level, int threads) {
  Knobs settings;
  settings.cpu = level;
  settings.numThreads = threads;
  settings.cacheSize = 0;
  return settings;
}

/// What a launch wrote.
double launchIn(Context &context, int64_t elements) {
  Tensor x = full({elements}, 3, f32, Device::cpu()),
         y = zeros({elements}, f32, Device::cpu());
  Kernel::fromSource(source, "twice", context)[1](y, x, elements,
                                                  "BLOCK"_a = 64);
  return y.at({elements - 1});
}

std::string targetIn(Context &context) {
  Tensor x = zeros({64}, f32, Device::cpu());
  Kernel twice = Kernel::fromSource(source, "twice", context);
  const LaunchArgument arguments[] = {x, x, 64, "BLOCK"_a = 64};
  return twice.compile(arguments).image.target;
}

size_t entries(const char *folder) {
  std::filesystem::directory_iterator all(folder);
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    ++count;
  }
  return count;
}

} // namespace

TEST(Contexts, TwoCompileForTheirOwnLevelsAtOnce) {
  if (cpu::machineLevel() < 2) {
    GTEST_SKIP() << "a processor of the first level";
  }
  Context first(createKernelCompiler(), {.settings = settingsFor("x86-64", 1)}),
      second(createKernelCompiler(), {.settings = settingsFor("x86-64-v2", 3)});
  std::atomic<int> wrong = 0;
  std::thread other([&] {
    wrong += launchIn(second, 50) != 6 || targetIn(second) != "x86-64-v2";
  });
  wrong += launchIn(first, 50) != 6 || targetIn(first) != "x86-64";
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(first.cacheCounters().compiled, 2u);
  EXPECT_EQ(second.cacheCounters().compiled, 2u);
}

/// The compiler's stages look at the settings, too.
TEST(Contexts, OneDumpsItsStagesAndTheOtherNothing) {
  std::string folder = testing::TempDir() + "/nereid-contexts-dump";
  std::filesystem::remove_all(folder);
  Knobs dumps = settingsFor("", 1);
  dumps.dump = folder;
  Context quiet(createKernelCompiler(), {.settings = settingsFor("", 1)}),
      dumping(createKernelCompiler(), {.settings = dumps});
  EXPECT_EQ(launchIn(quiet, 50), 6);
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(launchIn(dumping, 50), 6);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

/// Each compiles, maps the code, runs it and goes.
TEST(Contexts, TwoHundredLeaveNoFilesThreadsAndMappings) {
  auto openAndClose = [] {
    Context own(createKernelCompiler(), {.settings = settingsFor("", 3)});
    EXPECT_EQ(launchIn(own, 50), 6);
  };
  openAndClose();
  size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task"),
         maps = mappings();
  for (int i = 0; i < 200; ++i) {
    openAndClose();
  }
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  // The heap's own mappings come in few pieces, however many contexts there
  // were; a context's code is one at least.
  EXPECT_LT(mappings(), maps + 50);
}
