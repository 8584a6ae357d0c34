//===- Session.h - The state of one request ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_SESSION_H
#define NEREID_IRGEN_SESSION_H

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

/// Modules, diagnostics, emitter and evaluator of one request.
class Session {
public:
  /// Without a context only host code can be evaluated.
  Session(mlir::MLIRContext *context, const Source &source);

  /// The source parsed.
  bool ok() const { return modules.main != nullptr; }
  /// The recorded diagnostics, or `message` when there are none.
  Failure failure(ErrorCode code, std::string message);
  /// Null, with the reason, when the source has no such jit function.
  std::shared_ptr<const Function> findKernel(const std::string &name,
                                             Failure &why);
  /// The jit functions of the main module, in order.
  std::vector<std::string> kernelNames();

  Diagnostics diag;
  ModuleTable modules;
  Emitter emitter;
  Evaluator evaluator;
};

/// KernelDescription::sourceHash.
std::string sourceHash(ModuleTable &modules, const std::string &kernel);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_SESSION_H
