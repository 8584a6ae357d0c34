//===- ShrinkSource.h - The smallest kernel that still fails ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_SHRINKSOURCE_H
#define NEREID_TEST_FUZZ_SOURCE_SHRINKSOURCE_H

#include "test/fuzz/Check.h"
#include "test/fuzz/source/Program.h"

namespace nereid::fuzz::source {

/// Compiles and checks. What IRGen refuses is Refused.
Verdict check(mlir::MLIRContext &context, const Program &program,
              Executor &executor);

/// In a process of its own: a crash or a hang is a Differs that says so.
Verdict checkApart(mlir::MLIRContext &context, const Program &program,
                   Executor &executor);

/// Removes statement by statement what the failure does not need. Every
/// candidate is legal and fails in the same way.
Program shrink(mlir::MLIRContext &context, Program failing, Executor &executor);

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_SHRINKSOURCE_H
