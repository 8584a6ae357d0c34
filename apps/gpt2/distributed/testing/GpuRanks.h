//===- GpuRanks.h - Processes of simulated GPUs, as threads ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_TESTING_GPURANKS_H
#define NEREID_APPS_GPT2_DISTRIBUTED_TESTING_GPURANKS_H

#include "apps/gpt2/distributed/testing/FakeNccl.h"
#include "apps/gpt2/distributed/testing/Ranks.h"
#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"

#include <cstdlib>
#include <dlfcn.h>

namespace nereid::gpt2 {

/// Runs `work` as `n` processes would, with a GPU each.
inline void forGpus(int n,
                    const std::function<void(Communicator &, Device)> &work) {
  forRanks(
      n, [&](Communicator &all) { work(all, Device::cuda(all.rank())); },
      Device::cuda);
}

/// Skips without simulated GPUs for all ranks and without FakeNccl.cpp's
/// library in NCCL_LIBRARY: the ctest `gpt2.nccl` has both.
class GpuRanks : public testing::TestWithParam<int> {
protected:
  static void SetUpTestSuite() { gpu::installSimulator(); }

  void SetUp() override {
    const char *name = std::getenv("NCCL_LIBRARY");
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void *set = library ? dlsym(library, fakeNcclSetEnqueue) : nullptr;
    if (!set) {
      GTEST_SKIP() << "NCCL_LIBRARY is not the fake one";
    }
    reinterpret_cast<void (*)(FakeNcclEnqueue)>(set)(
        [](void *stream, std::function<int()> work) {
          return int(gpu::simulated::enqueue(
              static_cast<gpu::StreamHandle>(stream),
              [work = std::move(work)] { return gpu::Result(work()); }));
        });
  }
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TESTING_GPURANKS_H
