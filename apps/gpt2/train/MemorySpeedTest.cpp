//===- MemorySpeedTest.cpp - A step's memory as the system counts it ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a system holds beside tensors, for threads, arenas and compiled code,
// differs from machine to machine, and with its load, its huge pages and its
// swap; MemoryTest.cpp judges the tensors alone.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Memory.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/nereid.h"

#include <fstream>
#include <gmock/gmock.h>
#include <malloc.h>

using namespace nereid;
using namespace nereid::gpt2;

/// From now on the peak is counted again; false where the system does not.
static bool resetPeak() {
  ::malloc_trim(0); // what was freed is not to be taken again
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

/// Resident memory at most.
static int64_t peakBytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (file >> word) {
    if (word == "VmHWM:") {
      file >> kilobytes;
    }
  }
  return kilobytes * 1024;
}

TEST(MemorySpeed, theEstimateIsWhatAStepTakesOfTheSystem) {
  for (auto [dtype, recomputes] :
       {std::pair(f32, false), {bf16, false}, {f32, true}}) {
    Options options;
    options.layers = 4;
    options.heads = 4;
    options.width = 96;
    options.blockSize = 64;
    options.gradientAccumulationSteps = 1;
    GptConfig config{.layers = 4,
                     .heads = 4,
                     .width = 96,
                     .context = 64,
                     .vocabulary = 512,
                     .bias = false,
                     .dtype = dtype};
    // The first step compiles, which takes memory as well.
    for (int64_t batch : {2, 256}) {
      options.batchSize = batch;
      emptyCache(Device::cpu());
      if (!resetPeak()) {
        GTEST_SKIP() << "/proc/self/clear_refs cannot be written here";
      }
      int64_t before = peakBytes();
      Model model(config, 1, Device::cpu());
      model.setRecomputes(recomputes);
      Trainer trainer(model, options);
      Shape shape = {batch, options.blockSize};
      Batch one{zeros(shape, i32, Device::cpu()),
                zeros(shape, i32, Device::cpu())};
      for (int64_t step = 0; step < 2; ++step) {
        trainer.step(step, {&one, 1});
        trainer.loss();
      }
      auto taken = double(peakBytes() - before);
      double estimate =
          stepMemory(config, options.blockSize, recomputes).total(batch);
      if (batch > 2) {
        EXPECT_NEAR(taken, estimate, 0.25 * estimate)
            << shortName(dtype) << (recomputes ? ", recomputed" : "");
      }
    }
  }
}
