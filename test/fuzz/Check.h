//===- Check.h - Does an executor agree with the oracle? --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_CHECK_H
#define NEREID_TEST_FUZZ_CHECK_H

#include "test/fuzz/Executor.h"
#include "test/fuzz/Launch.h"
#include "test/fuzz/Reason.h"

#include "nereid/Interp/Oracle.h"

namespace nereid::fuzz {

struct Verdict {
  enum class Kind {
    Agrees,
    Undecided, ///< a comparison depends on a rounding: only determinism counts
    Refused,   ///< the executor says it cannot
    Undefined, ///< the program itself is not legal
    Differs,   ///< a value, a guard byte, or two runs
    TooLong,   ///< the program takes more steps than the reference makes
  };
  Kind kind = Kind::Agrees;
  std::string message;
  Reason reason = Reason::Rounding; ///< if undecided or too long

  /// The executor's fault.
  bool isFailure() const {
    return kind == Kind::Refused || kind == Kind::Differs;
  }
};

/// What the module's one function (Launch.h) does, by the reference executor
/// with error bounds.
class Reference {
public:
  /// `module` must outlive the result and not change. `judgesUpstream` as in
  /// interp::Oracle.
  explicit Reference(mlir::ModuleOp module, bool judgesUpstream = false);

  /// Agrees, Undecided, Undefined or TooLong: nothing about an executor yet.
  const Verdict &verdict() const { return outcome; }
  /// Whether there is something to compare with.
  bool isDefined() const {
    return outcome.kind != Verdict::Kind::Undefined &&
           outcome.kind != Verdict::Kind::TooLong;
  }

  /// Memory after the run, in buffers of its own, and what the run found.
  const Arguments &arguments() const { return expected; }
  const interp::Oracle &found() const { return oracle; }

  /// Needs isDefined(). Runs the function twice on `executor`:
  ///   - integers and untouched memory are equal bit for bit,
  ///   - a float differs from the float64 reference by no more than the
  ///     running error bound of its computation (Interp/Oracle.h); a float that
  ///     was never rounded on its way is equal,
  ///   - nothing outside of the outputs changes,
  ///   - the two runs give the same bits.
  /// `look` sees the program made ready.
  Verdict compare(Executor &executor,
                  llvm::function_ref<void(const Prepared &)> look = {}) const;

private:
  mlir::ModuleOp module;
  Arguments expected;
  interp::Oracle oracle;
  Verdict outcome;
};

/// Reference(module).compare(executor), unless the program is not legal.
Verdict check(mlir::ModuleOp module, Executor &executor,
              llvm::function_ref<void(const Prepared &)> look = {});

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_CHECK_H
