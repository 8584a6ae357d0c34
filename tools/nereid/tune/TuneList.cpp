//===- TuneList.cpp - What a file's decorators say of tuning --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneList.h"

#include "nereid/CommandLine/CommandProcess.h"
#include "tools/nereid/Commands.h"
#include "tools/nereid/KernelArguments.h"

#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Support/Files.h"
#include "nereid/Tune/TuningRecord.h"

#include <nlohmann/json.hpp>

namespace nereid {

using Json = nlohmann::ordered_json;

/// As Python would write it, where JSON has no such value.
static Json jsonOf(const StaticValue &value) {
  if (auto *flag = std::get_if<bool>(&value.value)) {
    return *flag;
  }
  if (auto *integer = std::get_if<int64_t>(&value.value)) {
    return *integer;
  }
  if (auto *real = std::get_if<double>(&value.value)) {
    return *real;
  }
  if (auto *text = std::get_if<std::string>(&value.value)) {
    return *text;
  }
  return value.isNone() ? Json() : Json(value.str());
}

static Json jsonOf(const ConfigDescription &config) {
  Json json = tune::toJson(config);
  if (config.hasHook) {
    json["pre_hook"] = true;
  }
  return json;
}

namespace {

/// The decorators' functions, on one launch's arguments.
class Evaluation {
public:
  Evaluation(const Source &source, const KernelDescription &kernel,
             std::map<std::string, StaticValue> values, std::string target)
      : kernel(kernel), target(std::move(target)), values(std::move(values)) {
    for (const ParameterDescription &parameter : kernel.parameters) {
      if (parameter.defaultValue) {
        this->values.try_emplace(parameter.name, *parameter.defaultValue);
      }
    }
    request.source = source;
    request.kernel = kernel.name;
    request.target = this->target;
  }

  Json run() {
    Json json = {{"left", left()}};
    if (!kernel.configs.empty()) {
      addConfig(kernel.configs.front());
    }
    if (!kernel.heuristics.empty()) {
      json["heuristics"] = heuristics();
    }
    Json hooks = Json::object();
    using Hook = HookRequest::Hook;
    for (size_t i = 0; i < kernel.configs.size(); ++i) {
      if (kernel.configs[i].hasHook) {
        addConfig(kernel.configs[i]);
        addHook(hooks, "configs[" + std::to_string(i) + "]", Hook::Config, i);
      }
    }
    if (kernel.hasPreHook) {
      addHook(hooks, "pre_hook", Hook::Before, 0);
    }
    if (kernel.hasPostHook) {
      addHook(hooks, "post_hook", Hook::After, 0);
    }
    if (!hooks.empty()) {
      json["hooks"] = hooks;
    }
    return json;
  }

private:
  static Json refusal(const Failure &failure) {
    return {{"refused", failure.str()}};
  }

  void addConfig(const ConfigDescription &config) {
    for (const auto &[name, value] : config.values) {
      values.insert_or_assign(name, value);
    }
    values.insert_or_assign("num_warps", int64_t{config.options.numWarps});
  }

  /// The configurations that prune_configs_by leaves, by index.
  Json left() {
    if (!kernel.prunesConfigs) {
      return kernel.configs.size();
    }
    request.values = values;
    auto indices = compiler.pruneConfigs(request);
    return indices.ok() ? Json(*indices) : refusal(indices.failure());
  }

  Json heuristics() {
    Json json = Json::object();
    for (const std::string &name : kernel.heuristics) {
      EvaluateRequest evaluated;
      evaluated.source = request.source;
      evaluated.kernel = kernel.name;
      evaluated.heuristic = name;
      evaluated.target = target;
      evaluated.values = values;
      Expected<StaticValue> value = compiler.evaluate(evaluated);
      json[name] = value.ok() ? jsonOf(*value) : refusal(value.failure());
      if (value.ok()) {
        values.insert_or_assign(name, *value);
      }
    }
    return json;
  }

  void addHook(Json &hooks, const std::string &name, HookRequest::Hook hook,
               size_t config) {
    request.hook = hook;
    request.config = config;
    request.values = values;
    auto actions = compiler.runHook(request);
    hooks[name] =
        actions.ok() ? Json(actions->size()) : refusal(actions.failure());
  }

  const KernelDescription &kernel;
  std::string target;
  std::map<std::string, StaticValue> values;
  HookRequest request;
  KernelCompiler &compiler = *Context::shared().compiler();
};

} // namespace

/// None for a kernel without such decorators.
static std::optional<Json> listOne(const Source &source,
                                   const std::string &name,
                                   const RunArguments &arguments,
                                   const std::string &target) {
  KernelCompiler &compiler = *Context::shared().compiler();
  Json json = {{"kernel", name}};
  Expected<KernelDescription> described = compiler.describe(source, name);
  if (!described.ok()) {
    json["refused"] = described.failure().str();
    return json;
  }
  const KernelDescription &kernel = *described;
  if (kernel.configs.empty() && kernel.heuristics.empty() &&
      kernel.unknown.empty()) {
    return std::nullopt;
  }
  json["line"] = kernel.location.line;
  json["key"] = kernel.tuneKey;
  json["configs"] = Json::array();
  for (const ConfigDescription &config : kernel.configs) {
    json["configs"].push_back(jsonOf(config));
  }
  json["heuristics"] = kernel.heuristics;
  for (auto [option, names] :
       {std::pair("reset_to_zero", &kernel.resetToZero),
        std::pair("restore_value", &kernel.restoreValue)}) {
    if (!names->empty()) {
      json[option] = *names;
    }
  }
  for (auto [option, isThere] :
       {std::pair("pre_hook", kernel.hasPreHook),
        std::pair("post_hook", kernel.hasPostHook),
        std::pair("prune_configs_by", kernel.prunesConfigs)}) {
    if (isThere) {
      json[option] = true;
    }
  }
  json["unknown"] = Json::array();
  for (const Diagnostic &diagnostic : kernel.unknown) {
    json["unknown"].push_back(render(diagnostic));
  }
  if (!arguments.texts.empty()) {
    std::map<std::string, StaticValue> values;
    for (const LaunchArgument &argument : arguments.launchArguments()) {
      values.insert_or_assign(std::string(argument.name),
                              argument.value.toStatic());
    }
    json["launch"] =
        Evaluation(source, kernel, std::move(values), target).run();
  }
  return json;
}

void listTuning(const std::string &kernel,
                const std::vector<std::string> &bindings,
                const RunArguments &arguments, Device device) {
  auto [path, name] = splitKernel(kernel);
  Source source{path, valueOrThrow(readFile(path)), parseBindings(bindings)};
  std::string target = valueOrThrow(targetOf(device));
  std::vector<std::string> names =
      valueOrThrow(Context::shared().compiler()->listKernels(source));
  Json list = Json::array();
  for (const std::string &one : names) {
    if (name.empty() || name == one) {
      if (auto json = listOne(source, one, arguments, target)) {
        list.push_back(std::move(*json));
      }
    }
  }
  writeOutput(
      list.dump(2, ' ', false, decltype(list)::error_handler_t::replace) +
      "\n");
}

} // namespace nereid
