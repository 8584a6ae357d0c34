//===- LaunchBinding.cpp - Arguments meet parameters ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/LaunchBinding.h"

#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

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
                             "a positional argument follows a named one; "
                             "expected the positional ones first");
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
    return setOption(kernel, argument, options, givenOptions);
  }
  if (get(*parameter)) {
    return givenTwice(kernel, *parameter);
  }
  set(*parameter, &argument.value);
  return Status::success();
}

static uint32_t checksOfKnobs(const Knobs &settings) {
  return (settings.checks("oob") ? CheckBounds : 0) |
         (settings.checks("nan") ? CheckNan : 0) |
         (settings.checks("assert") ? CheckAsserts : 0) |
         (settings.checks("overflow") ? CheckOverflow : 0);
}

/// `tensor` of parameter `other` is not where that of `first` is.
[[gnu::cold, gnu::noinline]] Failure
LaunchBinding::onTwoDevices(size_t first, size_t other,
                            const Tensor &tensor) const {
  const auto &names = kernel.description.parameters;
  return parameterFailure(kernel, other,
                          "argument '" + names[other].name + "' is on " +
                              tensor.device().str() + ", but '" +
                              names[first].name + "' is on " + device.str(),
                          "move one of them: tensor.to(device)");
}

Status LaunchBinding::resolveDevice() {
  const Tensor *firstTensor = nullptr, *elsewhere = nullptr;
  size_t first = 0;
  auto join = [&](size_t parameter, const Tensor &tensor) {
    if (!tensor.defined()) {
      return;
    }
    if (!firstTensor) {
      firstTensor = &tensor;
      first = parameter;
      device = tensor.device();
    } else if (tensor.device() != device && !elsewhere) [[unlikely]] {
      elsewhere = &tensor;
    }
  };
  for (size_t i = 0; i < parameters; ++i) {
    const Argument *argument = get(i);
    if (!argument) {
      continue;
    }
    if (argument->kind == Argument::Kind::Tensor) {
      join(i, *argument->tensor);
    } else if (argument->kind > Argument::Kind::Static) [[unlikely]] {
      forEachTensor(*argument, "",
                    [&](const std::string &, const Tensor &t) { join(i, t); });
    }
    if (elsewhere) [[unlikely]] {
      return onTwoDevices(first, i, *elsewhere);
    }
  }
  const Knobs &settings = kernel.context.settings();
  if (!firstTensor) {
    KnobsScope scope(&settings);
    device = preferred ? *preferred : Device::best();
  }
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

std::map<std::string, StaticValue> LaunchBinding::values() const {
  std::map<std::string, StaticValue> result;
  for (size_t i = 0; i < parameters; ++i) {
    if (const Argument *argument = get(i)) {
      result[kernel.description.parameters[i].name] = argument->toStatic();
    }
  }
  result["num_warps"] = static_cast<int64_t>(options.numWarps);
  return result;
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

bool Meta::contains(Text name) const {
  std::optional<size_t> i = binding.kernel.findParameter(name);
  return (i && binding.get(*i)) || optionValue(binding.options, name);
}

const Argument &Meta::argument(Text name) const {
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

int64_t Meta::operator[](Text name) const {
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
