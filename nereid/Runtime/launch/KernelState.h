//===- KernelState.h - What a Kernel handle refers to -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_KERNELSTATE_H
#define NEREID_RUNTIME_LAUNCH_KERNELSTATE_H

#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/autotune/ConfigSelection.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/launch/LaunchPlan.h"
#include "nereid/Runtime/launch/WordTable.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <set>

namespace nereid {

/// Whether stores should pass the caches, where a launch's tensors exceed them.
/// On a socket whose cores saturate the memory it saves reading what is
/// overwritten, a third of a copy's traffic; where few cores wait for latency,
/// it costs time; and arrays that are hardly larger than the cache stay in it
/// for a good part from launch to launch, unless stores pass it. So the first
/// launches try both, each several times in a row: the last finds the caches as
/// its own kind leaves them. Never changes a result.
class StreamingChoice {
public:
  static constexpr uint32_t trials = 6; ///< three through the caches, then past

  bool next() {
    uint32_t launch = launches.load(std::memory_order_relaxed);
    if (launch < trials) {
      launches.store(launch + 1, std::memory_order_relaxed);
      return launch >= trials / 2;
    }
    return nsPerByte[1] < nsPerByte[0];
  }
  void record(bool streamed, double ns, uint64_t bytes) {
    auto cost = static_cast<float>(ns / static_cast<double>(bytes));
    if (cost < nsPerByte[streamed]) {
      nsPerByte[streamed] = cost;
    }
  }

private:
  std::atomic<uint32_t> launches = 0;
  std::atomic<float> nsPerByte[2] = {std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::infinity()};
};

/// What a launch on a GPU needs of the loaded image, side by side.
struct GpuEntry {
  gpu::FunctionHandle function = nullptr;
  gpu::DeviceState *device = nullptr;
  const gpu::LoadedKernel *kernel = nullptr;
  unsigned threads = 0, sharedBytes = 0;
  bool hasFaultRecord = false, hasTensorMaps = false, isHip = false;
};

/// Texts for observers (Runtime/Observer.h).
struct KernelTexts {
  const char *name = "", *symbol = "", *constants = "";
};

/// A kernel, compiled for one signature.
struct alignas(64) Specialization {
  GpuEntry gpu;
  std::shared_ptr<const LoadedImage> loaded;
  /// For each entry of the image's parameters: the kernel's parameter, or,
  /// counted after those, the leaf of a tuple or descriptor.
  std::vector<uint16_t> slotParameters;
  /// Running estimate of one program's cost; 0 before the first measurement.
  /// Decides only whether threads are worth waking, never what is computed.
  std::atomic<float> programNs = 0;
  /// What code ahead of time was compiled with.
  std::optional<CompileOptions> options;
  StreamingChoice streaming;
  KernelTexts texts;
  /// The plan of the first way in which it was launched; null when there is
  /// none.
  std::once_flag planned;
  std::unique_ptr<const LaunchPlan> plan;
};

/// Results of the kernel's heuristics for one combination of arguments.
struct HeuristicValues {
  std::deque<StaticValue> values;                       ///< addresses stay
  std::vector<std::pair<uint16_t, Argument>> arguments; ///< by parameter
};

struct PrecompiledKernel;

struct KernelState {
  KernelState(Context::State &context, Source source,
              KernelDescription description);

  LaunchPlans plans;
  Context::State &context;
  std::shared_ptr<Context::State> keptContext; ///< for kernels that outlive it
  Source source;
  KernelDescription description;
  const char *keptName; ///< for observers
  /// Where it comes from a library: then nothing is compiled.
  std::shared_ptr<PrecompiledKernel> precompiled;
  /// Defaults as arguments; only those of parameters that have one are used.
  std::vector<Argument> defaults;
  /// Parameter index of each name of description.heuristics.
  std::vector<uint16_t> heuristicParameters;

  WordTable<Specialization> specializations;
  WordTable<HeuristicValues> heuristics;
  ConfigSelection configs;
  /// Specializations that some thread is making (SpecializationLock).
  std::mutex compiling;
  std::condition_variable compiled;
  std::set<std::vector<uint64_t>> underway;

  std::optional<size_t> findParameter(std::string_view name) const;
  /// "add_kernel(x_ptr, n, BLOCK: tl.constexpr = 64)": for messages.
  std::string signature() const;
  /// The text of a line of the source; empty when out of range.
  std::string sourceLine(uint32_t line) const;
};

/// A launch up to loaded code. `device` is for those without tensors; absent:
/// Device::best().
Expected<CompiledInfo> compileKernel(KernelState &kernel,
                                     std::optional<Device> device,
                                     std::span<const LaunchArgument> arguments);

/// The same up to code on the disk, for a target whose device need not be here.
Expected<CompiledElsewhere>
compileKernelFor(KernelState &kernel, const std::string &target,
                 std::span<const LaunchArgument> arguments);

Expected<LaunchPreview>
previewLaunch(KernelState &kernel, std::optional<Device> device,
              const Grid &grid, std::span<const LaunchArgument> arguments);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_KERNELSTATE_H
