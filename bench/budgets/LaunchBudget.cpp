//===- LaunchBudget.cpp - What a warm launch may cost ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/budgets/Best.h"

#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"

#include <cstdio>

using namespace nereid;
using namespace nereid::literals;

namespace {
class LaunchBudget : public CudaFixture {};
} // namespace

/// The contract: a warm launch of six arguments and one program costs under a
/// microsecond.
TEST_F(LaunchBudget, OnCpuIsAMicrosecond) {
  FakeKernel k = addKernel();
  k.description.name = "cost";
  k.description.parameters.push_back(parameter("stride"));
  k.entry = [](const void *, LaunchFrame *, int64_t, int64_t) {};
  world->kernels["cost"] = k;
  Kernel cost = kernel("cost");
  Tensor x = zeros({1000}, f32, Device::cpu()), y = x, out = x;
  double best = bestNs(50, 1000, [&] {
    cost[1](x, y, out, 1000, "BLOCK_SIZE"_a = 64, "stride"_a = 1000);
  });
  std::printf("warm launch: %.0f ns\n", best);
  EXPECT_LT(best, 1000);
}

TEST_F(LaunchBudget, OnAGpuIsAMicrosecondMoreThanTheDriversCall) {
  Tensor x = full({1000}, 1, f32, gpu), y = full({1000}, 2, f32, gpu),
         out = zeros({1000}, f32, gpu);
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  synchronize(gpu);
  driver().functions["add"].run = nullptr;
  gpu::DeviceState &device = **gpu::DeviceState::get(Device::cuda(0));
  gpu::ModuleHandle module = nullptr;
  gpu::FunctionHandle function = nullptr;
  char cubin[] = "CUBIN .entry add(";
  device.driver.moduleLoadDataEx(&module, cubin, 0, nullptr, nullptr);
  device.driver.moduleGetFunction(&function, module, "add");
  void *pointers[] = {x.data(), y.data(), out.data()};
  int n = 1000;
  void *parameters[] = {&pointers[0], &pointers[1], &pointers[2], &n};
  auto wait = [&] { synchronize(gpu); };
  double bare = bestNs(
      200, 100,
      [&] {
        device.driver.launchKernel(function, 16, 1, 1, 128, 1, 1, 0,
                                   device.defaultStream->handle, parameters,
                                   nullptr);
      },
      wait);
  double ours = bestNs(200, 100, [&] { add[16](x, y, out, 1000); }, wait);
  device.driver.moduleUnload(module);
  std::printf("launch: %.0f ns over the driver's call of %.0f ns\n",
              ours - bare, bare);
  EXPECT_LT(ours - bare, 1000);
}
