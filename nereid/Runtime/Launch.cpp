//===- Launch.cpp - From arguments to running programs --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steady state - everything compiled, tuned and measured - is: bind (one
// pointer a parameter), specialise (one word a parameter), one look-up, pack
// the slots, run. It allocates nothing.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/CudaLaunch.h"
#include "nereid/Runtime/HostLaunch.h"
#include "nereid/Runtime/KernelState.h"
#include "nereid/Runtime/LaunchBinding.h"
#include "nereid/Runtime/LaunchErrors.h"
#include "nereid/Runtime/Precompiled.h"
#include "nereid/Runtime/Specialize.h"
#include "nereid/Support/Host.h"
#include "nereid/Support/Log.h"

#include <chrono>

namespace nereid {
namespace {

/// Parameter by parameter, on the stack up to 64; made only as far as used.
class SpecializedArguments {
public:
  explicit SpecializedArguments(size_t count) {
    if (count > inlineCount) {
      heap.resize(count);
    } else {
      first = new (inlined) Specialized[count];
    }
  }
  Specialized &operator[](size_t i) { return first ? first[i] : heap[i]; }
  Specialized *data() { return first ? first : heap.data(); }

private:
  static constexpr size_t inlineCount = 64;
  static_assert(std::is_trivially_destructible_v<Specialized>);
  alignas(Specialized) std::byte inlined[inlineCount * sizeof(Specialized)];
  Specialized *first = nullptr;
  std::vector<Specialized> heap;
};

/// A launch whose code is loaded.
struct Prepared {
  explicit Prepared(size_t parameters) : arguments(parameters) {}
  SpecializedArguments arguments;
  Specialization *specialization = nullptr;
  CompiledInfo::Origin origin = CompiledInfo::Origin::Memory;
  double milliseconds = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Heuristics
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<HeuristicValues>>
evaluateHeuristics(KernelState &kernel, const LaunchBinding &binding) {
  if (!kernel.context.compiler) {
    return noCompiler("@triton.heuristics of '" + kernel.description.name +
                      "'");
  }
  auto result = std::make_unique<HeuristicValues>();
  EvaluateRequest request;
  request.source = kernel.source;
  request.kernel = kernel.description.name;
  for (size_t i = 0; i < binding.size(); ++i) {
    if (const Argument *argument = binding.get(i)) {
      request.values[kernel.description.parameters[i].name] =
          argument->toStatic();
    }
  }
  request.values["num_warps"] = static_cast<int64_t>(binding.options.numWarps);
  for (uint16_t parameter : kernel.heuristicParameters) {
    request.heuristic = kernel.description.parameters[parameter].name;
    Expected<StaticValue> value = kernel.context.compiler->evaluate(request);
    if (!value.ok()) {
      return value.failure();
    }
    request.values[request.heuristic] = *value;
    result->values.push_back(std::move(*value));
    result->arguments.emplace_back(result->values.back());
  }
  return result;
}

static Status applyHeuristics(KernelState &kernel, LaunchBinding &binding) {
  WordKey key;
  key.add(binding.options.numWarps);
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    key.add(argument != nullptr);
    if (argument) {
      appendValue(key, *argument);
    }
  }
  HeuristicValues *values = kernel.heuristics.find(key);
  if (!values) {
    Expected<std::unique_ptr<HeuristicValues>> made =
        evaluateHeuristics(kernel, binding);
    if (!made.ok()) {
      return made.status();
    }
    values = kernel.heuristics.insert(key, std::move(*made));
  }
  for (size_t i = 0; i < values->arguments.size(); ++i) {
    binding.set(kernel.heuristicParameters[i], &values->arguments[i]);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Maps the image's run-time parameters to the kernel's.
static Expected<std::unique_ptr<Specialization>>
makeSpecialization(const KernelState &kernel,
                   std::shared_ptr<const LoadedImage> loaded) {
  auto result = std::make_unique<Specialization>();
  for (const ImageParameter &p : loaded->image.parameters) {
    std::optional<size_t> i = kernel.findParameter(p.name);
    if (!i) {
      return {ErrorCode::Internal, "the image of '" + kernel.description.name +
                                       "' wants a parameter '" + p.name +
                                       "' that the kernel does not have"};
    }
    result->slotParameters.push_back(static_cast<uint16_t>(*i));
  }
  result->loaded = std::move(loaded);
  return result;
}

static Expected<Context::State::Obtained>
compileForm(KernelState &kernel, const LaunchBinding &binding, Prepared &out) {
  CompileRequest request;
  request.source = kernel.source;
  request.kernel = kernel.description.name;
  request.options = binding.options;
  for (size_t i = 0; i < binding.size(); ++i) {
    request.arguments.push_back(specOf(out.arguments[i], *binding.get(i)));
  }
  return kernel.context.obtain(std::move(request), kernel.description,
                               binding.device);
}

/// From the library that the kernel was compiled into ahead of time.
static Expected<Context::State::Obtained>
takeForm(KernelState &kernel, const LaunchBinding &binding, Prepared &out,
         std::optional<CompileOptions> &options) {
  const PrecompiledKernel &precompiled = *kernel.precompiled;
  Expected<size_t> signature = chooseSignature(
      binding, precompiled, {out.arguments.data(), binding.size()});
  if (!signature.ok()) {
    return signature.failure();
  }
  options = precompiled.kernel.signatures[*signature].options;
  return obtainPrecompiled(kernel, *signature, binding.device);
}

static Status compileInto(KernelState &kernel, const LaunchBinding &binding,
                          const WordKey &key, Prepared &out) {
  std::lock_guard lock(kernel.compiling);
  out.specialization = kernel.specializations.find(key);
  if (out.specialization) {
    return Status::success();
  }
  std::optional<CompileOptions> options;
  Expected<Context::State::Obtained> obtained =
      kernel.precompiled ? takeForm(kernel, binding, out, options)
                         : compileForm(kernel, binding, out);
  if (!obtained.ok()) {
    return obtained.failure();
  }
  out.origin = obtained->origin;
  out.milliseconds = obtained->milliseconds;
  Expected<std::unique_ptr<Specialization>> made =
      makeSpecialization(kernel, obtained->loaded);
  if (!made.ok()) {
    return made.failure();
  }
  (*made)->options = options;
  out.specialization = kernel.specializations.insert(key, std::move(*made));
  return Status::success();
}

/// `binding` holds every argument; finds or makes the code for it.
static Status prepare(KernelState &kernel, LaunchBinding &binding,
                      Prepared &out) {
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
  WordKey key;
  key.add(uint64_t{options.numWarps} | uint64_t{options.numStages} << 8 |
          uint64_t{options.numCtas} << 16 | uint64_t{options.checks} << 24 |
          uint64_t{options.fpFusion} << 32 |
          uint64_t{options.maxRegisters} << 33 |
          static_cast<uint64_t>(binding.device.kind()) << 48 |
          static_cast<uint64_t>(binding.device.index()) << 56);
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument &argument = *binding.get(i);
    Specialized &specialized = out.arguments[i];
    Misfit misfit =
        specialize(kernel.description.parameters[i], argument, specialized);
    if (misfit != Misfit::None) [[unlikely]] {
      return misfitFailure(kernel, i, argument, misfit);
    }
    appendKey(key, specialized, argument);
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

static Status checkedGrid(const KernelState &kernel, const Grid &grid,
                          std::array<int32_t, 3> &out) {
  if (grid.rank() == 0) {
    return missingGrid(kernel);
  }
  if (grid.rank() > Grid::maxRank) {
    return launchFailure(kernel, "the grid has " + std::to_string(grid.rank()) +
                                     " dimensions; expected 1 to 3");
  }
  unsigned __int128 programs = 1; // three factors of 31 bits need 93
  for (int i = 0; i < 3; ++i) {
    int64_t size = grid.sizes()[i];
    if (size < 0 || size > INT32_MAX) [[unlikely]] {
      std::string which =
          "grid dimension " + std::to_string(i) + " is " + std::to_string(size);
      return size < 0
                 ? launchFailure(kernel, which + "; expected at least 0")
                 : launchFailure(kernel, which + "; the limit is 2147483647",
                                 "use a second dimension, or larger blocks");
    }
    out[i] = static_cast<int32_t>(size);
    programs *= static_cast<uint64_t>(size);
  }
  if (programs >> 62) [[unlikely]] {
    return launchFailure(kernel, "the grid has more than 2^62 programs");
  }
  return Status::success();
}

static Status resolveGrid(const KernelState &kernel, const Grid &grid,
                          const LaunchBinding &binding,
                          std::array<int32_t, 3> &out) {
  if (!grid.isFunction()) {
    return checkedGrid(kernel, grid, out);
  }
  // The function is the caller's code and may throw, as Meta does.
  try {
    return checkedGrid(kernel, grid.evaluate(binding.meta()), out);
  } catch (const Error &error) {
    return error.failure();
  }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static void logLaunch(const KernelState &kernel, const LaunchBinding &binding,
                      const std::array<int32_t, 3> &grid) {
  std::string text = kernel.description.name + " [" + binding.device.str() +
                     "] grid " + std::to_string(grid[0]) + "x" +
                     std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
  for (size_t i = 0; i < binding.size(); ++i) {
    text += " " + kernel.description.parameters[i].name + "=";
    const Argument &a = *binding.get(i);
    text += a.kind == Argument::Kind::Tensor    ? a.tensor->str()
            : a.kind == Argument::Kind::Pointer ? a.describe()
                                                : a.toStatic().str();
  }
  logLine(LogTopic::Launch, text);
}

static Status runBound(KernelState &kernel, LaunchBinding &binding,
                       const Grid &grid) {
  if (!grid.isFunction() && grid.rank() == 0) [[unlikely]] {
    return missingGrid(kernel); // before compiling anything
  }
  Prepared prepared(binding.size());
  Status status = prepare(kernel, binding, prepared);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  if (const auto &options = prepared.specialization->options) {
    binding.options = *options;
  }
  std::array<int32_t, 3> sizes;
  status = resolveGrid(kernel, grid, binding, sizes);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  if (logEnabled(LogTopic::Launch)) [[unlikely]] {
    logLaunch(kernel, binding, sizes);
  }
  if (!sizes[0] || !sizes[1] || !sizes[2]) {
    return Status::success();
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
    slots[i] = prepared.arguments[slotParameters[i]].slot;
  }
  if (!binding.device.isHost()) {
    return launchOnCuda({*prepared.specialization, binding, slots,
                         slotParameters.size(), sizes});
  }
  HostLaunch launch{*prepared.specialization,
                    binding,
                    slots,
                    sizes,
                    0,
                    binding.device.kind() == Device::Kind::Interp};
  uint64_t bytes = distinctBytes(binding);
  if (bytes <= lastLevelCacheBytes()) {
    return runOnHost(launch);
  }
  StreamingChoice &choice = prepared.specialization->streaming;
  bool streams = choice.next();
  launch.flags = streams ? uint32_t{StreamingStores} : 0;
  auto begin = std::chrono::steady_clock::now();
  status = runOnHost(launch);
  std::chrono::duration<double, std::nano> ns =
      std::chrono::steady_clock::now() - begin;
  choice.record(streams, ns.count(), bytes);
  return status;
}

Status launchKernel(KernelState &kernel, std::optional<Device> device,
                    const Grid &grid,
                    std::span<const LaunchArgument> arguments) {
  LaunchBinding binding(kernel);
  binding.preferred = device;
  Status status = binding.bind(arguments);
  if (!status.ok()) [[unlikely]] {
    return status;
  }
  if (!kernel.configs.empty()) {
    status = kernel.configs.apply(binding, [&](LaunchBinding &trial) {
      return runBound(kernel, trial, grid);
    });
    if (!status.ok()) {
      return status;
    }
  }
  return runBound(kernel, binding, grid);
}

Expected<CompiledInfo>
compileKernel(KernelState &kernel, std::optional<Device> device,
              std::span<const LaunchArgument> arguments) {
  LaunchBinding binding(kernel);
  binding.preferred = device;
  Status status = binding.bind(arguments);
  if (status.ok() && !kernel.configs.empty()) {
    kernel.configs.applyFirst(binding);
  }
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

} // namespace nereid
