//===- HostCalls.cpp - The few functions of the host that are known *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code is opaque, and so is what it returns. Kernel files take a few
// constants and tuning spaces from it, which these functions give.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Evaluator.h"

namespace nereid::irgen {

/// torch.finfo(torch.float32): constants that kernel files take from there.
static std::optional<Value> numericLimits(const Value &type) {
  std::optional<DType> dtype;
  if (type.isOpaque()) {
    dtype = parseDType(type.opaque().name);
  } else if (type.isType()) {
    dtype = type.type().scalar.dtype;
  }
  if (!dtype) {
    return std::nullopt;
  }
  static const auto record = std::make_shared<const RecordType>(
      RecordType{"limits", {"min", "max", "bits"}, false, "", nullptr});
  Value bits(static_cast<int>(bitWidth(*dtype)));
  if (isFloat(*dtype)) {
    return Value(Record{
        record, {Value(-maxFinite(*dtype)), Value(maxFinite(*dtype)), bits}});
  }
  return Value(
      Record{record, {Value(minValue(*dtype)), Value(maxValue(*dtype)), bits}});
}

/// What host code calls and kernels' configuration depends on, by name.
FailureOr<Value> Evaluator::callOpaque(const Opaque &callee,
                                       llvm::ArrayRef<Argument> arguments) {
  llvm::StringRef name(callee.name);
  if (frame->isKernel) {
    return diag.hostError("'" + callee.name +
                              "' is host code; a kernel cannot call it",
                          "kernels call tl.* and functions decorated with "
                          "@triton.jit");
  }
  if (name.ends_with("namedtuple")) {
    return namedTupleClass(arguments);
  }
  if (name == "itertools.product") {
    std::vector<std::vector<Value>> rows = {{}};
    for (const Argument &argument : arguments) {
      FailureOr<std::vector<Value>> items =
          iterate(argument.value, "itertools.product");
      if (failed(items)) {
        return failure();
      }
      std::vector<std::vector<Value>> longer;
      for (const std::vector<Value> &row : rows) {
        for (const Value &item : *items) {
          if (failed(step())) {
            return failure();
          }
          longer.push_back(row);
          longer.back().push_back(item);
        }
      }
      rows = std::move(longer);
    }
    std::vector<Value> result;
    for (std::vector<Value> &row : rows) {
      result.push_back(Value::tuple(std::move(row)));
    }
    return Value::list(std::move(result));
  }
  if ((name.ends_with(".finfo") || name.ends_with(".iinfo")) &&
      arguments.size() == 1) {
    if (std::optional<Value> limits = numericLimits(arguments[0].value)) {
      return *limits;
    }
  }
  if (name.ends_with("get_current_target")) {
    // Tuning spaces are chosen by it. The CUDA ones fit every target here.
    static const auto target = std::make_shared<const RecordType>(RecordType{
        "GPUTarget", {"backend", "arch", "warp_size"}, false, "", nullptr});
    return Value(Record{target, {Value("cuda"), Value(90), Value(32)}});
  }
  return Value(Opaque{callee.name + "(...)"});
}

} // namespace nereid::irgen
