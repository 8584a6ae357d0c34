//===- Bridge.cpp - Launching kernels from test-time Python ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/harness/Bridge.h"

#include "nereid/nereid.h"

#include <chrono>
#include <list>
#include <span>
#include <string>
#include <vector>

using namespace nereid;

/// Owns everything the views in `arguments` point to.
struct NereidBridgeLaunch {
  Kernel kernel;
  Grid grid;
  std::list<std::string> strings;
  std::list<Tensor> tensors;
  std::vector<LaunchArgument> arguments;
};

namespace {

thread_local std::string lastError;

DType dtypeNamed(const char *name) {
  std::optional<DType> dtype = parseDType(name);
  if (!dtype) {
    raise({ErrorCode::InvalidArgument,
           std::string("no dtype is called '") + name + "'",
           {}});
  }
  return *dtype;
}

Argument toArgument(const NereidBridgeArgument &argument, Device device,
                    NereidBridgeLaunch &launch) {
  switch (argument.kind) {
  case NereidBridgeNone:
    return nullptr;
  case NereidBridgeBool:
    return argument.integer != 0;
  case NereidBridgeInt:
    return argument.integer;
  case NereidBridgeFloat:
    return argument.real;
  case NereidBridgeDType:
    return dtypeNamed(argument.text);
  case NereidBridgeString:
    return launch.strings.emplace_back(argument.text);
  case NereidBridgeTensor: {
    Shape shape(argument.shape, argument.shape + argument.rank);
    Shape strides(argument.strides, argument.strides + argument.rank);
    return launch.tensors.emplace_back(Tensor::borrow(
        argument.data, shape, dtypeNamed(argument.text), device, strides));
  }
  default:
    raise({ErrorCode::InvalidArgument, "unknown argument kind", {}});
  }
}

/// Runs `body`; an exception becomes lastError and the result `failed`.
template <typename Result, typename Body>
Result guarded(Result failed, Body body) {
  try {
    return body();
  } catch (const std::exception &error) {
    lastError = error.what();
    return failed;
  }
}

} // namespace

NereidBridgeLaunch *nereidBridgePrepare(const char *file, const char *kernel,
                                        const char *deviceName,
                                        const int64_t *grid, int32_t gridRank,
                                        const NereidBridgeArgument *arguments,
                                        int32_t count) {
  return guarded<NereidBridgeLaunch *>(nullptr, [&] {
    Device device = Device::parse(deviceName);
    auto launch = std::make_unique<NereidBridgeLaunch>();
    launch->kernel = Kernel::load(file, kernel).on(device);
    launch->grid = Grid(std::span(grid, gridRank));
    for (int32_t i = 0; i < count; ++i) {
      std::string &name = launch->strings.emplace_back(arguments[i].name);
      launch->arguments.emplace_back(name,
                                     toArgument(arguments[i], device, *launch));
    }
    launch->kernel.compile(launch->arguments);
    return launch.release();
  });
}

int64_t nereidBridgeRun(NereidBridgeLaunch *launch, int32_t repetitions) {
  return guarded<int64_t>(-1, [&]() -> int64_t {
    auto start = std::chrono::steady_clock::now();
    for (int32_t i = 0; i < repetitions; ++i) {
      launch->kernel.launch(launch->grid, launch->arguments);
    }
    auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed)
        .count();
  });
}

void nereidBridgeFree(NereidBridgeLaunch *launch) { delete launch; }

const char *nereidBridgeError() { return lastError.c_str(); }

void nereidBridgeSetThreads(int32_t count) { setNumThreads(count); }
