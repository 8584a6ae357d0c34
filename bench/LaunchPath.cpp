//===- LaunchPath.cpp - What a warm launch costs, hot and cold --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's own part of kernel[{1}](x, y, z, n, "BLOCK"_a = 1024), without
// compiler, GPU and driver: the kernel is empty, and cuLaunchKernel is a
// function that returns. Hot is back to back. Cold is after 64 KiB of other
// code and of other data, as after a driver's call, which leaves little of the
// runtime in the first-level caches; a launch then costs what it touches.
// Both against one empty call in the same place.
//
//   NereidLaunchPath
//
//===----------------------------------------------------------------------===//

#include "bench/Cost.h"
#include "bench/budgets/Best.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/testing/FakeDriver.h"
#include "nereid/Runtime/testing/FakeCompiler.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace nereid;
using namespace nereid::literals;

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration d) {
  return std::chrono::duration<double, std::nano>(d).count();
}

//===----------------------------------------------------------------------===//
// Other code, other data
//===----------------------------------------------------------------------===//

constexpr size_t lines = 1024;
alignas(64) uint64_t otherData[lines * 8];

/// A line of code and more.
template <size_t I>
[[gnu::noinline, gnu::aligned(64)]] void otherCode() {
  otherData[I * 8] += I;
#if defined(__x86_64__)
  asm volatile(".nops 40");
#endif
}

template <size_t... I>
[[gnu::noinline]] void callAll(std::index_sequence<I...>) {
  (otherCode<I>(), ...);
}

[[gnu::noinline]] void evict() { callAll(std::make_index_sequence<lines>()); }

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// ns a call, the clock's own included; the median.
template <typename F>
double cold(F call) {
  std::vector<double> times(20000);
  for (double &time : times) {
    evict();
    auto start = Clock::now();
    call();
    time = nanoseconds(Clock::now() - start);
  }
  return median(times);
}

[[gnu::noinline]] gpu::Result launchNothing(gpu::FunctionHandle, unsigned,
                                            unsigned, unsigned, unsigned,
                                            unsigned, unsigned, unsigned,
                                            gpu::StreamHandle, void **,
                                            void **) {
  asm volatile("");
  return gpu::Success;
}

template <typename F>
void report(const char *what, F launch) {
  auto empty = [] {
    launchNothing(nullptr, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  double hotNs = bestNs(200, 2000, launch) - bestNs(200, 2000, empty);
  double coldNs = cold(launch) - cold(empty);
  std::printf("| %-36s | %7.1f ns | %7.1f ns |\n", what, hotNs, coldNs);
}

/// What a Profiler adds is the difference from the row "one form". Events do
/// nothing, as launches do.
void measureRecorded(const Kernel &kernel, Device device) {
  Tensor x = zeros({1024}, f32, device), y = zeros({1024}, f32, device),
         z = zeros({1024}, f32, device);
  int n = 1000;
  Profiler profiler({.mostRecords = size_t{8} << 20});
  profiler.start();
  report(("one form, recorded (" + device.str() + ")").c_str(),
         [&] { kernel[{1}](x, y, z, n, "BLOCK"_a = 1024); });
}

void measure(const Kernel &kernel, Device device) {
  Tensor x = zeros({1024}, f32, device), y = zeros({1024}, f32, device),
         z = zeros({1024}, f32, device);
  std::string on = " (" + device.str() + ")";
  int n = 1000;
  report(("one form" + on).c_str(),
         [&] { kernel[{1}](x, y, z, n, "BLOCK"_a = 1024); });
  int turn = 0;
  report(("two forms in turn" + on).c_str(), [&] {
    turn ^= 1;
    kernel[{1}](x, y, z, n + 8 * turn, "BLOCK"_a = 1024);
  });
  report(("many forms in turn" + on).c_str(), [&] {
    turn = (turn + 1) & 15;
    kernel[{1}](x, y, z, n, "BLOCK"_a = 16 << turn);
  });
  auto grid = [n](const Meta &m) { return Grid{cdiv(n, m["BLOCK"])}; };
  report(("a grid function" + on).c_str(),
         [&] { kernel[grid](x, y, z, n, "BLOCK"_a = 1024); });
}

} // namespace

int main() {
  setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1);
  FakeKernel add;
  add.description.name = "add";
  add.description.parameters = {parameter("x_ptr"), parameter("y_ptr"),
                                parameter("z_ptr"), parameter("n"),
                                constexprParameter("BLOCK")};
  add.entry = [](const void *, LaunchFrame *, int64_t, int64_t) {};
  auto world = std::make_shared<FakeWorld>();
  world->kernels["add"] = add;
  Context context(std::make_unique<FakeCompiler>(world),
                  ContextOptions{"/nonexistent", 0});
  Kernel kernel = Kernel::fromSource("", "add", context);

  gpu::fakeDriver().functions["add"].parameterBytes = {8, 8, 8, 4};
  auto gpu = valueOrThrow(gpu::DeviceState::get(Device::cuda(0)));
  auto &driver = const_cast<gpu::Driver &>(gpu->driver);
  driver.launchKernel = launchNothing;
  driver.eventRecord = [](gpu::EventHandle, gpu::StreamHandle) {
    return gpu::Result{gpu::Success};
  };

  std::printf("| %-36s | hot        | cold       |\n|---|---|---|\n", "launch");
  measure(kernel, Device::cuda(0));
  measure(kernel, Device::cpu());
  measureRecorded(kernel, Device::cuda(0));
  measureRecorded(kernel, Device::cpu());
}
