//===- DecisionLog.h - The decisions of one compilation ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_DECISIONLOG_H
#define NEREID_PIPELINE_DECISIONLOG_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace nereid {

/// A decision at its place in the kernel's source.
struct LocatedDecision {
  Decision decision;
  /// In the source's own file where a call chain passes through it.
  SourceLocation location;
  /// "file:line:col" of the call that led there, for functions that the kernel
  /// calls; may be empty.
  std::string calledFrom;
};

/// While it lives, the passes of `context` tell it their decisions.
class DecisionLog {
public:
  DecisionLog(mlir::MLIRContext &context, const Source &source);
  ~DecisionLog();
  DecisionLog(const DecisionLog &) = delete;
  DecisionLog &operator=(const DecisionLog &) = delete;

  /// Each once, in the order of the source's lines; those of one place in the
  /// order of the passes.
  std::vector<LocatedDecision> take();

private:
  class Streamer;
  void add(mlir::Location location, LocatedDecision decision);

  mlir::MLIRContext &context;
  const Source &source;
  std::vector<LocatedDecision> decisions;
};

/// "k.py:10:9: remark: load: 4 bytes an access; not 16: ...\n" for each.
std::string render(const std::vector<LocatedDecision> &decisions);

} // namespace nereid

#endif // NEREID_PIPELINE_DECISIONLOG_H
