//===- Example.h - Launches to be checked: for tests ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_CHECK_EXAMPLE_H
#define NEREID_TOOLS_CHECK_EXAMPLE_H

#include "LaunchCheck.h"

#include "nereid/nereid.h"

namespace nereid::check {

/// A launch, and what its arguments view.
struct Example {
  std::string source; ///< text of a file, or the path of one
  std::string kernel;
  Grid grid;
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::pair<std::string, StaticValue>> values = {};

  std::vector<LaunchArgument> arguments = {};
  CheckedLaunch launch = {};

  CheckedLaunch &make() {
    arguments.clear();
    for (const auto &[name, tensor] : tensors) {
      arguments.emplace_back(name, Argument(tensor));
    }
    for (const auto &[name, value] : values) {
      arguments.emplace_back(name, Argument(value));
    }
    launch.load = [source = source, name = kernel](Context &context) {
      return source.ends_with(".py")
                 ? Kernel::load(source, name, context)
                 : Kernel::fromSource(source, name, context);
    };
    launch.grid = grid;
    launch.arguments = arguments;
    return launch;
  }
};

inline Tensor numbers(Shape shape, DType dtype, uint64_t seed) {
  return isFloat(dtype) ? randn(shape, dtype, Device::cpu(), seed)
                        : randint(shape, -100, 100, dtype, Device::cpu(), seed);
}

inline Tensor nothing(Shape shape, DType dtype) {
  return zeros(std::move(shape), dtype, Device::cpu());
}

} // namespace nereid::check

#endif // NEREID_TOOLS_CHECK_EXAMPLE_H
