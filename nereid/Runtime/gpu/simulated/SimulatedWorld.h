//===- SimulatedWorld.h - What the simulated driver keeps -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H
#define NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H

#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <atomic>
#include <functional>
#include <map>

namespace nereid::gpu {

struct ContextObject {};

struct StreamObject {
  bool isCapturing = false;
  std::vector<std::function<Result()>> captured;
};

struct EventObject {
  double milliseconds = 0;
};

struct GraphObject {
  std::vector<std::function<Result()>> work;
};
struct GraphExecObject {
  std::vector<std::function<Result()>> work;
};

struct LinkObject {
  char *errors = nullptr;
  size_t errorBytes = 0;
  std::string text;
};

struct ModuleObject {
  std::unique_ptr<sim::Module> module;
  std::vector<unsigned char> globals;
  std::map<std::string, FunctionHandle> functions;
};

struct FunctionObject {
  std::unique_ptr<const sim::Program> program;
  const ModuleObject *module;
};

} // namespace nereid::gpu

namespace nereid::gpu::simulated {

/// NEREID_SIMULATOR.
struct Options {
  unsigned computeCapability = 90; ///< 10 * major + minor
  sim::AsyncOrder asyncOrder = sim::AsyncOrder::Late;
  bool checksRaces = false;
  bool hasPages = false; ///< accesses are checked by pages of 2 MiB
  uint64_t seed = 0;
};
Expected<Options> parseOptions(const std::string &text);

struct World {
  Options options;
  sim::Allocations memory;
  ContextObject context;
  StreamObject legacy;
  /// A fault: every later call returns it.
  std::atomic<Result> fatal = Success;
  size_t memoryBytes = 0;
  /// Of simulateAndProfile: one of them, or none.
  std::function<void(const ProfiledLaunch &)> tell;
  std::function<void(const ProfiledHipLaunch &)> tellHip;
  sim::GridSample sample;
  std::string target;
  bool isLoaded = false;
};

World &world();

/// CUresult values that only this driver returns.
inline constexpr Result invalidValue = 1, notFound = 500, notSupported = 801;

/// Runs it, or keeps it for the graph that the stream records.
Result enqueue(StreamHandle stream, std::function<Result()> work);

/// CUDA's entry points of GpuDriver.def.
#define NEREID_GPU(name, cuda, hip, parameters) Result name parameters;
#define NEREID_GPU_HIP(name, hip, parameters)
#include "nereid/Runtime/gpu/GpuDriver.def"

} // namespace nereid::gpu::simulated

#endif // NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H
