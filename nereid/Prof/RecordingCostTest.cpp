//===- RecordingCostTest.cpp - What recording costs a launch --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The best of many batches, which holds on a busy machine, too. What a driver
// and CUPTI take for themselves is not in it.
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Profiler.h"
#include "nereid/Prof/testing/FakeCupti.h"
#include "nereid/Runtime/cuda/CudaDevice.h"
#include "nereid/Runtime/cuda/testing/CudaFixture.h"
#include "nereid/Support/Knobs.h"

#include <chrono>

using namespace nereid;

namespace {
class RecordingCost : public CudaFixture {
protected:
  RecordingCost()
      : driver(const_cast<cuda::Driver &>(
            valueOrThrow(cuda::DeviceState::get(0))->driver)),
        kept(driver) {
    FakeKernel empty = addKernel();
    empty.description.name = "empty";
    empty.entry = [](const void *, LaunchFrame *, int64_t, int64_t) {};
    world->kernels["empty"] = empty;
    fake().functions["empty"].parameterBytes = {8, 8, 8, 4};
    driver.launchKernel = [](cuda::FunctionHandle, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, unsigned,
                             cuda::StreamHandle, void **,
                             void **) { return cuda::Result{cuda::Success}; };
    driver.eventRecord = [](cuda::EventHandle, cuda::StreamHandle) {
      return cuda::Result{cuda::Success};
    };
  }
  ~RecordingCost() override {
    driver = kept;
    exchangeKnobs(savedKnobs);
  }
  static cuda::FakeDriver &fake() { return cuda::fakeDriver(); }

  void useCupti(const std::string &library) {
    Knobs settings = knobs();
    settings.cupti = library;
    exchangeKnobs(settings);
  }
  /// Nanoseconds of a launch.
  double best(const Kernel &kernel, const Tensor &x) {
    constexpr int launches = 1000, batches = 60;
    double best = 1e9;
    for (int batch = 0; batch < batches; ++batch) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i) {
        kernel[1](x, x, x, 100);
      }
      std::chrono::duration<double, std::nano> ns =
          std::chrono::steady_clock::now() - start;
      best = std::min(best, ns.count() / launches);
    }
    return best;
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
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
    EXPECT_LT(on - off, 1000);
    EXPECT_LT(off, 300);
    EXPECT_LT(after, 300);
#endif
  }

  cuda::Driver &driver;
  const cuda::Driver kept;
  const Knobs savedKnobs = knobs();
};
} // namespace

TEST_F(RecordingCost, OnCpuIsBelowAMicrosecond) {
  expectCheap(Device::cpu(), "cpu");
}

TEST_F(RecordingCost, OfAGpuWithCuptiIsBelowAMicrosecond) {
  useCupti(NEREID_FAKE_CUPTI);
  expectCheap(gpu, "cuda, CUPTI");
  prof::cupti::fakeCupti().reset();
}

TEST_F(RecordingCost, OfAGpuWithEventsIsBelowAMicrosecond) {
  useCupti("none");
  expectCheap(gpu, "cuda, events");
}
