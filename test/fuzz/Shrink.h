//===- Shrink.h - The smallest program that still fails ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SHRINK_H
#define NEREID_TEST_FUZZ_SHRINK_H

#include "test/fuzz/Check.h"
#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

/// `work` in a process of its own: a crash or a hang (over 10 s) is a Differs
/// that says so.
Verdict apart(llvm::function_ref<Verdict()> work);

/// Two verdicts that one bug would give.
bool isSameFailure(const Verdict &a, const Verdict &b);

/// `check`, apart.
Verdict checkApart(mlir::ModuleOp module, Executor &executor,
                   llvm::function_ref<void(const Prepared &)> look = {});

/// Regenerates with smaller options, then removes what the failure does not
/// need: stores, operations, branches, loops, programs of the grid. Every
/// candidate is legal and fails in the same way. `module` is what fails now.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::OwningOpRef<mlir::ModuleOp> module, uint64_t seed,
       const GeneratorOptions &options, Executor &executor);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_SHRINK_H
