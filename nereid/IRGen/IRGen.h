//===- IRGen.h - From source text to Tile IR -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module's entry points. All are thread-safe: nothing is shared but the
// table of built-ins and the parsed library, which are immutable.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_IRGEN_H
#define NEREID_IRGEN_IRGEN_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::irgen {

/// Loads the dialects that `generate` uses. Call once for a context that is
/// shared between threads; otherwise `generate` does it.
void loadDialects(mlir::MLIRContext &context);

/// Tile IR of one kernel: a module with one func.func, valid by mlir::verify.
/// `warnings` receives what is legal but likely wrong.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
generate(mlir::MLIRContext &context, const CompileRequest &request,
         std::vector<Diagnostic> &warnings);

/// See KernelCompiler.
Expected<KernelDescription> describe(const Source &source,
                                     const std::string &kernel);
Expected<std::vector<std::string>> listKernels(const Source &source);
Expected<StaticValue> evaluate(const EvaluateRequest &request);
Expected<std::vector<HookAction>> runHook(const HookRequest &request);
Expected<std::vector<size_t>> pruneConfigs(const HookRequest &request);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_IRGEN_H
