//===- IndexExpression.h - Random expressions of indices --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers of every type as kernels compute indices, masks and addresses from
// them: ranges that begin below zero, quotients and remainders by numbers of
// either sign, shifts, narrow types that wrap, casts, choices, blocks of one to
// three dimensions, loops. Nothing is loaded or stored for real.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_INDEXEXPRESSION_H
#define NEREID_TEST_FUZZ_INDEXEXPRESSION_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::fuzz {

struct IndexExpression {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Of the function's parameters, as LaunchFrame::arguments has them.
  std::vector<uint64_t> arguments;
  LaunchFacts launch;

  mlir::func::FuncOp function() const;
};

/// The same seed gives the same text.
IndexExpression makeIndexExpression(mlir::MLIRContext &context, uint64_t seed);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_INDEXEXPRESSION_H
