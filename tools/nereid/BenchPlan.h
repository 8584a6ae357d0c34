//===- BenchPlan.h - What nereid bench is asked for -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_BENCHPLAN_H
#define NEREID_TOOLS_NEREID_BENCHPLAN_H

#include "KernelArguments.h"
#include "Sweep.h"

#include <functional>

namespace nereid {

class PointArrays;

struct BenchOptions {
  std::string kernel, device = "cpu", grid, roofline = "kept";
  std::vector<std::string> arguments, varied, against, bindings;
  std::string csv, json, svg, html, trace, python = "python3";
  uint64_t seed = 0, programs = 128;
  double seconds = 0.5;
  bool isWarm = false, isTimesOnly = false;
};

/// A launch, as typed. An argument whose text is the name of one of the plan's
/// arrays is that array; another array's text makes one, the same for all
/// launches with that text.
struct LaunchText {
  Kernel kernel;
  std::vector<std::string> arguments; ///< NAME=VALUE
  std::string grid;
};

/// Code of others: 'torch:module.function', 'triton:file.py:kernel',
/// 'lib:file.so:function'.
struct ExternalText {
  std::string kind, what;
  std::vector<NamedText> arguments;
  std::string grid; ///< of upstream Triton; as of the kernel where it says none
};

/// One way to do the work: launches, one after the other, or code of others.
struct ProviderText {
  std::string name;
  Device device;
  std::vector<LaunchText> launches;
  std::optional<ExternalText> external = std::nullopt;
};

struct BenchPlan {
  std::string title;
  std::vector<Variable> variables;
  std::vector<std::string> arrays;     ///< NAME=TEXT
  std::vector<ProviderText> providers; ///< the first is what is benchmarked
  std::string baseline;                ///< a provider's name, or none
  /// What the array `output` should begin with, in float64; null: results are
  /// compared with those of `reference`, a provider, if there is one.
  std::function<std::vector<double>(const PointArrays &)> exact;
  std::string output, reference;
};

/// Devices are asked for later: `device` is one of the right kind.
BenchPlan makePlan(const BenchOptions &options, Device device);

/// With the providers of --against. Throws for a variable that nothing uses.
void completePlan(BenchPlan &plan, const BenchOptions &options, Device device);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_BENCHPLAN_H
