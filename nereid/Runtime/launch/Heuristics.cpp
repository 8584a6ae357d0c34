//===- Heuristics.cpp - @triton.heuristics of a launch --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/launch/LaunchBinding.h"
#include "nereid/Runtime/launch/Specialize.h"

#include <algorithm>

namespace nereid {

static Expected<std::unique_ptr<HeuristicValues>>
evaluateHeuristics(KernelState &kernel, const LaunchBinding &binding) {
  if (!kernel.context.compiler) {
    return noCompiler("@triton.heuristics of '" + kernel.description.name + "'",
                      kernel.context);
  }
  ContextScope scope(&kernel.context);
  auto result = std::make_unique<HeuristicValues>();
  EvaluateRequest request;
  request.source = kernel.source;
  request.kernel = kernel.description.name;
  request.values = binding.values();
  if (Expected<std::string> target = targetOf(binding.device); target.ok()) {
    request.target = *target;
  }
  for (uint16_t parameter : kernel.heuristicParameters) {
    if (binding.isGiven(parameter)) {
      continue;
    }
    request.heuristic = kernel.description.parameters[parameter].name;
    Expected<StaticValue> value = kernel.context.compiler->evaluate(request);
    if (!value.ok()) {
      return value.failure();
    }
    request.values[request.heuristic] = *value;
    result->values.push_back(std::move(*value));
    result->arguments.emplace_back(parameter, result->values.back());
  }
  return result;
}

Status applyHeuristics(KernelState &kernel, LaunchBinding &binding) {
  if (std::all_of(kernel.heuristicParameters.begin(),
                  kernel.heuristicParameters.end(),
                  [&](uint16_t p) { return binding.isGiven(p); })) {
    return Status::success();
  }
  WordKey key;
  key.add(binding.options.numWarps);
  for (size_t i = 0; i < binding.size(); ++i) {
    const Argument *argument = binding.get(i);
    key.add(uint64_t{argument != nullptr} | uint64_t{binding.isGiven(i)} << 1);
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
  for (const auto &[parameter, argument] : values->arguments) {
    binding.set(parameter, &argument);
  }
  return Status::success();
}

} // namespace nereid
