//===- FormatText.cpp - Python's ways to make text from values --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Format specifications (of f-strings and str.format), str.format's fields,
// and the operator %.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>

namespace nereid::irgen {

/// The format specifications that configuration code uses: width, zero fill,
/// alignment, precision, and one of d x X b o f e g s %.
FailureOr<std::string> Evaluator::formatValue(const Value &value,
                                              llvm::StringRef spec) {
  auto unsupported = [&]() -> FailureOr<std::string> {
    return diag.error("the format '" + spec.str() + "' is not supported for " +
                      value.describe() +
                      "; expected a specification as Python has it for this "
                      "type, such as 'd', 'x', '.3f' or '>8'");
  };
  llvm::StringRef rest = spec;
  char fill = ' ', align = 0;
  if (rest.size() > 1 && llvm::StringRef("<>^").contains(rest[1])) {
    fill = rest[0];
    rest = rest.drop_front();
  }
  if (!rest.empty() && llvm::StringRef("<>^").contains(rest[0])) {
    align = rest[0];
    rest = rest.drop_front();
  }
  bool plus = rest.consume_front("+");
  bool prefix = rest.consume_front("#");
  if (rest.consume_front("0")) {
    fill = '0';
    align = align ? align : '>';
  }
  unsigned width = 0, precision = 6;
  rest.consumeInteger(10, width);
  bool groups = rest.consume_front(",") || rest.consume_front("_");
  bool hasPrecision = rest.consume_front(".");
  if (hasPrecision && rest.consumeInteger(10, precision)) {
    return unsupported();
  }
  char type = rest.empty() ? 0 : rest[0];
  if (rest.size() > 1 || width > 1000 || precision > 100) {
    return unsupported();
  }
  std::string text;
  if (type == 0 && !hasPrecision) {
    text = value.str();
  } else if (value.isNumber() && type != 0 &&
             llvm::StringRef("feg%").contains(type)) {
    char pattern[] = {'%', '.', '*', type == '%' ? 'f' : type, 0};
    double number = value.number() * (type == '%' ? 100 : 1);
    char buffer[512];
    int length = std::snprintf(buffer, sizeof buffer, pattern,
                               static_cast<int>(precision), number);
    text.assign(buffer, std::min<size_t>(static_cast<size_t>(length), 511));
    text += type == '%' ? "%" : "";
  } else if (value.isIntegral() && type == 'd') {
    text = toString(value.integer());
  } else if (value.isIntegral() && value.integer() >= 0 &&
             llvm::StringRef("xXbo").contains(type) && type != 0) {
    int radix = type == 'b' ? 2 : type == 'o' ? 8 : 16;
    Int rest = value.integer();
    do {
      char digit = "0123456789abcdef"[int(rest % radix)];
      text.insert(text.begin(), type == 'X' ? llvm::toUpper(digit) : digit);
      rest /= radix;
    } while (rest != 0);
  } else if (value.isString() && (type == 's' || type == 0)) {
    text = hasPrecision ? value.string().substr(0, precision) : value.string();
  } else {
    return unsupported();
  }
  if (groups && value.isIntegral()) {
    char mark = spec.contains('_') ? '_' : ',';
    for (size_t at = text.size(); at > 3 + (text[0] == '-');) {
      text.insert(text.begin() + static_cast<int64_t>(at -= 3), mark);
    }
  }
  if (prefix && type != 0 && llvm::StringRef("xXbo").contains(type)) {
    text = std::string("0") + type + text;
  }
  if (plus && value.isNumber() && text[0] != '-') {
    text = "+" + text;
  }
  size_t pad = text.size() < width ? width - text.size() : 0;
  char side = align ? align : value.isNumber() ? '>' : '<';
  size_t before = side == '>' ? pad : side == '^' ? pad / 2 : 0;
  return std::string(before, fill) + text + std::string(pad - before, fill);
}

//===----------------------------------------------------------------------===//
// str.format
//===----------------------------------------------------------------------===//

/// The value that a field names: "", "0", "name", with ".attribute" and
/// "[index]" after it.
FailureOr<Value> Evaluator::formatField(llvm::StringRef field, size_t &next,
                                        llvm::ArrayRef<Argument> arguments) {
  llvm::StringRef head =
      field.take_until([](char c) { return c == '.' || c == '['; });
  llvm::StringRef rest = field.drop_front(head.size());
  FailureOr<Value> value = failure();
  uint64_t position = next;
  if (head.empty() || !head.getAsInteger(10, position)) {
    next += head.empty();
    uint64_t seen = 0;
    for (const Argument &argument : arguments) {
      if (argument.keyword.empty() && seen++ == position) {
        value = argument.value;
      }
    }
  } else {
    for (const Argument &argument : arguments) {
      if (argument.keyword == head) {
        value = argument.value;
      }
    }
  }
  if (failed(value)) {
    return diag.error("str.format: no argument for the field '{" + field.str() +
                      "}'; expected an argument for each field");
  }
  while (succeeded(value) && !rest.empty()) {
    if (rest.consume_front(".")) {
      llvm::StringRef name =
          rest.take_until([](char c) { return c == '.' || c == '['; });
      rest = rest.drop_front(name.size());
      value = attribute(*value, name);
      continue;
    }
    llvm::StringRef index = rest.drop_front().split(']').first;
    rest = rest.drop_front(std::min(rest.size(), index.size() + 2));
    int64_t number;
    value = subscriptValue(
        *value, index.getAsInteger(10, number) ? Value(index) : Value(number));
  }
  return value;
}

FailureOr<Value> Evaluator::formatText(llvm::StringRef text,
                                       llvm::ArrayRef<Argument> arguments,
                                       size_t &next, unsigned depth) {
  std::string out;
  while (!text.empty()) {
    if (text.consume_front("{{") || text.consume_front("}}")) {
      out += text.data()[-1];
      continue;
    }
    if (!text.consume_front("{")) {
      out += text.front();
      text = text.drop_front();
      continue;
    }
    size_t end = 0;
    for (int open = 1; end < text.size(); ++end) {
      open += (text[end] == '{') - (text[end] == '}');
      if (open == 0) {
        break;
      }
    }
    if (end == text.size() || depth > 2) {
      return diag.error(
          "str.format: a field lacks its '}'; expected '{' and '}' in pairs",
          "a literal brace is written twice");
    }
    auto [what, spec] = text.take_front(end).split(':');
    text = text.drop_front(end + 1);
    auto [field, conversion] = what.split('!');
    FailureOr<Value> value = formatField(field, next, arguments);
    if (failed(value)) {
      return failure();
    }
    if (value->isOpaque()) {
      return diag.hostError("str.format of " + value->describe());
    }
    if (!conversion.empty()) {
      value = Value(conversion == "s" ? value->str() : value->repr());
    }
    // A specification may hold fields itself: "{:{width}}".
    FailureOr<Value> full = formatText(spec, arguments, next, depth + 1);
    FailureOr<std::string> piece = failed(full)
                                       ? FailureOr<std::string>(failure())
                                       : formatValue(*value, full->string());
    if (failed(piece)) {
      return failure();
    }
    if (!Budget::make(piece->size())) {
      break;
    }
    out += *piece;
  }
  return Value(std::move(out));
}

//===----------------------------------------------------------------------===//
// text % values
//===----------------------------------------------------------------------===//

FailureOr<Value> Evaluator::percentFormat(llvm::StringRef text,
                                          const Value &values) {
  std::string out;
  size_t next = 0;
  bool isTuple = values.isTuple();
  size_t count = isTuple ? values.items().size() : 1;
  while (!text.empty()) {
    if (!text.consume_front("%")) {
      out += text.front();
      text = text.drop_front();
      continue;
    }
    if (text.consume_front("%")) {
      out += '%';
      continue;
    }
    FailureOr<Value> value = failure();
    if (text.consume_front("(")) {
      llvm::StringRef name = text.split(')').first;
      text = text.drop_front(std::min(text.size(), name.size() + 1));
      value = subscriptValue(values, Value(name));
      next = count;
    } else if (next < count) {
      value = isTuple ? values.items()[next] : values;
      ++next;
    } else {
      return diag.error(
          "not enough values for the text's '%'; expected a value for each '%'",
          "a literal one is written '%%'");
    }
    llvm::StringRef flags = text.take_while([](char c) {
      return llvm::isDigit(c) || llvm::StringRef("-+#. ").contains(c);
    });
    text = text.drop_front(flags.size());
    if (failed(value) || text.empty()) {
      return diag.hasError()
                 ? failure()
                 : diag.error("a '%' of the text has no type; expected a "
                              "letter that says how: '%d', '%s' or '%f'",
                              "a literal one is written '%%'");
    }
    if (value->isOpaque()) {
      return diag.hostError("'%' of " + value->describe());
    }
    char type = text.front();
    text = text.drop_front();
    if (type == 'r' || type == 's') {
      value = Value(type == 'r' ? value->repr() : value->str());
    } else if (type == 'd' || type == 'i' || type == 'u') {
      if (!value->isNumber()) {
        return diag.error("'%d' needs a number, got " + value->describe() +
                              "; expected an integer or a float",
                          "'%s' takes any value");
      }
      if (value->isFloat()) {
        if (!(std::abs(value->number()) < 1e38)) {
          return diag.error("'%d' of " + value->repr() +
                            "; expected a finite number");
        }
        value = Value(static_cast<Int>(value->number()));
      }
      type = 'd';
    }
    // Both align to the right here unless a '-' says otherwise.
    bool left = flags.consume_front("-");
    std::string spec = (left                     ? "<"
                        : flags.starts_with("0") ? ""
                                                 : ">") +
                       flags.str() + (type == 'r' ? 's' : type);
    FailureOr<std::string> piece =
        formatValue(value->isBool() ? Value(value->integer()) : *value, spec);
    if (failed(piece)) {
      return failure();
    }
    out += *piece;
  }
  // As CPython: whatever can be subscripted may have more than is asked for.
  if (next < count && !values.isDict() && !values.isList()) {
    return diag.error("more values than the text has '%'; expected as many "
                      "values as the text has '%'");
  }
  return Value(std::move(out));
}

} // namespace nereid::irgen
