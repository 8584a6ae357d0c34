//===- Diagnostics.h - Messages with a call stack --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ERRORS IN IRGEN. No exceptions. A function that can fail returns
// FailureOr<T> or LogicalResult, and has recorded a Diagnostic here when it
// returns failure:
//
//   if (axis >= rank) {
//     return diag.error("axis 2 is out of range; expected -2 to 1", "...");
//   }
//   FailureOr<Tensor> x = emitter.toTensor(value);
//   if (failed(x)) {
//     return failure();
//   }
//
// A message without a span points at the expression being evaluated. In a
// library function (stdlib/*.py) the message is moved out to the user's call,
// and the library position becomes a note.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_DIAGNOSTICS_H
#define NEREID_IRGEN_EVAL_DIAGNOSTICS_H

#include "nereid/ABI/Status.h"
#include "nereid/Syntax/SourceText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace nereid::irgen {

using llvm::failed;
using llvm::failure;
using llvm::FailureOr;
using llvm::LogicalResult;
using llvm::succeeded;
using llvm::success;

class Diagnostics {
public:
  /// One function being evaluated.
  struct Frame {
    const SourceText *source = nullptr;
    std::string function; ///< empty: the module itself
    ast::Span span;       ///< what is being evaluated in it
    bool isLibrary = false;
  };

  /// Records an error and returns failure(). Only the first one is kept: what
  /// follows an error is its consequence.
  LogicalResult error(std::string message, std::string hint = {});
  LogicalResult error(const ast::Span &span, std::string message,
                      std::string hint = {});
  /// The same text at the same place is kept once (loops are unrolled).
  void warning(std::string message, std::string hint = {});
  void warning(const ast::Span &span, std::string message,
               std::string hint = {});
  /// Adds a note to the error just recorded.
  void note(const ast::Span &span, std::string message);

  /// The error comes from host code that has no meaning here (torch, os, ...):
  /// a decorator that fails so is skipped.
  LogicalResult hostError(std::string message, std::string hint = {}) {
    dueToHost |= errors.empty();
    return error(std::move(message), std::move(hint));
  }
  bool dueToHost = false;

  /// Names the exception that Python raises where the next error is recorded:
  /// diag.raises("KeyError").error(...). What has no name is a refusal, which
  /// no `except` catches where the host is the reason.
  Diagnostics &raises(llvm::StringRef name) {
    if (errors.empty()) {
      exception = name.str();
    }
    return *this;
  }
  std::string exception;

  /// The error that is recorded next ends the evaluation of its file, also in
  /// a decorator, where errors are usually the launch's business.
  Diagnostics &unforgivable() {
    isUnforgivable |= errors.empty();
    return *this;
  }
  bool isUnforgivable = false;

  /// The first error on one line, with its place.
  std::string reason() const;

  bool hasError() const { return !errors.empty(); }
  /// The failure that the module's entry points return.
  Failure takeFailure();

  /// Tries something that may fail without a trace: `mark` before, `forget`
  /// after a failure.
  struct Mark {
    size_t errors, warnings;
  };
  Mark mark() const { return {errors.size(), warnings.size()}; }
  void forget(Mark mark);

  std::vector<Frame> stack;
  std::vector<Diagnostic> errors, warnings;

private:
  Diagnostic make(Severity severity, const ast::Span &span, std::string message,
                  std::string hint) const;
};

/// Keeps the current span while an expression is evaluated.
class SpanScope {
public:
  SpanScope(Diagnostics &diag, const ast::Span &span)
      : diag(diag), depth(diag.stack.size() - 1),
        saved(diag.stack[depth].span) {
    diag.stack[depth].span = span;
  }
  ~SpanScope() { diag.stack[depth].span = saved; }
  SpanScope(const SpanScope &) = delete;
  SpanScope &operator=(const SpanScope &) = delete;

private:
  Diagnostics &diag;
  size_t depth;
  ast::Span saved;
};

/// "did you mean 'x'?", or nothing when no candidate is close. For a hint.
std::string suggestion(llvm::StringRef name,
                       llvm::ArrayRef<std::string> candidates);

/// The same; where no candidate is close, what there is: "there are a, b, c".
std::string choices(llvm::StringRef name,
                    llvm::ArrayRef<std::string> candidates);

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_DIAGNOSTICS_H
