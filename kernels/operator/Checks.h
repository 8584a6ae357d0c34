//===- Checks.h - What an operator asks of its arguments --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Checks checks("layer_norm");
//   checks.floats("x", x);
//   checks.optional("weight", weight).shape({columns}, "the last one of x");
//
// Messages name the operator, the argument, what was expected and what was
// given: layer_norm: argument 'weight': expected shape [768] (the last
// dimension of x), got fp32[512]. All throw InvalidArgument.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_CHECKS_H
#define NEREID_KERNELS_OPERATOR_CHECKS_H

#include "nereid/Runtime/Tensor.h"
#include "nereid/Runtime/Text.h"

#include <concepts>
#include <optional>
#include <span>
#include <string>

namespace nereid::kernels {

class Checks {
public:
  /// The argument that was named last, for further checks. Those of an absent
  /// optional argument hold.
  class Argument {
  public:
    const Argument &rank(int least, int most) const;
    /// -1: any size. `why` says what the sizes follow from.
    const Argument &shape(std::span<const int64_t> expected,
                          const char *why = "") const;
    const Argument &shape(std::initializer_list<int64_t> expected,
                          const char *why = "") const {
      return shape(std::span(expected.begin(), expected.size()), why);
    }
    const Argument &dtype(DType expected, const char *why = "") const;
    const Argument &contiguous() const;
    /// Each element is a place of its own: none of an expanded tensor.
    const Argument &writable() const;

  private:
    friend class Checks;
    Argument(const Checks &checks, const char *name, const Tensor *tensor)
        : checks(checks), name(name), tensor(tensor) {}
    const Checks &checks;
    const char *name;
    const Tensor *tensor; ///< null: absent
  };

  explicit Checks(const char *op) : op(op) {}

  /// Defined, on the device of the first argument, fp32, fp16 or bf16 (few
  /// operators have fp64).
  Argument floats(const char *name, const Tensor &tensor);
  /// The same, and fp64: what may be a gradient.
  Argument gradients(const char *name, const Tensor &tensor);
  /// i32 or i64.
  Argument integers(const char *name, const Tensor &tensor);
  /// Accepts any type.
  Argument any(const char *name, const Tensor &tensor);
  /// Floats, or an undefined tensor.
  Argument optional(const char *name, const Tensor &tensor);

  /// `name`: expected `expected`, got `got`.
  [[noreturn]] void fail(const char *name, Text expected,
                         const std::string &got) const;
  void require(bool holds, const char *name, Text expected, double got) const;
  void require(bool holds, const char *name, Text expected,
               std::integral auto got) const {
    if (!holds) {
      fail(name, expected, std::to_string(got));
    }
  }

private:
  Argument check(const char *name, const Tensor &tensor);
  const char *op;
  std::optional<Device> device;
  const char *first = nullptr; ///< the argument that said the device
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_CHECKS_H
