//===- Sweep.cpp - Variables that take values, as typed -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

#include "Commands.h"

#include <algorithm>
#include <cctype>

namespace nereid {

static constexpr size_t mostPoints = 10000;

[[noreturn]] static void badVariable(const std::string &text,
                                     const std::string &why) {
  usageError("--vary " + text + ": " + why);
}

static int64_t integerOf(const std::string &typed, std::string_view digits) {
  std::optional<StaticValue> value = parseValue(digits);
  if (!value || !std::holds_alternative<int64_t>(value->value)) {
    badVariable(typed, "expected START..STOP, START..STOP*FACTOR or "
                       "START..STOP+STEP in integers, got '" +
                           std::string(digits) + "'");
  }
  return std::get<int64_t>(value->value);
}

static std::vector<std::string> rangeOf(const std::string &typed,
                                        const std::string &text, size_t dots) {
  size_t sign = text.find_first_of("*+", dots + 2);
  int64_t first = integerOf(typed, text.substr(0, dots));
  int64_t last = integerOf(typed, text.substr(dots + 2, sign - dots - 2));
  bool multiplies = sign != std::string::npos && text[sign] == '*';
  int64_t step =
      sign == std::string::npos ? 1 : integerOf(typed, text.substr(sign + 1));
  if (first > last) {
    badVariable(typed, "the range is empty: it begins at " +
                           std::to_string(first) + " and ends at " +
                           std::to_string(last));
  }
  if (multiplies ? step < 2 || first < 1 : step < 1) {
    badVariable(typed, multiplies ? "expected a beginning of at least 1 and a "
                                    "factor of at least 2"
                                  : "expected a step of at least 1");
  }
  std::vector<std::string> values;
  for (int64_t value = first; value <= last;) {
    values.push_back(std::to_string(value));
    if (values.size() > mostPoints) {
      badVariable(typed, "expected at most " + std::to_string(mostPoints) +
                             " values; a larger step or factor takes fewer");
    }
    bool isTooLarge = multiplies ? __builtin_mul_overflow(value, step, &value)
                                 : __builtin_add_overflow(value, step, &value);
    if (isTooLarge) {
      break;
    }
  }
  return values;
}

Variable parseVariable(const std::string &text) {
  NamedText named = splitArgument(text);
  auto isWordCharacter = [](unsigned char c) {
    return std::isalnum(c) || c == '_';
  };
  if (!std::all_of(named.name.begin(), named.name.end(), isWordCharacter) ||
      std::isdigit(static_cast<unsigned char>(named.name[0]))) {
    badVariable(text, "expected a name, got '" + named.name + "'");
  }
  size_t dots = named.value.find("..");
  if (dots != std::string::npos) {
    return {named.name, rangeOf(text, named.value, dots)};
  }
  std::vector<std::string> values = splitList(named.value);
  for (const std::string &value : values) {
    if (value.empty()) {
      badVariable(text, "expected values, as in N=128,256 or N=256..32768*2");
    }
  }
  return {named.name, values};
}

std::vector<VariableValues> pointsOf(const std::vector<Variable> &variables) {
  std::vector<VariableValues> points(1);
  for (size_t i = 0; i < variables.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      if (variables[before].name == variables[i].name) {
        usageError("--vary " + variables[i].name + ": it is varied twice");
      }
    }
    std::vector<VariableValues> longer;
    for (const VariableValues &point : points) {
      for (const std::string &value : variables[i].values) {
        longer.push_back(point);
        longer.back().emplace_back(variables[i].name, value);
      }
    }
    points = std::move(longer);
    if (points.size() > mostPoints) {
      usageError("--vary: expected at most " + std::to_string(mostPoints) +
                 " combinations, got " + std::to_string(points.size()) +
                 " and more");
    }
  }
  return points;
}

/// Calls f(word, isName) with consecutive pieces of the text; names are those
/// outside of quotes and not after a '.'.
template <typename F>
static void forEachWord(std::string_view text, F f) {
  char quote = 0;
  for (size_t at = 0; at < text.size();) {
    unsigned char c = static_cast<unsigned char>(text[at]);
    size_t end = at + 1;
    if (std::isalnum(c) || c == '_') {
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) ||
              text[end] == '_')) {
        ++end;
      }
    }
    bool isName = !quote && (std::isalpha(c) || c == '_') &&
                  (at == 0 || text[at - 1] != '.');
    f(text.substr(at, end - at), isName);
    if (c == '"' || c == '\'') {
      quote = quote == c ? 0 : quote ? quote : char(c);
    }
    at = end;
  }
}

bool mentions(std::string_view text, const std::string &name) {
  bool found = false;
  forEachWord(text, [&](std::string_view word, bool isName) {
    found |= isName && word == name;
  });
  return found;
}

std::string substitute(std::string_view text, const VariableValues &values) {
  std::string result;
  forEachWord(text, [&](std::string_view word, bool isName) {
    auto found = std::find_if(values.begin(), values.end(), [&](const auto &v) {
      return isName && v.first == word;
    });
    result += found == values.end() ? word : std::string_view(found->second);
  });
  return result;
}

/// "randn:f32[2*8,4]" as "randn:f32[16,4]"; nothing for another form.
static std::optional<std::string> withPlainSizes(const NamedText &text) {
  size_t bracket = text.value.find('[');
  if (bracket == std::string::npos || !text.value.ends_with(']') ||
      text.value.find(':') > bracket) {
    return std::nullopt;
  }
  std::string result = text.value.substr(0, bracket + 1);
  std::string sizes =
      text.value.substr(bracket + 1, text.value.size() - bracket - 2);
  bool isFirst = true;
  for (const std::string &size : splitList(sizes)) {
    result += isFirst ? "" : ",";
    isFirst = false;
    result += size.empty() || parseValue(size)
                  ? size
                  : evaluateText(size, {}, text.name + "=" + text.value).str();
  }
  return result + "]";
}

ParsedArgument parseVaried(const NamedText &text, const VariableValues &values,
                           Device device, uint64_t seed) {
  if (text.value.starts_with('@')) {
    return parseArgument(text, device, seed);
  }
  NamedText plain{text.name, substitute(text.value, values)};
  if (parseValue(plain.value)) {
    return parseArgument(plain, device, seed);
  }
  if (auto generator = withPlainSizes(plain)) {
    return parseArgument({text.name, *generator}, device, seed);
  }
  bool isExpression = plain.value != text.value ||
                      plain.value.find_first_of("(+*/%-") != std::string::npos;
  if (!isExpression) {
    return parseArgument(plain, device, seed); // says what is expected
  }
  return evaluateText(plain.value, {}, text.name + "=" + plain.value);
}

} // namespace nereid
