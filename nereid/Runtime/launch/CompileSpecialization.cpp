//===- CompileSpecialization.cpp - Code for a specialization --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/CompileSpecialization.h"

#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/library/Precompiled.h"

namespace nereid {

/// Maps the image's run-time parameters to the kernel's, and after those to
/// the leaves.
static Expected<std::unique_ptr<Specialization>>
makeSpecialization(const KernelState &kernel,
                   std::span<const std::string> leafNames,
                   std::shared_ptr<const LoadedImage> loaded) {
  auto result = std::make_unique<Specialization>();
  for (const ImageParameter &p : loaded->image.parameters) {
    std::optional<size_t> i = kernel.findParameter(p.name);
    for (size_t k = 0; !i && k < leafNames.size(); ++k) {
      if (leafNames[k] == p.name) {
        i = kernel.description.parameters.size() + k;
      }
    }
    if (!i) {
      return {ErrorCode::Internal, "the image of '" + kernel.description.name +
                                       "' wants a parameter '" + p.name +
                                       "' that the kernel does not have"};
    }
    result->slotParameters.push_back(static_cast<uint16_t>(*i));
  }
  if (const auto &kernel = loaded->kernel) {
    result->gpu = {kernel->function,
                   &kernel->device,
                   kernel.get(),
                   loaded->image.threadsPerBlock,
                   gpu::dynamicSharedBytes(kernel->device, loaded->image),
                   loaded->image.hasFaultRecord,
                   !loaded->image.tensorMaps.empty(),
                   kernel->device.isHip()};
  }
  result->loaded = std::move(loaded);
  return result;
}

/// Says of every function among the arguments what its code depends on.
static Status hashFunctions(KernelState &kernel, StaticValue &value) {
  if (auto *items = std::get_if<StaticValue::Tuple>(&value.value)) {
    for (StaticValue &item : *items) {
      Status status = hashFunctions(kernel, item);
      if (!status.ok()) {
        return status;
      }
    }
  }
  auto *function = std::get_if<StaticValue::Function>(&value.value);
  if (!function || !kernel.context.compiler) {
    return Status::success();
  }
  auto described =
      kernel.context.compiler->describe(kernel.source, function->name);
  if (described.ok()) {
    function->hash = described->sourceHash;
  }
  return described.status();
}

static Status hashFunctions(KernelState &kernel, ArgumentSpec &spec) {
  if (auto *value = std::get_if<StaticValue>(&spec)) {
    return hashFunctions(kernel, *value);
  }
  if (auto *composite = std::get_if<CompositeArgument>(&spec)) {
    for (ArgumentSpec &item : composite->items) {
      Status status = hashFunctions(kernel, item);
      if (!status.ok()) {
        return status;
      }
    }
  }
  return Status::success();
}

Expected<CompileRequest> requestOf(KernelState &kernel,
                                   const LaunchBinding &binding, Prepared &out,
                                   std::vector<std::string> &leafNames) {
  CompileRequest request;
  request.source = kernel.source;
  request.kernel = kernel.description.name;
  request.options = binding.options;
  const Specialized *leaf = out.leaves.data();
  for (size_t i = 0; i < binding.size(); ++i) {
    const ParameterDescription &parameter = kernel.description.parameters[i];
    const Argument &argument = *binding.get(i);
    if (!isComposite(parameter, argument)) {
      request.arguments.push_back(specOf(out.arguments[i], argument));
    } else {
      request.arguments.push_back(specOfComposite(argument, leaf));
      appendLeafNames(request.arguments.back(), parameter.name, leafNames);
    }
    Status status = hashFunctions(kernel, request.arguments.back());
    if (!status.ok()) {
      return status;
    }
  }
  return request;
}

static Expected<Context::State::Obtained>
compileSpecialization(KernelState &kernel, const LaunchBinding &binding,
                      Prepared &out, std::vector<std::string> &leafNames) {
  auto request = requestOf(kernel, binding, out, leafNames);
  return request.ok()
             ? kernel.context.obtain(std::move(*request), kernel.description,
                                     binding.device)
             : request.failure();
}

/// From the library that the kernel was compiled into ahead of time.
static Expected<Context::State::Obtained>
takeForm(KernelState &kernel, const LaunchBinding &binding, Prepared &out,
         std::optional<CompileOptions> &options) {
  PrecompiledKernel &precompiled = *kernel.precompiled;
  std::lock_guard lock(precompiled.loading);
  Expected<size_t> signature = chooseSignature(
      binding, precompiled, {out.arguments.data(), binding.size()});
  if (!signature.ok()) {
    return signature.failure();
  }
  options = precompiled.kernel.signatures[*signature].options;
  return obtainPrecompiled(kernel, *signature, binding.device);
}

namespace {
/// Threads that want the same specialization wait for the one that makes it;
/// others compile side by side.
class SpecializationLock {
public:
  SpecializationLock(KernelState &kernel, const WordKey &key) : kernel(kernel) {
    std::vector<uint64_t> words(key.words().begin(), key.words().end());
    std::unique_lock lock(kernel.compiling);
    kernel.compiled.wait(lock,
                         [&] { return !kernel.underway.contains(words); });
    mine = kernel.underway.insert(std::move(words)).first;
  }
  ~SpecializationLock() {
    std::lock_guard lock(kernel.compiling);
    kernel.underway.erase(mine);
    kernel.compiled.notify_all();
  }
  SpecializationLock(const SpecializationLock &) = delete;

private:
  KernelState &kernel;
  std::set<std::vector<uint64_t>>::iterator mine;
};
} // namespace

/// "BLOCK=64, num_warps=4".
static std::string formOf(const KernelState &kernel,
                          const LaunchBinding &binding) {
  std::string text;
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument &a = *binding.get(i);
    bool isPlain = a.kind != Argument::Kind::Tensor &&
                   a.kind != Argument::Kind::Pointer &&
                   a.kind < Argument::Kind::Function;
    if (kernel.description.parameters[i].isStatic) {
      text += kernel.description.parameters[i].name + "=" +
              (isPlain ? a.toStatic().str() : a.describe()) + ", ";
    }
  }
  text += "num_warps=" + std::to_string(binding.options.numWarps);
  return binding.device.isHost()
             ? text
             : text +
                   ", num_stages=" + std::to_string(binding.options.numStages);
}

Status compileInto(KernelState &kernel, const LaunchBinding &binding,
                   const WordKey &key, Prepared &out) {
  ContextScope scope(&kernel.context);
  SpecializationLock lock(kernel, key);
  out.specialization = kernel.specializations.find(key);
  if (out.specialization) {
    return Status::success();
  }
  std::optional<CompileOptions> options;
  std::vector<std::string> leafNames;
  Expected<Context::State::Obtained> obtained =
      kernel.precompiled
          ? takeForm(kernel, binding, out, options)
          : compileSpecialization(kernel, binding, out, leafNames);
  if (!obtained.ok()) {
    return obtained.failure();
  }
  out.origin = obtained->origin;
  out.milliseconds = obtained->milliseconds;
  Expected<std::unique_ptr<Specialization>> made =
      makeSpecialization(kernel, leafNames, obtained->loaded);
  if (!made.ok()) {
    return made.failure();
  }
  (*made)->options = options;
  (*made)->texts = {kernel.keptName, keptText(obtained->loaded->image.entry),
                    keptText(formOf(kernel, binding))};
  out.specialization = kernel.specializations.insert(key, std::move(*made));
  return Status::success();
}

} // namespace nereid
