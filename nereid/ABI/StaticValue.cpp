//===- StaticValue.cpp - Compile-time values in plain form ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/KernelCompiler.h"

#include <charconv>
#include <cmath>

namespace nereid {
namespace {
struct Printer {
  std::string operator()(StaticValue::None) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(uint64_t v) const { return std::to_string(v); }
  std::string operator()(const std::string &v) const { return "'" + v + "'"; }
  std::string operator()(DType v) const { return std::string(shortName(v)); }
  std::string operator()(const StaticValue::Function &v) const {
    return v.name;
  }
  std::string operator()(double v) const {
    if (std::isnan(v)) {
      return "nan";
    }
    if (std::isinf(v)) {
      return v < 0 ? "-inf" : "inf";
    }
    char buffer[32];
    auto end = std::to_chars(buffer, buffer + sizeof(buffer), v).ptr;
    std::string text(buffer, end);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const StaticValue::Tuple &v) const {
    std::string text = "(";
    for (size_t i = 0; i < v.size(); ++i) {
      text += (i ? ", " : "") + v[i].str();
    }
    return text + (v.size() == 1 ? ",)" : ")");
  }
  std::string operator()(const StaticValue::Dict &v) const {
    std::string text = "{";
    for (const auto &[key, item] : v) {
      text += (text.size() > 1 ? ", '" : "'") + key + "': " + item.str();
    }
    return text + "}";
  }
};
} // namespace

std::string CompositeArgument::itemName(size_t i) const {
  if (kind == Kind::Tuple) {
    return i < names.size() ? names[i] : std::to_string(i);
  }
  size_t rank = blockShape.size();
  return i == 0      ? "base"
         : i <= rank ? "shape." + std::to_string(i - 1)
                     : "strides." + std::to_string(i - 1 - rank);
}

bool CompositeArgument::operator==(const CompositeArgument &other) const =
    default;

std::string StaticValue::str() const { return std::visit(Printer{}, value); }

} // namespace nereid
