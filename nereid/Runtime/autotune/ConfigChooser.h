//===- ConfigChooser.h - Which configuration a launch gets -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime asks a ConfigChooser which configuration a launch gets, once a
// key: that of the kernel's context (ContextOptions::chooser), else that of the
// process. The library nereid/Tune is one; programs that include
// "nereid/nereid.h" have it. Without any the runtime, which measures nothing,
// takes the first configuration in the decorator's order that compiles.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_AUTOTUNE_CONFIGCHOOSER_H
#define NEREID_RUNTIME_AUTOTUNE_CONFIGCHOOSER_H

#include "nereid/ABI/AccessWatch.h"
#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Runtime/Tensor.h"

#include <array>
#include <functional>
#include <span>

namespace nereid {

/// What a choice depends on.
struct TuningKey {
  std::string kernel, file, sourceHash;
  Device device;
  /// The arguments that the decorator's `key` names; tuned parameters and
  /// options that the launch gives itself.
  std::map<std::string, StaticValue> values;
  std::map<std::string, DType> dtypes; ///< of tensors
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct ReferenceRun {
  AccessWatch watch; ///< what was touched
  /// The copies, in host memory, as they were left.
  std::vector<NamedTensor> tensors;
};

/// The trials of one launch, on its own arguments. A trial has an index; one
/// that fails because of its configuration (it does not compile, it does not
/// fit the device) fails with CompileError, Unsupported or OutOfMemory.
class LaunchTrials {
public:
  virtual ~LaunchTrials() = default;

  virtual const TuningKey &key() const = 0;
  virtual const KernelDescription &kernel() const = 0;
  /// At first one for each configuration of the decorator that agrees with
  /// what the launch gives and that prune_configs_by leaves.
  virtual size_t size() const = 0;
  virtual const ConfigDescription &config(size_t trial) const = 0;
  /// A configuration that is in no list.
  virtual size_t add(ConfigDescription config) = 0;

  /// Type, shape and value of every argument: "x_ptr=fp32[8](1) n=8".
  virtual std::string arguments() const = 0;
  /// The sizes that the launch has with the trial's values.
  virtual Expected<std::array<int32_t, 3>> grid(size_t trial) = 0;

  /// Thread-safe for different trials; everything else is the launching
  /// thread's.
  virtual Status compile(size_t trial) = 0;
  /// One run with everything around it, from the tensors as they were before
  /// all trials. `look` sees those that were written, when the run is over.
  virtual Status
  runFresh(size_t trial,
           const std::function<void(std::span<const NamedTensor>)> &look) = 0;
  /// The parts of a run that is timed: hooks, the kernel alone, hooks.
  /// What the reference executor does with the trial, on copies of the tensors
  /// as they were before all trials. Fails where it cannot say anything: where
  /// programs wait for others, or tensors are large, overlap, or come in
  /// tuples.
  virtual Expected<ReferenceRun> runReference(size_t trial, uint64_t budget,
                                              bool isBackward) = 0;
  /// As runFresh, but every element of a float type that trials write is
  /// `value` before.
  virtual Status
  runFilled(size_t trial, double value,
            const std::function<void(std::span<const NamedTensor>)> &look) = 0;
  /// Equal for trials that run the same code over the same grid; 0: not known.
  virtual uint64_t codeOf(size_t trial) = 0;
  virtual Status before(size_t trial) = 0;
  virtual Status run(size_t trial) = 0;
  virtual Status after(size_t trial) = 0;
};

/// The device's name, as choices are kept by: "NVIDIA H200 (sm_90a)".
std::string tuningDevice(Device device);

/// "BLOCK=64 num_warps=4 num_stages=3".
std::string describe(const ConfigDescription &config);

/// A failure of a configuration and not of the launch.
bool isOfConfig(const Failure &failure);

class ConfigChooser {
public:
  virtual ~ConfigChooser() = default;
  /// A choice that is known. It is applied as it is.
  virtual std::optional<ConfigDescription>
  find(const TuningKey &key, const KernelDescription &kernel) = 0;
  /// Whether it may choose what is in no list.
  virtual bool searches() const = 0;
  /// Whether it is asked where one configuration is left, too.
  virtual bool wantsSole() const { return false; }
  /// The trial to launch. The tensors are put back by the caller.
  virtual Expected<size_t> choose(LaunchTrials &trials) = 0;
};

/// Sets the chooser of contexts that have none of their own, instead of that of
/// nereid/nereid.h; it must live as long as it is set. Null: none.
void setConfigChooser(ConfigChooser *chooser);
ConfigChooser *configChooser();

} // namespace nereid

#endif // NEREID_RUNTIME_AUTOTUNE_CONFIGCHOOSER_H
