//===- Check.h - Does an executor agree with the oracle? --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_CHECK_H
#define NEREID_TEST_FUZZ_CHECK_H

#include "test/fuzz/Executor.h"

namespace nereid::fuzz {

struct Verdict {
  enum class Kind {
    Agrees,
    Undecided, ///< a comparison hangs on a rounding: only determinism counts
    Refused,   ///< the executor says it cannot
    Undefined, ///< the program itself is not legal
    Differs,   ///< a value, a guard byte, or two runs
  };
  Kind kind = Kind::Agrees;
  std::string message;

  /// The executor's fault.
  bool isFailure() const {
    return kind == Kind::Refused || kind == Kind::Differs;
  }
};

/// Runs the module's one function (Launch.h) on the reference executor with
/// error bounds, then twice on `executor`:
///   - integers and untouched memory are equal bit for bit,
///   - a float differs from the float64 reference by no more than the running
///     error bound of its computation (Interp/Oracle.h); a float that was never
///     rounded on its way is equal,
///   - nothing outside of the outputs changes,
///   - the two runs give the same bits.
Verdict check(mlir::ModuleOp module, Executor &executor);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_CHECK_H
