//===- HostArguments.h - A launch's arguments in host code ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What heuristics, hooks and grids see of a launch: a dict of its arguments,
// where a tensor is an aggregate that answers what torch's does of its shape,
// and that a hook may fill and copy.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_HOSTARGUMENTS_H
#define NEREID_IRGEN_HOST_HOSTARGUMENTS_H

#include "nereid/IRGen/Builtins/Builtins.h"

namespace nereid::irgen {

/// Of one argument, as Argument::toStatic has it.
Value hostArgument(const std::string &name, const StaticValue &value);
/// The dict of all.
Value hostArguments(const std::map<std::string, StaticValue> &values);

/// Is it an instance of a class that only the host has: torch.Tensor,
/// TensorDescriptor?
bool isHostInstance(const Value &value, llvm::StringRef className);

void registerHostArguments(BuiltinTable &table);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_HOSTARGUMENTS_H
