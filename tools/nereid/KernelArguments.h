//===- KernelArguments.h - A launch, typed on the command line -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_KERNELARGUMENTS_H
#define NEREID_TOOLS_NEREID_KERNELARGUMENTS_H

#include "ArgumentText.h"

namespace nereid {

/// The parsed arguments of one launch, which views them.
struct RunArguments {
  std::vector<NamedText> texts;
  std::vector<ParsedArgument> values;

  std::vector<LaunchArgument> launchArguments() const;
  /// An array by its name; an error names those that there are.
  const Tensor &tensor(const std::string &name) const;
};

/// Loads FILE:KERNEL with --bind; reports what is wrong with its decorators.
Kernel loadKernel(const std::string &text,
                  const std::vector<std::string> &bindings, Device device,
                  Context &context = Context::shared());

/// NAME=VALUE each. Every array draws from a stream of its own.
RunArguments parseArguments(const std::vector<std::string> &texts,
                            Device device, uint64_t seed);

/// --grid, evaluated over the arguments of each launch. The last result is
/// kept, so that repeated launches do not pay for it.
class GridText {
public:
  explicit GridText(const std::string &text);
  Grid operator()(const Meta &meta) const;
  /// "64x2".
  std::string lastGrid() const;
  /// The one of the last launch, as plain sizes.
  Grid last() const { return Grid(std::span<const int64_t>(sizes)); }

private:
  std::string text;
  mutable bool known = false;
  mutable std::map<std::string, StaticValue> knownValues;
  mutable std::vector<int64_t> sizes;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_KERNELARGUMENTS_H
