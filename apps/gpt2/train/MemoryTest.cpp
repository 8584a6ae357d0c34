//===- MemoryTest.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Memory.h"

#include "apps/gpt2/train/Trainer.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/nereid.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

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
  StepFit fit{config, 12, 1024};
  StepMemory memory = fit.memory(false);
  EXPECT_EQ(memory.sequence, stepMemory(config, 1024, false).sequence);
  fit.available = int64_t(memory.total(12));
  EXPECT_EQ(refusal(fit), "");
  fit.available = int64_t(memory.total(5)) + 1;
  EXPECT_EQ(refusal(fit),
            "out of memory: a step of 12 sequences of 1024 tokens takes about "
            "15.9 GB, and cpu has 8.6 GB free; --batch_size=5 would fit, or 9 "
            "with --recompute; more --gradient_accumulation_steps make up for "
            "it");
  fit.available = int64_t(memory.total(1)) - 1;
  EXPECT_THAT(refusal(fit),
              HasSubstr("free; --batch_size=1 with --recompute would fit; "));
  fit.available = memory.parameters;
  EXPECT_THAT(refusal(fit),
              HasSubstr("of this model no batch fits: its parameters and "
                        "a checkpoint's copy of them take 3.5 GB, a sequence "
                        "1.0 GB; a smaller --block_size"));
  // The estimate fitted, and the step did not: it is no guide any more, and
  // half of what was asked for ends after few tries.
  fit.available = int64_t(memory.total(20));
  EXPECT_EQ(fit.failure().message,
            "out of memory: a step of 12 sequences of 1024 tokens takes more "
            "than the 15.9 GB that were expected, and cpu had 24.1 GB free at "
            "the start; try --batch_size=6 or --recompute; more "
            "--gradient_accumulation_steps make up for it");
  fit.recomputes = true;
  EXPECT_THAT(fit.failure().message, HasSubstr("try --batch_size=6; more "));
  fit.batch = 1;
  EXPECT_THAT(fit.failure().message,
              HasSubstr("of this model no batch fits: "));
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
  auto addresses = [] {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
  };
  int64_t all = freeBytes(Device::cpu());
  EXPECT_GT(all, 0);
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  constexpr int64_t spare = int64_t{64} << 20;
  int64_t ofThreads = (numThreads() + 3) * addressesOfThread;
  int64_t first = addresses(), limit = first + ofThreads + spare;
  rlimit small = {rlim_t(limit), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
  int64_t limited = freeBytes(Device::cpu()), last = addresses();
  ::setrlimit(RLIMIT_AS, &before);
  // Another thread may have mapped or unmapped memory in between.
  auto left = [&](int64_t used) { return (limit - ofThreads - used) / 6 * 5; };
  EXPECT_LE(limited, std::max<int64_t>(left(std::min(first, last)), 0));
  if (all > 16 * spare) { // else the machine itself may have less
    EXPECT_GE(limited, left(std::max(first, last)));
  }
}

namespace {

/// The largest number of bytes that the runtime has held for tensors: those of
/// tensors, and those kept for later ones.
struct MostMemory : Observer {
  void memory(Device, uint64_t used, uint64_t cached) override {
    uint64_t held = used + cached, before = most;
    while (before < held && !most.compare_exchange_weak(before, held)) {
    }
  }
  std::atomic<uint64_t> most = 0;
};

} // namespace

/// By the runtime's own count: what the system holds beside that, for threads
/// and compiled code, differs from machine to machine.
TEST(Memory, theEstimateIsThatOfAStep) {
  constexpr int64_t batch = 256;
  for (auto [dtype, recomputes] :
       {std::pair(f32, false), {bf16, false}, {f32, true}}) {
    Options options;
    options.layers = 4;
    options.heads = 4;
    options.width = 96;
    options.blockSize = 64;
    options.batchSize = batch;
    options.gradientAccumulationSteps = 1;
    GptConfig config{.layers = 4,
                     .heads = 4,
                     .width = 96,
                     .context = 64,
                     .vocabulary = 512,
                     .bias = false,
                     .dtype = dtype};
    emptyCache(Device::cpu());
    auto observer = std::make_shared<MostMemory>();
    ASSERT_TRUE(observe(observer)) << "another observer is left";
    uint64_t before = hostMemoryUse();
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
    stopObserving(*observer);
    auto taken = double(observer->most - before);
    double estimate =
        stepMemory(config, options.blockSize, recomputes).total(batch);
    // What Memory.h promises. Of layers that are computed again tensors take
    // less: their values are there when the logits are gone. What the system
    // counts of such a step is near the estimate (MemorySpeedTest.cpp).
    std::string name =
        std::string(shortName(dtype)) + (recomputes ? ", recomputed" : "");
    EXPECT_LE(taken, 1.25 * estimate) << name;
    if (!recomputes) {
      EXPECT_GE(taken, 0.75 * estimate) << name;
    }
  }
}
