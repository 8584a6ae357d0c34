//===- HostState.h - What host code has made -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_HOSTSTATE_H
#define NEREID_IRGEN_EVAL_HOSTSTATE_H

#include "nereid/IRGen/Eval/Function.h"
#include "nereid/Syntax/Parser.h"

namespace nereid::irgen {

/// Objects, exceptions and code of the host, of one evaluator.
struct HostState {
  HostState() = default;
  /// Objects hold each other, and classes hold objects.
  ~HostState();
  HostState(const HostState &) = delete;

  std::shared_ptr<HostObject>
  make(const std::shared_ptr<const PythonClass> &cls);
  /// An exception of Python's own, by name.
  Value makeException(llvm::StringRef name, std::vector<Value> arguments);

  std::vector<std::weak_ptr<HostObject>> objects;
  std::vector<std::shared_ptr<const PythonClass>> classes;

  /// Texts that exec and eval ran.
  std::vector<std::shared_ptr<const ParsedModule>> executed;
  std::vector<std::shared_ptr<const ParsedExpression>> expressions;

  /// The object of the last `raise`.
  Value raised;
  /// An exception that a handler runs for.
  struct Caught {
    Diagnostic error;
    std::string exception;
    Value object;
    bool dueToHost;
  };
  std::vector<Caught> handling;

  /// In a decorator that only changes how kernels are launched.
  bool skipsObjects = false;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_HOSTSTATE_H
