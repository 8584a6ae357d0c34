//===- CudaFixture.h - The runtime over the fake driver ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_TESTING_CUDAFIXTURE_H
#define NEREID_RUNTIME_GPU_TESTING_CUDAFIXTURE_H

#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/gpu/testing/FakeDriver.h"
#include "nereid/Runtime/testing/LaunchFixture.h"

namespace nereid {

/// Two GPUs, and the kernels of LaunchFixture on them: `add` runs there, too.
class CudaFixture : public LaunchFixture {
protected:
  explicit CudaFixture(ContextOptions options = {})
      : LaunchFixture(std::move(options)) {
    gpu::FakeFunction add;
    add.parameterBytes = {8, 8, 8, 4};
    add.run = [](const gpu::FakeKernelCall &call) {
      auto n = static_cast<int32_t>(call.values[3]);
      for (int64_t i = 0; i < std::min<int64_t>(n, 64 * call.grid[0]); ++i) {
        call.pointer<float>(2)[i] =
            call.pointer<float>(0)[i] + call.pointer<float>(1)[i];
      }
    };
    driver().functions["add"] = add;
  }
  ~CudaFixture() override {
    driver().fatal = gpu::Success;
    for (auto &[name, function] : driver().functions) {
      function.run = nullptr; // it may refer to what is gone
    }
    for (int i : {0, 1}) {
      synchronize(Device::cuda(i));
      emptyCache(Device::cuda(i));
    }
    driver().reset();
  }

  static gpu::FakeDriver &driver() { return gpu::fakeDriver(); }
  static int calls(const char *symbol) { return driver().calls[symbol]; }

  const Device gpu = Device::cuda(0), other = Device::cuda(1);
};

} // namespace nereid

#endif // NEREID_RUNTIME_GPU_TESTING_CUDAFIXTURE_H
