//===- FakeKernelSet.cpp - The set on the fake compiler -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fake compilation takes some milliseconds and its image has 64 KiB, so that
// processes meet while compiling and while writing.
//
//===----------------------------------------------------------------------===//

#include "KernelSet.h"

#include "nereid/Runtime/testing/FakeCompiler.h"

#include <chrono>
#include <thread>

namespace nereid {

namespace {
/// Puts weight on the images of FakeCompiler.
class HeavyCompiler : public FakeCompiler {
public:
  using FakeCompiler::FakeCompiler;

  Expected<CompileResult> compile(const CompileRequest &request) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    Expected<CompileResult> result = FakeCompiler::compile(request);
    if (result.ok()) {
      result->image.sites.resize(1);
      result->image.sites[0].message = std::string(1 << 16, 'w');
    }
    return result;
  }
};
} // namespace

static FakeKernel makeKernel(int index) {
  FakeKernel kernel;
  kernel.description.name = "k" + std::to_string(index);
  kernel.description.sourceHash = kernel.description.name;
  kernel.description.parameters = {parameter("out_ptr"), parameter("x_ptr"),
                                   parameter("n"), constexprParameter("BLOCK")};
  kernel.program = [index](const FakeCall &call) {
    int64_t block = call.integer("BLOCK"), n = call.integer("n");
    int64_t begin = call.program(0) * block;
    for (int64_t i = begin; i < std::min(n, begin + block); ++i) {
      call.pointer<float>("out_ptr")[i] =
          call.pointer<float>("x_ptr")[i] * static_cast<float>(index + 2) + 1;
    }
  };
  return kernel;
}

std::unique_ptr<KernelCompiler> makeSetCompiler() {
  auto world = std::make_shared<FakeWorld>();
  for (int i = 0; i < kernelSetSize; ++i) {
    FakeKernel kernel = makeKernel(i);
    std::string name = kernel.description.name;
    world->kernels[name] = std::move(kernel);
  }
  return std::make_unique<HeavyCompiler>(world);
}

Kernel loadSetKernel(int index, Context &context) {
  return Kernel::fromSource(Source{"set.py", "", {}},
                            "k" + std::to_string(index), context);
}

} // namespace nereid
