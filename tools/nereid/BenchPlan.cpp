//===- BenchPlan.cpp - What nereid bench is asked for ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchPlan.h"

#include "Commands.h"
#include "RivalText.h"
#include "ShippedKernels.h"

#include "nereid/Runtime/launch/LaunchOptions.h"
#include "nereid/Support/EditDistance.h"

#include <algorithm>

namespace nereid {

static bool isGiven(const std::vector<std::string> &arguments,
                    const std::string &name) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string &text) {
                       return splitArgument(text).name == name;
                     });
}

static bool takes(const Kernel &kernel, const std::string &name) {
  const auto &parameters = kernel.description().parameters;
  auto options = launchOptionNames();
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const auto &p) { return p.name == name; }) ||
         std::find(options.begin(), options.end(), name) != options.end();
}

/// A variable with the name of a parameter or option is its argument.
static void passVariables(LaunchText &launch,
                          const std::vector<Variable> &variables) {
  for (const Variable &variable : variables) {
    if (takes(launch.kernel, variable.name) &&
        !isGiven(launch.arguments, variable.name)) {
      launch.arguments.push_back(variable.name + "=" + variable.name);
    }
  }
}

static bool isUsed(const std::string &name, const LaunchText &launch) {
  return mentions(launch.grid, name) ||
         std::any_of(launch.arguments.begin(), launch.arguments.end(),
                     [&](const std::string &text) {
                       return mentions(splitArgument(text).value, name);
                     });
}

static void requireUse(const BenchPlan &plan) {
  for (const Variable &variable : plan.variables) {
    bool used = std::any_of(
        plan.arrays.begin(), plan.arrays.end(),
        [&](const std::string &text) { return mentions(text, variable.name); });
    std::vector<std::string> names;
    for (const ProviderText &provider : plan.providers) {
      for (const LaunchText &launch : provider.launches) {
        used |= isUsed(variable.name, launch);
        for (const auto &parameter : launch.kernel.description().parameters) {
          names.push_back(parameter.name);
        }
      }
      if (provider.external) {
        used |= mentions(provider.external->grid, variable.name);
      }
    }
    if (!used) {
      usageError("--vary " + variable.name + ": nothing uses '" +
                 variable.name + "': expected a parameter of " +
                 plan.providers[0].launches[0].kernel.name() +
                 ", a launch option, or a name that an argument or the grid "
                 "mentions, as in 'x=randn:f32[4096," +
                 variable.name + "]'" + didYouMean(variable.name, names));
    }
  }
}

/// "other.py:kernel BLOCK=64 --grid=cdiv(n,64)": what is not said is as of
/// `main`, as far as the kernel takes it.
static ProviderText rivalOf(const std::string &text,
                            const BenchOptions &options,
                            const ProviderText &main) {
  RivalText given = parseRival(text);
  const std::string &what = given.what;
  bool isDevice = what == "interp" || what == "cpu" ||
                  ((what.starts_with("cuda") || what.starts_with("hip")) &&
                   what.find('.') == what.npos);
  if (isDevice) {
    ProviderText rival = main;
    rival.name = given.label.empty() ? what : given.label;
    rival.device = Device::parse(what);
    return rival;
  }
  for (const char *kind : {"torch", "triton", "lib"}) {
    std::string prefix = std::string(kind) + ":";
    if (!what.starts_with(prefix)) {
      continue;
    }
    ExternalText external{kind,
                          what.substr(prefix.size()),
                          {},
                          given.grid.empty() ? main.launches[0].grid
                                             : given.grid};
    for (const std::string &word : given.arguments) {
      external.arguments.push_back(splitArgument(word));
    }
    return {
        given.label.empty() ? what : given.label, main.device, {}, external};
  }
  LaunchText launch{loadKernel(what, options.bindings, main.device),
                    given.arguments,
                    given.grid.empty() ? main.launches[0].grid : given.grid};
  for (const std::string &word : given.arguments) {
    splitArgument(word); // or an error
  }
  for (const std::string &argument : main.launches[0].arguments) {
    std::string name = splitArgument(argument).name;
    if (takes(launch.kernel, name) && !isGiven(launch.arguments, name)) {
      launch.arguments.push_back(argument);
    }
  }
  return {given.label.empty() ? text : given.label, main.device, {launch}};
}

static void replaceVariables(BenchPlan &plan, const BenchOptions &options) {
  std::vector<std::string> texts = options.varied, names;
  texts.insert(texts.end(), options.arguments.begin(), options.arguments.end());
  for (const Variable &variable : plan.variables) {
    names.push_back(variable.name);
  }
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  for (const std::string &text : texts) {
    Variable given = parseVariable(text);
    auto known = std::find(names.begin(), names.end(), given.name);
    if (known == names.end()) {
      usageError("--vary " + text + ": expected one of the variables of " +
                 options.kernel + ", " + list + ", got '" + given.name + "'" +
                 didYouMean(given.name, names));
    }
    plan.variables[size_t(known - names.begin())] = given;
  }
}

BenchPlan makePlan(const BenchOptions &options, Device device) {
  if (options.kernel.empty()) {
    usageError("expected FILE:KERNEL, or one of layer_norm, softmax, matmul, "
               "vector_add, got neither");
  }
  if (std::optional<BenchPlan> shipped = shippedPlan(options.kernel, device)) {
    if (!options.grid.empty()) {
      usageError("--grid: " + options.kernel + " has its own");
    }
    replaceVariables(*shipped, options);
    return *shipped;
  }
  if (options.kernel.find_first_of(":/.") == std::string::npos) {
    std::vector<std::string> names = shippedNames();
    usageError("expected FILE:KERNEL, or one of layer_norm, softmax, matmul, "
               "vector_add, got '" +
               options.kernel + "'" + didYouMean(options.kernel, names));
  }
  if (options.grid.empty()) {
    usageError("expected FILE:KERNEL and --grid, got no --grid");
  }
  BenchPlan plan;
  for (const std::string &text : options.varied) {
    plan.variables.push_back(parseVariable(text));
  }
  Kernel kernel = loadKernel(options.kernel, options.bindings, device);
  plan.title = kernel.name();
  LaunchText launch{kernel, options.arguments, options.grid};
  passVariables(launch, plan.variables);
  plan.providers = {{kernel.name(), device, {launch}}};
  return plan;
}

void completePlan(BenchPlan &plan, const BenchOptions &options, Device device) {
  for (ProviderText &provider : plan.providers) {
    provider.device = device;
  }
  size_t own = plan.providers.size();
  for (const std::string &text : options.against) {
    plan.providers.push_back(rivalOf(text, options, plan.providers[0]));
  }
  for (ProviderText &provider : plan.providers) {
    for (LaunchText &launch : provider.launches) {
      passVariables(launch, plan.variables);
    }
  }
  if (plan.providers.size() > own && plan.baseline.empty()) {
    plan.baseline = plan.providers[own].name;
  }
  for (size_t i = own; i < plan.providers.size(); ++i) {
    if (plan.reference.empty() ||
        plan.providers[i].device == Device::interp()) {
      plan.reference = plan.providers[i].name;
    }
  }
  requireUse(plan);
}

} // namespace nereid
