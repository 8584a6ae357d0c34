//===- LaunchBinding.cpp - Arguments meet parameters ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/LaunchBinding.h"

#include "nereid/Runtime/LaunchErrors.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <bit>

namespace nereid {

Status LaunchBinding::bind(std::span<const LaunchArgument> arguments) {
  if (parameters > inlineParameters) [[unlikely]] {
    heap.assign(parameters, nullptr);
  } else {
    std::fill_n(inlined.begin(), parameters, nullptr);
  }
  size_t position = 0;
  bool named = false;
  for (const LaunchArgument &argument : arguments) {
    if (argument.name.empty()) {
      if (named) [[unlikely]] {
        return launchFailure(kernel,
                             "a positional argument follows a named one");
      }
      if (position >= parameters) [[unlikely]] {
        return tooManyArguments(kernel, arguments.size());
      }
      set(position++, &argument.value);
      continue;
    }
    named = true;
    Status status = bindNamed(argument);
    if (!status.ok()) [[unlikely]] {
      return status;
    }
  }
  const auto &descriptions = kernel.description.parameters;
  for (size_t i = position; i < parameters; ++i) {
    if (!get(i) && descriptions[i].defaultValue) {
      set(i, &kernel.defaults[i]);
    }
  }
  return resolveDevice();
}

Status LaunchBinding::bindNamed(const LaunchArgument &argument) {
  std::optional<size_t> parameter = kernel.findParameter(argument.name);
  if (!parameter) {
    return setOption(argument);
  }
  if (get(*parameter)) {
    return givenTwice(kernel, *parameter);
  }
  set(*parameter, &argument.value);
  return Status::success();
}

/// An integer option: low <= value <= high.
static Status setCount(const KernelState &kernel, const LaunchArgument &a,
                       uint32_t &out, int64_t low, int64_t high,
                       bool powerOfTwo = false) {
  bool fits = a.value.kind == Argument::Kind::Int && a.value.integer >= low &&
              a.value.integer <= high;
  if (!fits || (powerOfTwo &&
                !std::has_single_bit(static_cast<uint64_t>(a.value.integer)))) {
    return launchFailure(
        kernel, "launch option '" + std::string(a.name) + "': expected " +
                    (powerOfTwo ? "a power of two" : "an integer") + " from " +
                    std::to_string(low) + " to " + std::to_string(high) +
                    ", got " + a.value.describe());
  }
  out = static_cast<uint32_t>(a.value.integer);
  return Status::success();
}

static Status setBool(const KernelState &kernel, const LaunchArgument &a,
                      bool &out) {
  if (a.value.kind != Argument::Kind::Bool &&
      a.value.kind != Argument::Kind::Int) {
    return launchFailure(kernel, "launch option '" + std::string(a.name) +
                                     "': expected true or false, got " +
                                     a.value.describe());
  }
  out = a.value.integer != 0;
  return Status::success();
}

static bool isOption(std::string_view name) {
  std::span<const std::string> names = launchOptionNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status LaunchBinding::setOption(const LaunchArgument &a) {
  if (kernel.precompiled && isOption(a.name)) {
    return launchFailure(kernel,
                         "launch option '" + std::string(a.name) +
                             "': the kernel was compiled ahead of time",
                         "options stand in its signature: 'x_ptr=*fp32, ..., "
                         "num_warps=8'");
  }
  if (a.name == "num_warps") {
    return setCount(kernel, a, options.numWarps, 1, 32, true);
  }
  if (a.name == "num_stages") {
    return setCount(kernel, a, options.numStages, 0, 64);
  }
  if (a.name == "num_ctas") {
    return setCount(kernel, a, options.numCtas, 1, 16, true);
  }
  if (a.name == "maxnreg" || a.name == "minnreg") {
    if (a.value.kind == Argument::Kind::None) {
      return Status::success();
    }
    return setCount(kernel, a,
                    a.name == "maxnreg" ? options.maxRegisters
                                        : options.minRegisters,
                    1, 255);
  }
  if (a.name == "enable_fp_fusion") {
    return setBool(kernel, a, options.fpFusion);
  }
  if (a.name == "debug") {
    bool on = false;
    Status status = setBool(kernel, a, on);
    options.checks |= on ? CheckAsserts : 0;
    return status;
  }
  return unexpectedKeyword(kernel, a.name);
}

static uint32_t checksOfKnobs(const Knobs &settings) {
  return (settings.checks("oob") ? CheckBounds : 0) |
         (settings.checks("nan") ? CheckNan : 0) |
         (settings.checks("assert") ? CheckAsserts : 0);
}

Status LaunchBinding::resolveDevice() {
  const Argument *firstTensor = nullptr;
  size_t first = 0;
  for (size_t i = 0; i < parameters; ++i) {
    const Argument *argument = get(i);
    if (!argument || argument->kind != Argument::Kind::Tensor ||
        !argument->tensor->defined()) {
      continue;
    }
    if (!firstTensor) {
      firstTensor = argument;
      first = i;
      device = argument->tensor->device();
    } else if (argument->tensor->device() != device) [[unlikely]] {
      const auto &names = kernel.description.parameters;
      return parameterFailure(kernel, i,
                              "argument '" + names[i].name + "' is on " +
                                  argument->tensor->device().str() + ", but '" +
                                  names[first].name + "' is on " + device.str(),
                              "move one of them: tensor.to(device)");
    }
  }
  if (!firstTensor) {
    device = preferred ? *preferred : Device::best();
  }
  const Knobs &settings = knobs();
  if (settings.interp && device.isHost()) [[unlikely]] {
    device = Device::interp();
  }
  if (!settings.check.empty()) [[unlikely]] {
    options.checks |= checksOfKnobs(settings);
    if (kernel.precompiled) {
      warnOnce("NEREID_CHECK: kernel '" + kernel.description.name +
               "' was compiled ahead of time, with the checks of its "
               "signature");
    }
  }
  return Status::success();
}

Status LaunchBinding::complete() const {
  for (size_t i = 0; i < parameters; ++i) {
    if (!get(i)) [[unlikely]] {
      return missingArguments(*this);
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Meta: the binding as a grid function sees it
//===----------------------------------------------------------------------===//

static std::optional<int64_t> optionValue(const CompileOptions &options,
                                          std::string_view name) {
  if (name == "num_warps") {
    return options.numWarps;
  }
  if (name == "num_stages") {
    return options.numStages;
  }
  if (name == "num_ctas") {
    return options.numCtas;
  }
  return std::nullopt;
}

bool Meta::contains(std::string_view name) const {
  std::optional<size_t> i = binding.kernel.findParameter(name);
  return (i && binding.get(*i)) || optionValue(binding.options, name);
}

const Argument &Meta::argument(std::string_view name) const {
  std::optional<size_t> i = binding.kernel.findParameter(name);
  if (i && binding.get(*i)) {
    return *binding.get(*i);
  }
  std::vector<std::string> names;
  for (const ParameterDescription &p : binding.kernel.description.parameters) {
    names.push_back(p.name);
  }
  raise(launchFailure(binding.kernel,
                      "the grid asks for '" + std::string(name) +
                          "', which is no argument" + didYouMean(name, names)));
}

std::map<std::string, StaticValue> Meta::values() const {
  std::map<std::string, StaticValue> result;
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    if (argument && argument->kind != Argument::Kind::Tensor) {
      result[binding.kernel.description.parameters[i].name] =
          argument->toStatic();
    }
  }
  for (const char *name : {"num_warps", "num_stages", "num_ctas"}) {
    result.try_emplace(name, *optionValue(binding.options, name));
  }
  return result;
}

int64_t Meta::operator[](std::string_view name) const {
  std::optional<size_t> parameter = binding.kernel.findParameter(name);
  if (!parameter) {
    if (std::optional<int64_t> option = optionValue(binding.options, name)) {
      return *option;
    }
  }
  const Argument &value = argument(name);
  if (value.kind != Argument::Kind::Int && value.kind != Argument::Kind::Bool) {
    raise(parameterFailure(binding.kernel, *parameter,
                           "the grid uses '" + std::string(name) +
                               "' as an integer, but it is " +
                               value.describe()));
  }
  return value.integer;
}

} // namespace nereid
