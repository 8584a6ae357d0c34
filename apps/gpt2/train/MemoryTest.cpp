//===- MemoryTest.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Memory.h"

#include <fstream>
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/gpt2/train/Trainer.h"
#include "nereid/nereid.h"

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

static std::string refusal(const StepFit &fit) {
  try {
    fit.check();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    return error.message();
  }
  return "";
}

TEST(Memory, saysWhatWouldFit) {
  GptConfig config{
      .layers = 12, .heads = 12, .width = 768, .vocabulary = 50304};
  StepMemory memory = stepMemory(config, 1024, false);
  StepFit fit{config, 12, 1024};
  fit.available = int64_t(memory.total(12));
  EXPECT_EQ(refusal(fit), "");
  fit.available = int64_t(memory.total(5)) + 1;
  EXPECT_EQ(refusal(fit),
            "out of memory: a step of 12 sequences of 1024 tokens takes about "
            "14.4 GB, and cpu has 7.2 GB free; --batch_size=5 would fit, or 9 "
            "with --recompute; more --gradient_accumulation_steps make up for "
            "it");
  fit.available = int64_t(memory.total(1)) - 1;
  EXPECT_THAT(refusal(fit),
              HasSubstr("free; --batch_size=1 with --recompute would fit; "));
  fit.available = memory.parameters;
  EXPECT_THAT(refusal(fit),
              HasSubstr("of this model no batch fits: its parameters take 2.0 "
                        "GB, a sequence 1.0 GB; a smaller --block_size"));
  // The estimate fitted, and the step did not: less than was asked for.
  fit.available = int64_t(memory.total(20));
  fit.recomputes = true;
  EXPECT_THAT(fit.failure().message, HasSubstr("--batch_size=11 would fit; "));
}

TEST(Memory, sizesOfTheLargestKindDoNotOverflow) {
  GptConfig config{.layers = 4096,
                   .heads = 4096,
                   .width = 65536,
                   .context = 1 << 20,
                   .vocabulary = 1 << 24};
  StepMemory memory = stepMemory(config, config.context, false);
  EXPECT_GT(memory.parameters, 0);
  EXPECT_GT(memory.sequence, 0);
  EXPECT_GT(memory.total(1'000'000), 1e21);
}

TEST(Memory, theHostHasSomeFreeAndLimitsCount) {
  int64_t all = freeBytes(Device::cpu());
  EXPECT_GT(all, 1 << 20);
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr int64_t spare = int64_t{64} << 20;
  rlimit small = {rlim_t(pages * ::sysconf(_SC_PAGESIZE) + spare),
                  before.rlim_max};
  ::setrlimit(RLIMIT_AS, &small);
  int64_t limited = freeBytes(Device::cpu());
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(limited, spare);
  EXPECT_GT(limited, spare / 2);
}

/// Resident memory at most, since this was last called with `resets`.
static int64_t peakBytes(bool resets) {
  if (resets) {
    ::malloc_trim(0); // what was freed is not to be taken again
    std::ofstream("/proc/self/clear_refs") << "5";
  }
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

TEST(Memory, theEstimateIsThatOfAStep) {
  for (auto [dtype, recomputes] :
       {std::pair(f32, false), {bf16, false}, {f32, true}}) {
    Options options;
    options.layers = 4;
    options.heads = 4;
    options.width = 96;
    options.blockSize = 64;
    options.batchSize = 256;
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
      int64_t before = peakBytes(/*resets=*/true);
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
      auto taken = double(peakBytes(false) - before);
      double estimate =
          stepMemory(config, options.blockSize, recomputes).total(batch);
      if (batch > 2) {
        EXPECT_NEAR(taken, estimate, 0.25 * estimate)
            << shortName(dtype) << (recomputes ? ", recomputed" : "");
      }
    }
  }
}
