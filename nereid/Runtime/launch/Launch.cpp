//===- Launch.cpp - From arguments to running programs --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steady state is a launch that fits one of the kernel's latest plans
// (LaunchPlan.h): one test an argument, then it runs. The slow path, with
// everything compiled, tuned and measured, is: bind (one pointer a parameter),
// specialize (one word a parameter), one look-up, pack the slots, run. Neither
// allocates anything.
//
// On a GPU the steady state runs with cold caches, after thousands of the
// driver's instructions: what it touches, code and data, is what it costs.
// Everything else is therefore in functions of its own.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/launch/CompileSpecialization.h"
#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/GpuLaunch.h"
#include "nereid/Runtime/launch/HostLaunch.h"
#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/Specialize.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Support/Log.h"

#include <algorithm>

namespace nereid {
//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// An argument that may come in pieces: `isWhole` says that it does not.
[[gnu::noinline]] static Status prepareComposite(const KernelState &kernel,
                                                 size_t parameter,
                                                 const Argument &argument,
                                                 Prepared &out, WordKey &key,
                                                 bool &isWhole) {
  const ParameterDescription &description =
      kernel.description.parameters[parameter];
  isWhole = !isComposite(description, argument);
  if (isWhole) {
    return Status::success();
  }
  CompositeMismatch mismatch =
      specializeComposite(description, argument, out.leaves, key);
  return mismatch.mismatch == ArgumentMismatch::None
             ? Status::success()
             : mismatchFailure(kernel, parameter, mismatch.culprit,
                               mismatch.mismatch, mismatch.place);
}

/// `binding` holds every argument; each is specialized, and `key` is of all.
static Status specializeAll(KernelState &kernel, LaunchBinding &binding,
                            Prepared &out, WordKey &key) {
  if (!kernel.heuristicParameters.empty()) {
    Status status = applyHeuristics(kernel, binding);
    if (!status.ok()) {
      return status;
    }
  }
  Status status = binding.complete();
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  const CompileOptions &options = binding.options;
  key.add(uint64_t{options.numWarps} | uint64_t{options.numStages} << 8 |
          uint64_t{options.numCtas} << 16 | uint64_t{options.checks} << 24 |
          uint64_t{!options.tensorMaps} << 28 |
          uint64_t{options.dependentLaunch} << 29 |
          uint64_t{options.cooperativeGrid} << 30 |
          uint64_t{options.fpFusion} << 31 |
          uint64_t{options.maxRegisters} << 32 |
          uint64_t{options.minRegisters} << 40 |
          static_cast<uint64_t>(binding.device.kind()) << 48 |
          static_cast<uint64_t>(binding.device.index()) << 56);
  key.add(uint64_t{options.wavesPerUnit} | uint64_t{options.matrixSize} << 32);
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument &argument = *binding.get(i);
    if (argument.kind >= Argument::Kind::Static && !kernel.precompiled)
        [[unlikely]] {
      bool isWhole = true;
      Status status = prepareComposite(kernel, i, argument, out, key, isWhole);
      if (!status.ok()) {
        return status;
      }
      if (!isWhole) {
        continue;
      }
    }
    Specialized &specialized = out.arguments[i];
    ArgumentMismatch mismatch =
        specialize(kernel.description.parameters[i], argument, specialized);
    if (mismatch != ArgumentMismatch::None) [[unlikely]] {
      return mismatchFailure(kernel, i, argument, mismatch);
    }
    appendKey(key, specialized, argument);
  }
  return Status::success();
}

/// `binding` holds every argument; finds or makes the code for it.
static Status prepare(KernelState &kernel, LaunchBinding &binding,
                      Prepared &out) {
  WordKey key;
  Status status = specializeAll(kernel, binding, out, key);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  out.specialization = kernel.specializations.find(key);
  if (out.specialization) [[likely]] {
    return Status::success();
  }
  return compileInto(kernel, binding, key, out);
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// Anything but one to three sizes of less than 2^31 and 2^62 programs.
[[gnu::cold, gnu::noinline]] static Status
unusualGrid(const KernelState &kernel, const Grid &grid) {
  if (grid.rank() == 0) {
    return missingGrid(kernel);
  }
  if (grid.rank() > Grid::maxRank) {
    return launchFailure(kernel, "the grid has " + std::to_string(grid.rank()) +
                                     " dimensions; expected 1 to 3");
  }
  for (int i = 0; i < 3; ++i) {
    int64_t size = grid.sizes()[i];
    if (size < 0 || size > INT32_MAX) {
      std::string which =
          "grid dimension " + std::to_string(i) + " is " + std::to_string(size);
      return size < 0
                 ? launchFailure(kernel, which + "; expected at least 0")
                 : launchFailure(kernel, which + "; the limit is 2147483647",
                                 "use a second dimension, or larger blocks");
    }
  }
  return launchFailure(kernel, "the grid has more than 2^62 programs");
}

static Status checkedGrid(const KernelState &kernel, const Grid &grid,
                          std::array<int32_t, 3> &out) {
  const std::array<int64_t, 3> &sizes = grid.sizes();
  unsigned __int128 programs = 1; // three factors of 31 bits need 93
  uint64_t bits = 0;
  for (int i = 0; i < 3; ++i) {
    auto size = static_cast<uint64_t>(sizes[i]);
    bits |= size;
    programs *= size;
    out[i] = static_cast<int32_t>(size);
  }
  if (grid.rank() == 0 || grid.rank() > Grid::maxRank || bits >> 31 ||
      programs >> 62) [[unlikely]] {
    return unusualGrid(kernel, grid);
  }
  return Status::success();
}

/// The function is the caller's code and may throw, as Meta does.
[[gnu::noinline]] static Status evaluatedGrid(const KernelState &kernel,
                                              const Grid &grid,
                                              const LaunchBinding &binding,
                                              std::array<int32_t, 3> &out) {
  try {
    return checkedGrid(kernel, grid.evaluate(binding.meta()), out);
  } catch (const Error &error) {
    return error.failure();
  }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

[[gnu::cold, gnu::noinline]] static void
logLaunch(const KernelState &kernel, const LaunchBinding &binding,
          const std::array<int32_t, 3> &grid) {
  std::string text = kernel.description.name + " [" + binding.device.str() +
                     "] grid " + std::to_string(grid[0]) + "x" +
                     std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
  for (size_t i = 0; i < binding.size(); ++i) {
    text += " " + kernel.description.parameters[i].name + "=";
    const Argument &a = *binding.get(i);
    text += a.kind == Argument::Kind::Tensor ? a.tensor->str()
            : a.kind == Argument::Kind::Pointer ||
                    a.kind >= Argument::Kind::Function
                ? a.describe()
                : a.toStatic().str();
  }
  logLine(LogTopic::Launch, text);
}

namespace {
/// What is left when code and slots are there.
struct ReadyLaunch {
  Specialization &specialization;
  const LaunchBinding &binding;
  const uint64_t *slots;
  size_t slotCount;
};

/// The null observer.
struct NoObserver {
} noObserver;
Observer *pointerTo(Observer &observer) { return &observer; }
Observer *pointerTo(NoObserver &) { return nullptr; }
} // namespace

[[gnu::noinline]] static Status launchOnHost(const ReadyLaunch &ready,
                                             std::array<int32_t, 3> grid,
                                             const SharesWatch *watch) {
  const LaunchBinding &binding = ready.binding;
  HostLaunch launch{ready.specialization,
                    binding,
                    ready.slots,
                    grid,
                    0,
                    binding.device.kind() == Device::Kind::Interp,
                    watch};
  uint64_t bytes = distinctBytes(binding);
  if (bytes <= binding.kernel.context.machine.lastLevelCacheBytes) {
    return runOnHost(launch);
  }
  StreamingChoice &choice = ready.specialization.streaming;
  bool streams = choice.next();
  launch.flags = streams ? uint32_t{StreamingStores} : 0;
  Clock &clock = *binding.kernel.context.clock;
  int64_t begin = clock.now();
  Status status = runOnHost(launch);
  choice.record(streams, static_cast<double>(clock.now() - begin), bytes);
  return status;
}

[[gnu::always_inline]] static inline Status
runOnDevice(const ReadyLaunch &ready, const std::array<int32_t, 3> &sizes,
            const SharesWatch *watch = nullptr) {
  if (!ready.binding.device.isHost()) {
    return launchOnGpu({ready.specialization, ready.binding, ready.slots,
                        ready.slotCount, sizes});
  }
  return launchOnHost(ready, sizes, watch);
}

[[gnu::cold, gnu::noinline]] static Status
runObserved(const ReadyLaunch &ready, const std::array<int32_t, 3> &sizes,
            Observer &observer) {
  const GpuEntry &gpu = ready.specialization.gpu;
  const KernelTexts &texts = ready.specialization.texts;
  const Activity work{Activity::Kind::Kernel,
                      ready.binding.device,
                      texts.name,
                      texts.symbol,
                      texts.constants,
                      sizes,
                      distinctBytes(ready.binding),
                      gpu.device ? &gpu.device->currentStream() : nullptr};
  ActivityMark mark;
  SharesWatch watch{observer, work};
  observer.begin(work, mark);
  Status status = runOnDevice(ready, sizes, &watch);
  observer.end(work, mark, status.ok());
  return status;
}

/// `Watcher` is Observer, or NoObserver: the usual launch has no trace of the
/// other.
template <typename Watcher>
static Status runReady(const ReadyLaunch &ready, const Grid &grid, bool logged,
                       Watcher &watcher) {
  const LaunchBinding &binding = ready.binding;
  std::array<int32_t, 3> sizes;
  Status status = grid.isFunction()
                      ? evaluatedGrid(binding.kernel, grid, binding, sizes)
                      : checkedGrid(binding.kernel, grid, sizes);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  if (logged) [[unlikely]] {
    logLaunch(binding.kernel, binding, sizes);
  }
  if (!sizes[0] || !sizes[1] || !sizes[2]) [[unlikely]] {
    return Status::success();
  }
  if constexpr (std::is_same_v<Watcher, Observer>) {
    return runObserved(ready, sizes, watcher);
  } else {
    return runOnDevice(ready, sizes);
  }
}

/// Nothing was launched: no map describes one of the tensors.
static bool needsFormWithoutMaps(const Specialization &specialization,
                                 const Status &status) {
  return !status.ok() && specialization.gpu.hasTensorMaps &&
         status.failure().code == ErrorCode::Unsupported;
}

static Status runWithoutMaps(KernelState &kernel, LaunchBinding &binding,
                             const Grid &grid, Observer *observer);

/// `call` is what `binding` was bound to, where nothing but that decides: then
/// the next launch like it can have a plan.
static Status runBound(KernelState &kernel, LaunchBinding &binding,
                       const Grid &grid, Observer *observer,
                       const std::span<const LaunchArgument> *call) {
  if (!grid.isFunction() && grid.rank() == 0) [[unlikely]] {
    return missingGrid(kernel); // before compiling anything
  }
  Prepared prepared(binding.size());
  Status status = prepare(kernel, binding, prepared);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  if (const auto &options = prepared.specialization->options) {
    bool isDependent = binding.options.dependentLaunch; // is the launch's
    binding.options = *options;
    binding.options.dependentLaunch = isDependent;
  }
  bool logged = kernel.context.settings().logs("launch");
  if (call && !logged && prepared.leaves.empty()) {
    rememberLaunch({kernel,
                    binding.preferred,
                    *call,
                    binding,
                    {prepared.arguments.data(), binding.size()},
                    *prepared.specialization});
  }
  const auto &slotParameters = prepared.specialization->slotParameters;
  std::array<uint64_t, 64> inlineSlots;
  std::vector<uint64_t> heapSlots;
  uint64_t *slots = inlineSlots.data();
  if (slotParameters.size() > inlineSlots.size()) [[unlikely]] {
    heapSlots.resize(slotParameters.size());
    slots = heapSlots.data();
  }
  for (size_t i = 0; i < slotParameters.size(); ++i) {
    size_t place = slotParameters[i];
    slots[i] = place < binding.size()
                   ? prepared.arguments[place].slot
                   : prepared.leaves[place - binding.size()].slot;
  }
  const ReadyLaunch ready{*prepared.specialization, binding, slots,
                          slotParameters.size()};
  status = observer ? runReady(ready, grid, logged, *observer)
                    : runReady(ready, grid, logged, noObserver);
  return needsFormWithoutMaps(*prepared.specialization, status)
             ? runWithoutMaps(kernel, binding, grid, observer)
             : status;
}

[[gnu::cold, gnu::noinline]] static Status
runWithoutMaps(KernelState &kernel, LaunchBinding &binding, const Grid &grid,
               Observer *observer) {
  if (!binding.options.tensorMaps || kernel.precompiled) {
    return {ErrorCode::Internal, "the form of '" + kernel.description.name +
                                     "' without tensor maps wants one"};
  }
  binding.options.tensorMaps = false;
  return runBound(kernel, binding, grid, observer, nullptr);
}

static Expected<const LoadedImage *> compileBound(KernelState &kernel,
                                                  LaunchBinding &binding) {
  Prepared prepared(binding.size());
  Status status = prepare(kernel, binding, prepared);
  if (!status.ok()) {
    return status;
  }
  return prepared.specialization->loaded.get();
}

/// Without compiling or running anything.
static Expected<std::array<int32_t, 3>>
boundGrid(KernelState &kernel, LaunchBinding &binding, const Grid &grid) {
  Status status = kernel.heuristicParameters.empty()
                      ? Status::success()
                      : applyHeuristics(kernel, binding);
  status = status.ok() ? binding.complete() : status;
  std::array<int32_t, 3> sizes = {1, 1, 1};
  if (status.ok()) {
    status = grid.isFunction() ? evaluatedGrid(kernel, grid, binding, sizes)
                               : checkedGrid(kernel, grid, sizes);
  }
  return status.ok() ? Expected<std::array<int32_t, 3>>(sizes) : status;
}

[[gnu::noinline]] static Status
launchSlowPath(KernelState &kernel, std::optional<Device> device,
               const Grid &grid, std::span<const LaunchArgument> arguments,
               Observer *observer) {
  LaunchBinding binding(kernel);
  binding.preferred = device;
  Status status = binding.bind(arguments);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  std::optional<HookedArguments> hooked; // empty, it would allocate
  if (!kernel.configs.empty()) {
    ContextScope scope(&kernel.context);
    LaunchSteps steps;
    steps.compile = [&](LaunchBinding &trial) {
      return compileBound(kernel, trial);
    };
    steps.run = [&](LaunchBinding &trial) {
      return runBound(kernel, trial, grid, observer, nullptr);
    };
    steps.grid = [&](LaunchBinding &trial) {
      return boundGrid(kernel, trial, grid);
    };
    status = kernel.configs.apply(binding, hooked.emplace(), steps);
    if (!status.ok()) {
      return status;
    }
  }
  bool decided = kernel.configs.empty() && kernel.heuristicParameters.empty();
  return runBound(kernel, binding, grid, observer,
                  decided ? &arguments : nullptr);
}

template <typename Watcher>
static Status launchKernel(KernelState &kernel, std::optional<Device> device,
                           const Grid &grid,
                           std::span<const LaunchArgument> arguments,
                           Watcher &watcher) {
  LaunchBinding binding(kernel, device);
  uint64_t slots[LaunchPlan::places];
  uint64_t mark = markOfLaunch(arguments);
  for (size_t i = 0; const LaunchPlan *plan = kernel.plans.get(i); ++i) {
    if (kernel.plans.mayBe(i, mark) && binding.take(*plan, arguments, slots)) {
      Status status =
          runReady({*plan->specialization, binding, slots, plan->slots}, grid,
                   false, watcher);
      if (needsFormWithoutMaps(*plan->specialization, status)) [[unlikely]] {
        break;
      }
      return status;
    }
  }
  return launchSlowPath(kernel, device, grid, arguments, pointerTo(watcher));
}

[[gnu::cold, gnu::noinline]] static Status
launchObserved(KernelState &kernel, std::optional<Device> device,
               const Grid &grid, std::span<const LaunchArgument> arguments) {
  std::shared_ptr<Observer> observer = observerOf(&kernel.context);
  static Observer indifferent; // where others are watched
  Observer &watcher = observer ? *observer : indifferent;
  int64_t beginNs = watcher.now();
  Status status = launchKernel(kernel, device, grid, arguments, watcher);
  watcher.launched(kernel.keptName, beginNs, watcher.now());
  return status;
}

[[noreturn, gnu::cold, gnu::noinline]] static void
raiseStatus(const Status &status) {
  raise(status.failure());
}

void Kernel::launch(const Grid &grid,
                    std::span<const LaunchArgument> arguments) const {
  if (!state) [[unlikely]] {
    raiseEmpty();
  }
  Status status =
      isObserved() ? launchObserved(*state, device, grid, arguments)
                   : launchKernel(*state, device, grid, arguments, noObserver);
  if (!status.ok()) [[unlikely]] {
    raiseStatus(status);
  }
}

//===----------------------------------------------------------------------===//
// Without a launch
//===----------------------------------------------------------------------===//

/// Bound, and with the first configuration of those to choose from.
static Status bindAlone(KernelState &kernel, LaunchBinding &binding,
                        std::optional<Device> device,
                        std::span<const LaunchArgument> arguments) {
  binding.preferred = device;
  Status status = binding.bind(arguments);
  if (status.ok() && !kernel.configs.empty()) {
    kernel.configs.applyFirst(binding);
  }
  return status;
}

Expected<CompiledInfo>
compileKernel(KernelState &kernel, std::optional<Device> device,
              std::span<const LaunchArgument> arguments) {
  ContextScope scope(&kernel.context);
  LaunchBinding binding(kernel);
  Status status = bindAlone(kernel, binding, device, arguments);
  Prepared prepared(binding.size());
  if (status.ok()) {
    status = prepare(kernel, binding, prepared);
  }
  if (!status.ok()) {
    return status;
  }
  const LoadedImage &loaded = *prepared.specialization->loaded;
  return CompiledInfo{prepared.origin, loaded.image, loaded.codeBytes,
                      prepared.milliseconds};
}

Expected<CompiledElsewhere>
compileKernelFor(KernelState &kernel, const std::string &target,
                 std::span<const LaunchArgument> arguments) {
  if (kernel.precompiled) {
    return {ErrorCode::Unsupported,
            "kernel '" + kernel.description.name +
                "' was compiled ahead of time: expected one with its source, "
                "to be compiled for " +
                target};
  }
  ContextScope scope(&kernel.context);
  Device device = target.starts_with("sm_")   ? Device::cuda()
                  : target.starts_with("gfx") ? Device::hip()
                                              : Device::cpu();
  LaunchBinding binding(kernel);
  Status status = bindAlone(kernel, binding, device, arguments);
  Prepared prepared(binding.size());
  WordKey key;
  if (status.ok()) {
    status = specializeAll(kernel, binding, prepared, key);
  }
  if (!status.ok()) {
    return status;
  }
  std::vector<std::string> leafNames;
  auto request = requestOf(kernel, binding, prepared, leafNames);
  if (!request.ok()) {
    return request.failure();
  }
  request->target = target;
  auto info = kernel.context.compileOnly(*request, kernel.description);
  if (!info.ok()) {
    return info.failure();
  }
  return CompiledElsewhere{std::move(*request), std::move(*info)};
}

/// The integers; arrays are known by their tensors.
static void addValue(LaunchFacts &facts, const std::string &name,
                     const Specialized &of) {
  const RuntimeArgument &is = of.runtime;
  if (of.isStatic || is.isPointer || isFloat(is.dtype)) {
    return;
  }
  unsigned spare = 64 - 8 * unsigned(byteSize(is.dtype));
  facts.values[name].integer = int64_t(of.slot << spare) >> spare;
}

Expected<LaunchPreview>
previewLaunch(KernelState &kernel, std::optional<Device> device,
              const Grid &grid, std::span<const LaunchArgument> arguments) {
  ContextScope scope(&kernel.context);
  LaunchBinding binding(kernel);
  Status status = bindAlone(kernel, binding, device, arguments);
  Prepared prepared(binding.size());
  WordKey key;
  if (status.ok()) {
    status = specializeAll(kernel, binding, prepared, key);
  }
  LaunchPreview preview;
  if (status.ok()) {
    status = grid.isFunction()
                 ? evaluatedGrid(kernel, grid, binding, preview.facts.grid)
                 : checkedGrid(kernel, grid, preview.facts.grid);
  }
  if (!status.ok()) {
    return status;
  }
  std::vector<std::string> leafNames;
  auto request = requestOf(kernel, binding, prepared, leafNames);
  auto target = targetOf(binding.device);
  if (!request.ok() || !target.ok()) {
    return request.ok() ? target.failure() : request.failure();
  }
  preview.request = std::move(*request);
  preview.request.target = *target;
  for (size_t i = 0; i < binding.size(); ++i) {
    const ParameterDescription &parameter = kernel.description.parameters[i];
    if (!isComposite(parameter, *binding.get(i))) {
      addValue(preview.facts, parameter.name, prepared.arguments[i]);
    }
  }
  for (size_t i = 0; i < prepared.leaves.size(); ++i) {
    addValue(preview.facts, leafNames[i], prepared.leaves[i]);
  }
  forEachTensor(binding, [&](const std::string &name, const Tensor &tensor) {
    preview.facts.values[name] = {
        true, int64_t(reinterpret_cast<uintptr_t>(tensor.data())), 0,
        uint64_t(tensor.extentBytes())};
  });
  return preview;
}

} // namespace nereid
