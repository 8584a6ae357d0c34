//===- Error.h - What the public C++ API throws ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one exception type of the public API. Everything below the public
// functions returns Status or Expected<T>; `raise` and `valueOrThrow` are the
// border.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_ERROR_H
#define NEREID_RUNTIME_ERROR_H

#include "nereid/ABI/Status.h"

#include <exception>

namespace nereid {

/// Thrown by every function of the public API that can fail. what() is the
/// message followed by every diagnostic, rendered with source line and caret.
class Error : public std::exception {
public:
  explicit Error(Failure failure)
      : failure_(std::move(failure)), text(failure_.str()) {}

  ErrorCode code() const { return failure_.code; }
  /// Without the diagnostics.
  const std::string &message() const { return failure_.message; }
  const std::vector<Diagnostic> &diagnostics() const {
    return failure_.diagnostics;
  }
  const Failure &failure() const { return failure_; }
  const char *what() const noexcept override { return text.c_str(); }

private:
  Failure failure_;
  std::string text;
};

[[noreturn]] inline void raise(Failure failure) {
  throw Error(std::move(failure));
}

inline void throwIfFailed(const Status &status) {
  if (!status.ok()) {
    raise(status.failure());
  }
}

template <typename T>
T valueOrThrow(Expected<T> result) {
  if (!result.ok()) {
    raise(result.failure());
  }
  return std::move(*result);
}

} // namespace nereid

#endif // NEREID_RUNTIME_ERROR_H
