//===- ConfigExpression.h - Values of a configuration file ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What nanoGPT's configuration files have on the right of a '=': numbers,
// texts, True, False, None, names that were assigned before, + - * / // % **
// with Python's precedence and types, parentheses, str, int, float, min, max,
// abs, round, and time.time(). Nothing else of Python is evaluated.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CONFIGEXPRESSION_H
#define NEREID_APPS_GPT2_CONFIGEXPRESSION_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace nereid::gpt2 {

/// None is a monostate.
using ConfigValue =
    std::variant<std::monostate, bool, int64_t, double, std::string>;

/// As Python's str() writes it.
std::string textOf(const ConfigValue &value);

/// What is wrong, and at which character of the text.
struct ConfigExpressionError {
  size_t place;
  std::string message;
};

/// The value of an expression that ends with the text or with a comment.
/// `valueOf`: of a name; null where there is none. Throws
/// ConfigExpressionError.
ConfigValue evaluate(
    std::string_view text,
    const std::function<const ConfigValue *(const std::string &)> &valueOf);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CONFIGEXPRESSION_H
