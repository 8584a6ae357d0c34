//===- KernelArguments.cpp - A launch, typed on the command line ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"

#include "Commands.h"
#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"

namespace nereid {

std::vector<LaunchArgument> RunArguments::launchArguments() const {
  std::vector<LaunchArgument> result;
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto *tensor = std::get_if<Tensor>(&values[i])) {
      result.emplace_back(texts[i].name, Argument(*tensor));
    } else {
      result.emplace_back(texts[i].name,
                          Argument(std::get<StaticValue>(values[i])));
    }
  }
  return result;
}

const Tensor &RunArguments::tensor(const std::string &name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (auto *tensor = std::get_if<Tensor>(&values[i])) {
      if (texts[i].name == name) {
        return *tensor;
      }
      names.push_back(texts[i].name);
    }
  }
  std::string list;
  for (const std::string &known : names) {
    list += (list.empty() ? "" : ", ") + known;
  }
  usageError("expected the name of an array argument (" +
             (list.empty() ? "there is none" : list) + "), got '" + name + "'" +
             didYouMean(name, names));
}

Kernel loadKernel(const std::string &text,
                  const std::vector<std::string> &bindings, Device device,
                  Context &context) {
  auto [path, name] = splitKernel(text);
  Source source{path, valueOrThrow(readFile(path)), parseBindings(bindings)};
  Kernel kernel =
      Kernel::fromSource(std::move(source), name, context).on(device);
  printWarnings(kernel.description());
  return kernel;
}

RunArguments parseArguments(const std::vector<std::string> &texts,
                            Device device, uint64_t seed) {
  RunArguments result;
  for (size_t i = 0; i < texts.size(); ++i) {
    result.texts.push_back(splitArgument(texts[i]));
    result.values.push_back(
        parseArgument(result.texts.back(), device, seed + (uint64_t{i} << 32)));
  }
  return result;
}

GridText::GridText(const std::string &text) : text(text) {
  if (splitList(text).size() > 3) {
    usageError("--grid '" + text + "': expected one to three sizes, got " +
               std::to_string(splitList(text).size()));
  }
}

Grid GridText::operator()(const Meta &meta) const {
  std::map<std::string, StaticValue> values = meta.values();
  if (known && values == knownValues) {
    return Grid(std::span<const int64_t>(sizes));
  }
  StaticValue result = evaluateText(text, values, "--grid");
  auto *several = std::get_if<StaticValue::Tuple>(&result.value);
  StaticValue::Tuple items = several ? *several : StaticValue::Tuple{result};
  sizes.clear();
  for (const StaticValue &item : items) {
    if (!std::holds_alternative<int64_t>(item.value)) {
      usageError("--grid '" + text + "': expected integers, got " + item.str());
    }
    sizes.push_back(std::get<int64_t>(item.value));
  }
  knownValues = std::move(values);
  known = true;
  return Grid(std::span<const int64_t>(sizes));
}

std::string GridText::lastGrid() const {
  std::string out;
  for (int64_t size : sizes) {
    out += (out.empty() ? "" : "x") + std::to_string(size);
  }
  return out;
}

} // namespace nereid
