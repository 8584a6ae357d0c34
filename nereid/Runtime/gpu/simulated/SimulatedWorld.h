//===- SimulatedWorld.h - What the simulated driver keeps -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H
#define NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H

#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace nereid::gpu {

/// Of one simulated GPU.
struct ContextObject {
  std::recursive_mutex mutex; ///< of its streams' work
  std::vector<StreamHandle> streams;
};

/// Of a stream: `run`, or a wait for the first `place` works of another one.
struct StreamItem {
  std::function<Result()> run;
  std::shared_ptr<struct StreamQueue> awaited = nullptr;
  size_t place = 0;
};

/// What a stream was given and has not run.
struct StreamQueue {
  ContextHandle context = nullptr;
  std::deque<StreamItem> works;
  size_t done = 0;
};

/// Of a recording: `run`, or a wait for the first `place` works of the stream
/// of that number.
struct GraphItem {
  std::function<Result()> run;
  size_t awaited = 0, place = 0;
};

/// What was recorded of each stream, the one that the recording began on first.
struct GraphObject {
  std::vector<std::vector<GraphItem>> streams;
};
struct GraphExecObject {
  std::shared_ptr<const GraphObject> graph;
};

/// A recording that goes on.
struct CaptureObject {
  GraphObject graph;
  std::vector<StreamHandle> members;
};

struct StreamObject {
  std::shared_ptr<StreamQueue> queue = std::make_shared<StreamQueue>();
  std::shared_ptr<CaptureObject> capture; ///< null: none
  size_t number = 0;                      ///< among its members
  /// By member, how many of its works are before this stream's next one.
  std::vector<size_t> before;
};

struct EventObject {
  std::shared_ptr<double> milliseconds = std::make_shared<double>(0);
  std::shared_ptr<StreamQueue> queue; ///< of the stream that it was recorded on
  size_t place = 0;
  std::weak_ptr<CaptureObject> capture; ///< that it was recorded in
  size_t number = 0;
  std::vector<size_t> before;
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
  bool isLazy = false;   ///< a stream's work runs when something waits for it
  unsigned gpus = 1;
  uint64_t seed = 0;
};
Expected<Options> parseOptions(const std::string &text);

inline constexpr unsigned mostGpus = 8;

struct World {
  Options options;
  sim::Allocations memory;
  std::array<ContextObject, mostGpus> contexts;
  /// A fault: every later call returns it.
  std::atomic<Result> fatal = Success;
  size_t memoryBytes = 0;
  /// Of simulateAndProfile: one of them, or none.
  std::function<void(const ProfiledLaunch &)> tell;
  std::function<void(const ProfiledHipLaunch &)> onHipLaunch;
  sim::GridSample sample;
  std::string target;
  bool isLoaded = false;
};

World &world();

/// CUresult values that only this driver returns.
inline constexpr Result invalidValue = 1, notFound = 500, notSupported = 801,
                        captureUnsupported = 900, captureUnjoined = 904,
                        captureIsolation = 905;

/// Runs it, or keeps it for the graph that the stream records.
/// At once; with `isLazy` when something waits for it, on the thread that does;
/// where the stream is being recorded, at each launch of the graph.
Result enqueue(StreamHandle stream, std::function<Result()> work);
/// What the stream was given runs; of all streams of the current context.
Result finish(StreamHandle stream);
Result runAll();

/// CUDA's entry points of GpuDriver.def.
#define NEREID_GPU(name, cuda, hip, parameters) Result name parameters;
#define NEREID_GPU_HIP(name, hip, parameters)
#include "nereid/Runtime/gpu/GpuDriver.def"

} // namespace nereid::gpu::simulated

#endif // NEREID_RUNTIME_GPU_SIMULATED_SIMULATEDWORLD_H
