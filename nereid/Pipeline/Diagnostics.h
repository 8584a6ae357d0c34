//===- Diagnostics.h - What MLIR says, as Nereid's diagnostics -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_DIAGNOSTICS_H
#define NEREID_PIPELINE_DIAGNOSTICS_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/IR/Diagnostics.h"

namespace nereid {

/// Line `line` of a source, without its end; empty outside.
std::string getSourceLine(const Source &source, unsigned line);

/// The innermost file position of `location`, and the chain of calls that led
/// there as notes. Positions in `source` get their line's text.
Diagnostic makeDiagnostic(mlir::Location location, Severity severity,
                          std::string message, const Source &source);

/// While it lives, diagnostics of `context` are collected, not printed.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, const Source &source);
  ~DiagnosticCollector();

  /// A CompileError with what was collected, or, when MLIR said nothing, an
  /// Internal one that names the stage.
  Failure failure(const std::string &stage);
  /// Warnings and remarks so far.
  std::vector<Diagnostic> warnings() const;

private:
  mlir::MLIRContext &context;
  const Source &source;
  mlir::DiagnosticEngine::HandlerID handler;
  std::vector<Diagnostic> diagnostics;
};

} // namespace nereid

#endif // NEREID_PIPELINE_DIAGNOSTICS_H
