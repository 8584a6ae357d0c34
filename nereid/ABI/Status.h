//===- Status.h - Errors as values, and diagnostics ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How every module reports failure. Inside, code returns Status or
// Expected<T>; only the public C++ API turns a Status into an exception.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_STATUS_H
#define NEREID_ABI_STATUS_H

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid {

enum class ErrorCode {
  InvalidArgument, ///< a call does not fit the kernel or the function
  CompileError,    ///< the kernel's source is wrong; see the diagnostics
  NotFound,        ///< a file, a kernel, a device
  Unsupported,     ///< understood, but not on this target
  OutOfMemory,
  IoError,
  KernelFault, ///< device_assert, an out-of-bounds access, a NaN under check
  Internal,    ///< our bug
};

/// "invalid argument", "compile error", ...
const char *name(ErrorCode code);

/// A place in a source file. Lines and columns count from 1; a column counts
/// characters, not bytes. line == 0: no position is known.
struct SourceLocation {
  std::string file;
  uint32_t line = 0, column = 0;
  uint32_t endLine = 0, endColumn = 0; ///< one past the last character
};

enum class Severity { Error, Warning, Note, Remark };

/// One message about a kernel's source.
struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation location;
  std::string message;
  std::string sourceLine;        ///< the text of `location.line`, for the caret
  std::string hint;              ///< what to do; may be empty
  std::vector<Diagnostic> notes; ///< "called from ...", innermost first
};

/// `file:line:col: error: message`, the source line, carets, hint, notes.
/// Ends with a newline.
std::string render(const Diagnostic &diagnostic);

/// Why something failed.
struct Failure {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::vector<Diagnostic> diagnostics;

  /// The message, then every diagnostic, rendered.
  std::string str() const;
};

/// Success or a Failure.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Failure failure) : failure_(std::move(failure)) {}
  Status(ErrorCode code, std::string message)
      : failure_(Failure{code, std::move(message), {}}) {}

  static Status success() { return {}; }
  bool ok() const { return !failure_; }
  explicit operator bool() const = delete;
  const Failure &failure() const {
    assert(failure_ && "failure() of a success");
    return *failure_;
  }

private:
  std::optional<Failure> failure_;
};

/// A T or a Failure.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : value(std::move(value)) {}
  Expected(Failure failure) : failure_(std::move(failure)) {}
  Expected(Status status) : failure_(status.failure()) {}
  Expected(ErrorCode code, std::string message)
      : failure_(Failure{code, std::move(message), {}}) {}

  bool ok() const { return value.has_value(); }
  T &operator*() {
    assert(value && "value of a failure");
    return *value;
  }
  const T &operator*() const {
    assert(value && "value of a failure");
    return *value;
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Failure &failure() const {
    assert(failure_ && "failure() of a success");
    return *failure_;
  }
  Status status() const { return failure_ ? Status(*failure_) : Status(); }

private:
  std::optional<T> value;
  std::optional<Failure> failure_;
};

} // namespace nereid

#endif // NEREID_ABI_STATUS_H
