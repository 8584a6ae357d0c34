//===- LaunchBinding.h - Arguments meet parameters --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binding follows Python's call rules: positional arguments fill parameters
// from the left, names fill the rest, defaults fill what is left. A name that
// is no parameter may be a launch option (num_warps, ...).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_LAUNCHBINDING_H
#define NEREID_RUNTIME_LAUNCH_LAUNCHBINDING_H

#include "nereid/Runtime/launch/KernelState.h"

#include <array>
#include <span>

namespace nereid {

/// The arguments of one launch, parameter by parameter. Lives on the launching
/// thread's stack; nothing is allocated up to 64 parameters.
struct LaunchBinding {
  explicit LaunchBinding(const KernelState &kernel)
      : kernel(kernel), parameters(kernel.description.parameters.size()) {}
  /// For `take` only.
  LaunchBinding(const KernelState &kernel, std::optional<Device> preferred)
      : kernel(kernel), preferred(preferred), parameters(0) {}

  const KernelState &kernel;
  /// For launches without tensors; absent: Device::best().
  std::optional<Device> preferred;
  Device device; ///< known after bind()
  CompileOptions options;
  /// Those of `options` that the launch names (LaunchOptions.h).
  uint32_t givenOptions = 0;

  size_t size() const { return parameters; }
  /// Null: not given.
  const Argument *get(size_t parameter) const { return bound()[parameter]; }
  /// By the launch or a configuration: not by the parameter's default.
  bool isGiven(size_t parameter) const {
    const Argument *argument = get(parameter);
    return argument && argument != &kernel.defaults[parameter];
  }
  void set(size_t parameter, const Argument *argument) {
    bound()[parameter] = argument;
  }

  /// Positional, named and default arguments, and options; the device of the
  /// tensors, which must all be on one, becomes `device`. Not checked for
  /// completeness, since tuning and heuristics may still add arguments.
  Status bind(std::span<const LaunchArgument> arguments);
  /// Instead of `bind`: the plan's launch with these arguments, if it is one.
  bool take(const LaunchPlan &plan, std::span<const LaunchArgument> arguments,
            uint64_t *slots) {
    static_assert(LaunchPlan::places <= inlineParameters);
    if (!plan.match(preferred, arguments, inlined.data(), slots)) {
      return false;
    }
    parameters = plan.parameters;
    device = plan.device;
    options = plan.options;
    return true;
  }
  /// Does every parameter have an argument?
  Status complete() const;

  Meta meta() const { return Meta(*this); }
  /// Every argument that there is, and num_warps, for host code.
  std::map<std::string, StaticValue> values() const;

private:
  static constexpr size_t inlineParameters = 64;
  Status bindNamed(const LaunchArgument &argument);
  Status resolveDevice();
  Failure onTwoDevices(size_t first, size_t other, const Tensor &tensor) const;
  const Argument **bound() {
    return heap.empty() ? inlined.data() : heap.data();
  }
  const Argument *const *bound() const {
    return heap.empty() ? inlined.data() : heap.data();
  }

  size_t parameters;
  std::array<const Argument *, inlineParameters> inlined;
  std::vector<const Argument *> heap;
};

/// Computes what @triton.heuristics says and the launch did not pass. A value
/// that was passed stays, and is not computed: what it depends on may be known
/// to the host program only.
Status applyHeuristics(KernelState &kernel, LaunchBinding &binding);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_LAUNCHBINDING_H
