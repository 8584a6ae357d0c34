//===- RecordingBudget.cpp - What recording may cost a launch -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a driver and CUPTI take for themselves is not in it.
//
//===----------------------------------------------------------------------===//

#include "bench/budgets/Best.h"

#include "nereid/Prof/Profiler.h"
#include "nereid/Prof/testing/FakeCupti.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Support/Knobs.h"

#include <cstdio>

using namespace nereid;

namespace {
class RecordingBudget : public CudaFixture {
protected:
  RecordingBudget()
      : driver(const_cast<gpu::Driver &>(
            valueOrThrow(gpu::DeviceState::get(Device::cuda(0)))->driver)),
        kept(driver) {
    FakeKernel empty = addKernel();
    empty.description.name = "empty";
    empty.entry = [](const void *, LaunchFrame *, int64_t, int64_t) {};
    world->kernels["empty"] = empty;
    fake().functions["empty"].parameterBytes = {8, 8, 8, 4};
    driver.launchKernel = [](gpu::FunctionHandle, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, unsigned,
                             gpu::StreamHandle, void **,
                             void **) { return gpu::Result{gpu::Success}; };
    driver.eventRecord = [](gpu::EventHandle, gpu::StreamHandle) {
      return gpu::Result{gpu::Success};
    };
  }
  ~RecordingBudget() override {
    driver = kept;
    exchangeKnobs(savedKnobs);
  }
  static gpu::FakeDriver &fake() { return gpu::fakeDriver(); }

  void useCupti(const std::string &library) {
    Knobs settings = knobs();
    settings.cupti = library;
    exchangeKnobs(settings);
  }
  /// Nanoseconds of a launch.
  static double best(const Kernel &kernel, const Tensor &x) {
    return bestNs(60, 1000, [&] { kernel[1](x, x, x, 100); });
  }
  void expectCheap(Device device, const char *what) {
    Kernel kernel = this->kernel("empty");
    Tensor x = zeros({128}, f32, device);
    double off = best(kernel, x);
    double on;
    {
      Profiler profiler;
      profiler.start();
      on = best(kernel, x);
    }
    double after = best(kernel, x);
    std::printf("%s: %.0f ns a launch, %.0f recorded, %.0f after\n", what, off,
                on, after);
    EXPECT_LT(on - off, 1000);
    EXPECT_LT(off, 300);
    EXPECT_LT(after, 300);
  }

  gpu::Driver &driver;
  const gpu::Driver kept;
  const Knobs savedKnobs = knobs();
};
} // namespace

TEST_F(RecordingBudget, OnCpuIsAMicrosecond) {
  expectCheap(Device::cpu(), "cpu");
}

TEST_F(RecordingBudget, OfAGpuWithCuptiIsAMicrosecond) {
  useCupti(NEREID_FAKE_CUPTI);
  expectCheap(gpu, "cuda, CUPTI");
  prof::cupti::fakeCupti().reset();
}

TEST_F(RecordingBudget, OfAGpuWithEventsIsAMicrosecond) {
  useCupti("none");
  expectCheap(gpu, "cuda, events");
}
