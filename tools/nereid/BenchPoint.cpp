//===- BenchPoint.cpp - What is timed, at one point of a sweep ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchPoint.h"

#include "Commands.h"

#include <algorithm>

namespace nereid {

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

PointArrays::PointArrays(const VariableValues &values, Device device,
                         uint64_t seed, const PointArrays *source)
    : values(values), device(device), seed(seed), source(source) {}

void PointArrays::add(const std::string &key, Tensor tensor) {
  arrays[key] = {std::move(tensor)};
}

/// "randn:f32[65536,4096]" as "empty:f32[65536,4096]".
static std::string withoutValues(const std::string &text) {
  return text.starts_with("rand") && !text.starts_with("randint")
             ? "empty" + text.substr(text.find(':'))
             : text;
}

std::variant<std::string, StaticValue>
PointArrays::argument(const NamedText &text) {
  std::string whole = text.name + "=" + text.value;
  for (const std::string &key : {text.value, whole}) {
    if (arrays.contains(key)) {
      return key;
    }
    if (source && source->arrays.contains(key)) {
      add(key, source->get(key).to(device));
      return key;
    }
  }
  NamedText drawn{text.name,
                  drawsNothing ? withoutValues(text.value) : text.value};
  // Every array draws from a stream of its own.
  ParsedArgument value = parseVaried(drawn, values, device,
                                     seed + (uint64_t{arrays.size()} << 32));
  if (auto *tensor = std::get_if<Tensor>(&value)) {
    add(whole, *tensor);
    return whole;
  }
  return std::get<StaticValue>(value);
}

void PointArrays::add(const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    NamedText named = splitArgument(text);
    auto key = std::get<std::string>(argument(named));
    arrays[named.name] = std::move(arrays.at(key));
    arrays.erase(key);
  }
}

void PointArrays::makeSets() {
  constexpr int64_t mostBytes = int64_t{1} << 30, mostSets = 8;
  int64_t bytes = 1;
  for (const auto &[key, tensors] : arrays) {
    bytes += tensors[0].bytes();
  }
  setCount = size_t(std::clamp<int64_t>(mostBytes / bytes, 1, mostSets));
  for (auto &[key, tensors] : arrays) {
    while (tensors.size() < setCount) {
      tensors.push_back(tensors[0].clone());
    }
  }
}

int64_t PointArrays::number(const std::string &variable) const {
  return std::get<int64_t>(
      evaluateText(substitute(variable, values), {}, "--vary").value);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

BoundProvider::BoundProvider(const ProviderText &text, PointArrays &arrays)
    : arrays(arrays) {
  for (const LaunchText &launch : text.launches) {
    Launch &bound = launches.emplace_back(
        Launch{launch.kernel.on(text.device),
               GridText(substitute(launch.grid, arrays.values)),
               std::nullopt,
               {},
               {},
               {}});
    for (const std::string &argument : launch.arguments) {
      bound.texts.push_back(splitArgument(argument));
      bound.values.push_back(arrays.argument(bound.texts.back()));
    }
  }
}

std::vector<LaunchArgument> BoundProvider::argumentsOf(const Launch &launch,
                                                       size_t set) const {
  std::vector<LaunchArgument> arguments;
  for (size_t i = 0; i < launch.values.size(); ++i) {
    if (auto *key = std::get_if<std::string>(&launch.values[i])) {
      arguments.emplace_back(launch.texts[i].name,
                             Argument(arrays.get(*key, set)));
    } else {
      arguments.emplace_back(launch.texts[i].name,
                             Argument(std::get<StaticValue>(launch.values[i])));
    }
  }
  return arguments;
}

void BoundProvider::run(size_t turn) {
  for (Launch &launch : launches) {
    std::vector<LaunchArgument> arguments =
        argumentsOf(launch, turn % arrays.sets());
    if (launch.grid) {
      launch.kernel.launch(*launch.grid, arguments);
      continue;
    }
    launch.kernel.launch(
        [&launch](const Meta &meta) {
          launch.meta = meta.values();
          return launch.gridText(meta);
        },
        arguments);
    launch.grid = launch.gridText.last();
  }
}

std::optional<SourceOperations> BoundProvider::operations() const {
  SourceOperations sum;
  for (const Launch &launch : launches) {
    LaunchPreview preview =
        launch.kernel.preview(*launch.grid, argumentsOf(launch, 0));
    auto counted = Context::shared().compiler()->countOperations(
        preview.request, preview.facts);
    if (!counted.ok() || !*counted) {
      return std::nullopt;
    }
    sum.add(**counted);
  }
  return sum;
}

std::string BoundProvider::configuration() const {
  std::string text;
  for (const Launch &launch : launches) {
    const auto &configs = launch.kernel.description().configs;
    std::string own;
    for (const auto &[name, value] : launch.meta) {
      bool isOption = name == "num_warps" || name == "num_stages";
      if (!configs.empty() && (isOption || configs[0].values.contains(name))) {
        own += (own.empty() ? "" : " ") + name + "=" + value.str();
      }
    }
    text += (text.empty() || own.empty() ? "" : "; ") + own;
  }
  return text;
}

std::vector<std::string> BoundProvider::written() const {
  std::vector<std::string> keys;
  for (const Launch &launch : launches) {
    CompiledInfo info = launch.kernel.compile(argumentsOf(launch, 0));
    for (const ImageParameter &parameter : info.image.parameters) {
      for (size_t i = 0; i < launch.values.size(); ++i) {
        auto *key = std::get_if<std::string>(&launch.values[i]);
        if (key && parameter.isWritten &&
            launch.texts[i].name == parameter.name) {
          keys.push_back(*key);
        }
      }
    }
  }
  return keys;
}

} // namespace nereid
