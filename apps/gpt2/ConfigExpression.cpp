//===- ConfigExpression.cpp - Values of a configuration file --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/ConfigExpression.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <vector>

namespace nereid::gpt2 {

/// The shortest text that reads back as the number, as Python's repr: 3e-05,
/// 0.1, 1.0.
static std::string textOfFloat(double number) {
  if (!std::isfinite(number)) {
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  }
  double size = std::abs(number);
  bool isPlain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[40];
  auto end = std::to_chars(text, text + sizeof(text), number,
                           isPlain ? std::chars_format::fixed
                                   : std::chars_format::scientific)
                 .ptr;
  std::string result(text, end);
  bool isWhole = isPlain && result.find('.') == std::string::npos;
  return isWhole ? result + ".0" : result;
}

std::string textOf(const ConfigValue &value) {
  struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool one) const { return one ? "True" : "False"; }
    std::string operator()(int64_t one) const { return std::to_string(one); }
    std::string operator()(double one) const { return textOfFloat(one); }
    std::string operator()(const std::string &one) const { return one; }
  };
  return std::visit(Text{}, value);
}

namespace {

constexpr int mostDepth = 100; ///< of parentheses and signs

class Parser {
public:
  Parser(std::string_view text,
         const std::function<const ConfigValue *(const std::string &)> &valueOf)
      : text(text), valueOf(valueOf) {}

  ConfigValue run() {
    ConfigValue value = sum();
    if (peek() != '\0' && peek() != '#') {
      fail("expected the end of the line, got '" +
           std::string(text.substr(at)) + "'");
    }
    return value;
  }

private:
  [[noreturn]] void failAt(size_t place, const std::string &message) const {
    throw ConfigExpressionError{place, message};
  }
  [[noreturn]] void fail(const std::string &message) const {
    failAt(at, message);
  }

  /// The next character that is no white space; 0 at the end.
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
      ++at;
    }
    return at < text.size() ? text[at] : '\0';
  }
  bool take(std::string_view word) {
    peek();
    bool isHere = text.substr(at).starts_with(word);
    at += isHere ? word.size() : 0;
    return isHere;
  }
  static bool isNameCharacter(char c) {
    return c == '_' || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
  }

  ConfigValue sum() {
    ConfigValue value = product();
    while (peek() == '+' || peek() == '-') {
      size_t place = at++;
      ConfigValue right = product();
      value = apply(text[place] == '+' ? "+" : "-", value, right, place);
    }
    return value;
  }

  ConfigValue product() {
    ConfigValue value = sign();
    while (peek() == '*' || peek() == '/' || peek() == '%') {
      size_t place = at;
      std::string name = take("//") ? "//" : std::string(1, text[at++]);
      value = apply(name, value, sign(), place);
    }
    return value;
  }

  ConfigValue sign() {
    size_t place = (peek(), at);
    if (++depth > mostDepth) {
      fail("expected an expression, got one that is nested too deep");
    }
    ConfigValue value;
    if (take("-")) {
      value = apply("-", int64_t{0}, sign(), place);
    } else if (take("+")) {
      value = apply("+", int64_t{0}, sign(), place);
    } else {
      value = power();
    }
    --depth;
    return value;
  }

  ConfigValue power() {
    ConfigValue value = atom();
    size_t place = (peek(), at);
    return take("**") ? apply("**", value, sign(), place) : value;
  }

  ConfigValue atom() {
    char c = peek();
    if (c == '(') {
      ++at;
      if (++depth > mostDepth) {
        fail("expected an expression, got one that is nested too deep");
      }
      ConfigValue value = sum();
      --depth;
      if (!take(")")) {
        fail("expected ')'");
      }
      return value;
    }
    if (c == '"' || c == '\'') {
      return quoted(c);
    }
    if ((c >= '0' && c <= '9') || c == '.') {
      return number();
    }
    if (isNameCharacter(c)) {
      return named();
    }
    fail(c == '\0' || c == '#'
             ? "expected a value"
             : "expected a value, got '" + std::string(text.substr(at)) + "'");
  }

  ConfigValue quoted(char quote) {
    size_t begin = at++;
    if (text.substr(begin).starts_with(std::string(3, quote))) {
      failAt(begin, "expected a text in one line, in single or double quotes");
    }
    std::string value;
    for (; at < text.size() && text[at] != quote; ++at) {
      if (text[at] != '\\') {
        value += text[at];
        continue;
      }
      constexpr std::string_view escapes = "\\'\"nt", meanings = "\\'\"\n\t";
      size_t found = at + 1 < text.size() ? escapes.find(text[++at])
                                          : std::string_view::npos;
      if (found == std::string_view::npos) {
        fail("expected one of \\\\ \\' \\\" \\n \\t, got another escape");
      }
      value += meanings[found];
    }
    if (at >= text.size()) {
      failAt(begin, "expected the quote that ends this text");
    }
    ++at;
    return value;
  }

  /// 600_000, 1e-1, .5
  ConfigValue number() {
    size_t begin = at;
    std::string digits;
    bool isFloat = false;
    for (; at < text.size(); ++at) {
      char c = text[at], before = digits.empty() ? ' ' : digits.back();
      bool isSign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (c != '_' && c != '.' && !isSign && !isNameCharacter(c)) {
        break;
      }
      isFloat |= c == '.' || c == 'e' || c == 'E';
      if (c != '_') {
        digits += c;
      }
    }
    const char *first = digits.data(), *last = first + digits.size();
    double real = 0;
    int64_t whole = 0;
    auto [realEnd, realError] = std::from_chars(first, last, real);
    auto [wholeEnd, wholeError] = std::from_chars(first, last, whole);
    if (!isFloat && wholeError == std::errc() && wholeEnd == last) {
      return whole;
    }
    if (realError != std::errc() || realEnd != last) {
      failAt(begin, "expected a number, got '" +
                        std::string(text.substr(begin, at - begin)) + "'");
    }
    return real;
  }

  ConfigValue named() {
    size_t begin = at;
    while (at < text.size() && (isNameCharacter(text[at]) || text[at] == '.')) {
      ++at;
    }
    std::string name(text.substr(begin, at - begin));
    if (peek() == '(') {
      return call(name, begin);
    }
    if (name == "True" || name == "False") {
      return name == "True";
    }
    if (name == "None") {
      return ConfigValue();
    }
    const ConfigValue *known = valueOf(name);
    if (!known) {
      failAt(begin,
             "expected a name that was assigned before, got '" + name + "'");
    }
    return *known;
  }

  ConfigValue call(const std::string &name, size_t place) {
    ++at; // the parenthesis
    if (++depth > mostDepth) {
      fail("expected an expression, got one that is nested too deep");
    }
    std::vector<ConfigValue> arguments;
    while (peek() != ')') {
      arguments.push_back(sum());
      if (peek() != ')' && !take(",")) {
        fail("expected ',' or ')'");
      }
    }
    --depth;
    ++at;
    return result(name, arguments, place);
  }

  ConfigValue result(const std::string &name,
                     const std::vector<ConfigValue> &arguments, size_t place) {
    size_t count = arguments.size();
    if (name == "time.time" && count == 0) {
      return std::chrono::duration<double>(
                 std::chrono::system_clock::now().time_since_epoch())
          .count();
    }
    if (name == "str" && count == 1) {
      return textOf(arguments[0]);
    }
    if ((name == "int" || name == "float" || name == "abs" ||
         name == "round") &&
        count == 1) {
      double one = numberOf(arguments[0], place);
      return name == "float" ? ConfigValue(one)
             : name == "abs"
                 ? magnitude(arguments[0], one)
                 : whole(name == "int" ? std::trunc(one) : std::nearbyint(one),
                         place);
    }
    if ((name == "min" || name == "max") && count >= 1) {
      const ConfigValue *best = nullptr;
      for (const ConfigValue &one : arguments) {
        double now = numberOf(one, place);
        if (!best || (name == "min" ? now < numberOf(*best, place)
                                    : now > numberOf(*best, place))) {
          best = &one;
        }
      }
      return *best;
    }
    failAt(place, "expected one of str, int, float, abs, round, min, max and "
                  "time.time with their arguments, got '" +
                      name + "' with " + std::to_string(count));
  }

  static ConfigValue magnitude(const ConfigValue &value, double number) {
    return std::holds_alternative<double>(value)
               ? ConfigValue(std::abs(number))
               : ConfigValue(static_cast<int64_t>(std::abs(number)));
  }

  ConfigValue whole(double number, size_t place) const {
    if (!(std::abs(number) < 9e18)) {
      failAt(place, "expected a number below 2^63, got a larger one");
    }
    return static_cast<int64_t>(number);
  }

  double numberOf(const ConfigValue &value, size_t place) const {
    if (const auto *one = std::get_if<int64_t>(&value)) {
      return static_cast<double>(*one);
    }
    if (const auto *one = std::get_if<bool>(&value)) {
      return *one ? 1 : 0;
    }
    if (const auto *one = std::get_if<double>(&value)) {
      return *one;
    }
    failAt(place, "expected numbers, got '" + textOf(value) + "'");
  }

  static bool isWhole(const ConfigValue &value) {
    return std::holds_alternative<int64_t>(value) ||
           std::holds_alternative<bool>(value);
  }

  static int64_t wholeOf(const ConfigValue &value) {
    const auto *one = std::get_if<int64_t>(&value);
    return one ? *one : int64_t{std::get<bool>(value)};
  }

  ConfigValue apply(const std::string &name, const ConfigValue &a,
                    const ConfigValue &b, size_t place) const {
    const auto *left = std::get_if<std::string>(&a),
               *right = std::get_if<std::string>(&b);
    if (name == "+" && left && right) {
      return *left + *right;
    }
    double x = numberOf(a, place), y = numberOf(b, place);
    bool isDivision = name == "/" || name == "//" || name == "%";
    if (isDivision && y == 0) {
      failAt(place, "expected a divisor that is not 0");
    }
    bool areWhole =
        isWhole(a) && isWhole(b) && name != "/" && !(name == "**" && y < 0);
    if (areWhole) {
      return wholeResult(name, wholeOf(a), wholeOf(b), place);
    }
    return name == "+"    ? x + y
           : name == "-"  ? x - y
           : name == "*"  ? x * y
           : name == "/"  ? x / y
           : name == "//" ? std::floor(x / y)
           : name == "%"  ? x - y * std::floor(x / y)
                          : std::pow(x, y);
  }

  ConfigValue wholeResult(const std::string &name, int64_t x, int64_t y,
                          size_t place) const {
    int64_t result = 0;
    bool overflows = false;
    if (name == "+") {
      overflows = __builtin_add_overflow(x, y, &result);
    } else if (name == "-") {
      overflows = __builtin_sub_overflow(x, y, &result);
    } else if (name == "*") {
      overflows = __builtin_mul_overflow(x, y, &result);
    } else if (name == "**") {
      result = 1;
      for (int64_t i = 0; i < y && !overflows && x != 1 && x != 0; ++i) {
        overflows = __builtin_mul_overflow(result, x, &result) || i > 64;
      }
      result = y > 0 && (x == 0 || x == 1) ? x : result;
    } else {
      // Towards minus infinity.
      overflows = x == INT64_MIN && y == -1;
      int64_t quotient = overflows ? 0 : x / y;
      quotient -= !overflows && x % y != 0 && (x < 0) != (y < 0);
      result = name == "//" ? quotient : x - quotient * y;
    }
    if (overflows) {
      failAt(place, "expected a number below 2^63, got a larger one");
    }
    return result;
  }

  std::string_view text;
  const std::function<const ConfigValue *(const std::string &)> &valueOf;
  size_t at = 0;
  int depth = 0;
};

} // namespace

ConfigValue evaluate(
    std::string_view text,
    const std::function<const ConfigValue *(const std::string &)> &valueOf) {
  return Parser(text, valueOf).run();
}

} // namespace nereid::gpt2
