//===- HostLibrary.h - Functions of the host that are known -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_HOST_HOSTLIBRARY_H
#define NEREID_IRGEN_HOST_HOSTLIBRARY_H

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

/// One call of a function of Python's library, or of a package of the host, by
/// its path. Nullopt: it is not known, or not called in a known way.
class Evaluator::HostLibrary {
public:
  using Result = std::optional<FailureOr<Value>>;

  explicit HostLibrary(Evaluator &evaluator)
      : e(evaluator), diag(evaluator.diag) {}

  Result call(llvm::StringRef name, llvm::ArrayRef<Argument> arguments);

private:
  /// super, setattr, exec and their like (HostCode.cpp).
  Result callPython(llvm::StringRef name, llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> superObject(llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> execute(llvm::ArrayRef<Argument> arguments,
                           bool isExpression);

  /// open, os.path, json, yaml (HostFiles.cpp).
  Result callFile(llvm::StringRef name, llvm::ArrayRef<Argument> arguments);
  FailureOr<Value> open(llvm::ArrayRef<Argument> arguments);
  FailureOr<std::string> pathOf(const Value &value);
  /// Whether a file belongs to the program: only such files are read.
  bool ownsFile(const std::string &path) const;

  FailureOr<Value> importByName(llvm::StringRef name);

  Evaluator &e;
  Diagnostics &diag;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_HOST_HOSTLIBRARY_H
