//===- LaunchFixture.h - Kernels for the launch tests -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TESTING_LAUNCHFIXTURE_H
#define NEREID_RUNTIME_TESTING_LAUNCHFIXTURE_H

#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/testing/FakeCompiler.h"

#include <gmock/gmock.h>

namespace nereid {

/// A context without a disk cache and two kernels: `add`, as in the first
/// tutorial, and `count`, which notes every program that ran.
class LaunchFixture : public testing::Test {
protected:
  /// Options but for the disk cache.
  explicit LaunchFixture(ContextOptions options = {})
      : world(std::make_shared<FakeWorld>()),
        context(std::make_unique<FakeCompiler>(world),
                withoutDisk(std::move(options))) {
    world->kernels["add"] = addKernel();
    world->kernels["count"] = countKernel();
  }

  static ContextOptions withoutDisk(ContextOptions options) {
    options.cacheDirectory = "/nonexistent";
    options.cacheBytes = 0;
    return options;
  }

  static FakeKernel addKernel() {
    FakeKernel kernel;
    kernel.description.name = "add";
    kernel.description.parameters = {
        parameter("x_ptr"), parameter("y_ptr"), parameter("out_ptr"),
        parameter("n"), constexprParameter("BLOCK_SIZE", StaticValue(64))};
    for (uint32_t i = 0; i < 5; ++i) {
      kernel.description.parameters[i].location = {"add.py", 2, 9 + 7 * i, 2,
                                                   14 + 7 * i};
    }
    kernel.description.location = {"add.py", 2, 5, 2, 8};
    kernel.program = [](const FakeCall &call) {
      int64_t block = call.integer("BLOCK_SIZE"), n = call.integer("n");
      const float *x = call.pointer<float>("x_ptr");
      const float *y = call.pointer<float>("y_ptr");
      float *out = call.pointer<float>("out_ptr");
      int64_t begin = call.program(0) * block;
      for (int64_t i = begin; i < std::min(begin + block, n); ++i) {
        out[i] = x[i] + y[i];
      }
    };
    return kernel;
  }

  FakeKernel countKernel() {
    FakeKernel kernel;
    kernel.description.name = "count";
    kernel.description.parameters = {parameter("out_ptr")};
    kernel.program = [](const FakeCall &call) {
      const LaunchFrame *f = call.frame;
      int64_t p = f->programId[0] +
                  int64_t{f->grid[0]} *
                      (f->programId[1] + int64_t{f->grid[1]} * f->programId[2]);
      std::atomic_ref(call.pointer<int32_t>("out_ptr")[p]) += 1;
    };
    return kernel;
  }

  Kernel kernel(const std::string &name) {
    Source source{"add.py",
                  "@triton.jit\n"
                  "def add(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: "
                  "tl.constexpr = 64):\n",
                  {}};
    return Kernel::fromSource(source, name, context);
  }

  /// What the Error thrown by `f` says, or "" when nothing is thrown.
  template <typename F>
  static std::string errorOf(F f) {
    try {
      f();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  /// The specs of the last compilation.
  std::vector<ArgumentSpec> lastSpecs() {
    return world->requests.back().arguments;
  }

  std::shared_ptr<FakeWorld> world;
  Context context;
};

} // namespace nereid

#endif // NEREID_RUNTIME_TESTING_LAUNCHFIXTURE_H
