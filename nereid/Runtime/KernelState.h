//===- KernelState.h - What a Kernel handle refers to -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_KERNELSTATE_H
#define NEREID_RUNTIME_KERNELSTATE_H

#include "nereid/Runtime/ConfigSelection.h"
#include "nereid/Runtime/ImageStore.h"
#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/WordTable.h"

#include <atomic>
#include <deque>

namespace nereid {

/// One compiled form of a kernel.
struct Specialization {
  std::shared_ptr<const LoadedImage> loaded;
  /// For each entry of the image's parameters: the kernel's parameter.
  std::vector<uint16_t> slotParameters;
  /// Running estimate of one program's cost; 0 before the first measurement.
  /// Decides only whether threads are worth waking, never what is computed.
  std::atomic<float> programNs = 0;
};

/// Results of the kernel's heuristics for one combination of arguments.
struct HeuristicValues {
  std::deque<StaticValue> values; ///< addresses stay
  std::vector<Argument> arguments;
};

struct KernelState {
  KernelState(Context::State &context, Source source,
              KernelDescription description);

  Context::State &context;
  Source source;
  KernelDescription description;
  /// Defaults as arguments; only those of parameters that have one are used.
  std::vector<Argument> defaults;
  /// Parameter index of each name of description.heuristics.
  std::vector<uint16_t> heuristicParameters;

  WordTable<Specialization> specializations;
  WordTable<HeuristicValues> heuristics;
  ConfigSelection configs;
  std::mutex compiling; ///< one thread compiles a kernel at a time

  std::optional<size_t> findParameter(std::string_view name) const;
  /// "add_kernel(x_ptr, n, BLOCK: tl.constexpr = 64)": for messages.
  std::string signature() const;
  /// The text of a line of the source; empty when out of range.
  std::string sourceLine(uint32_t line) const;
};

/// The whole launch. Throws only what the grid's function throws.
Status launchKernel(KernelState &kernel, Device device, const Grid &grid,
                    std::span<const LaunchArgument> arguments);

/// Up to loaded code.
Expected<CompiledInfo> compileKernel(KernelState &kernel, Device device,
                                     std::span<const LaunchArgument> arguments);

} // namespace nereid

#endif // NEREID_RUNTIME_KERNELSTATE_H
