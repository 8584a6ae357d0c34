//===- ArgumentText.cpp - Kernel arguments, as typed ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"

#include "Commands.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/EditDistance.h"

#include <algorithm>
#include <charconv>

namespace nereid {

static std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> items;
  int depth = 0;
  char quote = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
    if (i == text.size() || (c == ',' && depth <= 0 && !quote)) {
      items.emplace_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return items;
}

NamedText splitArgument(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    usageError("'" + text + "': expected NAME=VALUE");
  }
  return {std::string(trim(text.substr(0, equals))),
          std::string(trim(text.substr(equals + 1)))};
}

StaticValue evaluateText(const std::string &expression,
                         const std::map<std::string, StaticValue> &values,
                         const std::string &place) {
  EvaluateRequest request;
  request.expression = expression;
  request.values = values;
  Expected<StaticValue> value = Context::shared().compiler()->evaluate(request);
  if (!value.ok()) {
    // The compiler knows an expression, but not where it was typed.
    Failure failure = value.failure();
    for (Diagnostic &diagnostic : failure.diagnostics) {
      if (diagnostic.location.file == "<expression>") {
        diagnostic.location.file = place;
      }
    }
    raise(std::move(failure));
  }
  return std::move(*value);
}

//===----------------------------------------------------------------------===//
// Plain values
//===----------------------------------------------------------------------===//

static std::optional<StaticValue> parseNumber(std::string_view text) {
  bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative || text.starts_with('+'));
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  const char *first = digits.data() + (hex ? 2 : 0);
  const char *last = digits.data() + digits.size();
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(first, last, magnitude, hex ? 16 : 10);
  if (error == std::errc() && end == last) {
    if (!negative) {
      return StaticValue(magnitude);
    }
    if (magnitude <= uint64_t{1} << 63) {
      return StaticValue(static_cast<int64_t>(0 - magnitude));
    }
    return std::nullopt; // no type of the language has it
  }
  if (error == std::errc::result_out_of_range && end == last) {
    return std::nullopt; // no type of the language has it
  }
  double real = 0;
  auto [realEnd, realError] = std::from_chars(digits.data(), last, real);
  if (realError == std::errc() && realEnd == last && !digits.empty()) {
    return StaticValue(negative ? -real : real);
  }
  return std::nullopt;
}

std::optional<StaticValue> parseValue(std::string_view text) {
  if (text == "true" || text == "True") {
    return StaticValue(true);
  }
  if (text == "false" || text == "False") {
    return StaticValue(false);
  }
  if (text == "none" || text == "None") {
    return StaticValue();
  }
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') &&
      text.back() == text[0]) {
    return StaticValue(std::string(text.substr(1, text.size() - 2)));
  }
  if (std::optional<StaticValue> number = parseNumber(text)) {
    return number;
  }
  if (std::optional<DType> dtype = parseDType(text)) {
    return StaticValue(*dtype);
  }
  if (text.starts_with('(') && text.ends_with(')')) {
    return evaluateText(std::string(text), {}, "the tuple");
  }
  return std::nullopt;
}

std::map<std::string, StaticValue>
parseBindings(const std::vector<std::string> &texts) {
  std::map<std::string, StaticValue> bindings;
  for (const std::string &text : texts) {
    NamedText binding = splitArgument(text);
    std::optional<StaticValue> value = parseValue(binding.value);
    bool isContainer =
        binding.value.starts_with('{') || binding.value.starts_with('[');
    if (!value && isContainer) {
      value = evaluateText(binding.value, {}, "the value");
    }
    if (!value) {
      usageError("--bind " + text + ": '" + binding.value +
                 "' is no value; expected a number, True, False, None, a "
                 "\"quoted\" string, a dtype, a tuple, a list or a dict");
    }
    bindings[binding.name] = std::move(*value);
  }
  return bindings;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// generator[:parameter...]:dtype[shape]
struct GeneratorText {
  std::string name;
  std::vector<std::string> parameters;
  DType dtype = DType::Float32;
  Shape shape;
};
} // namespace

static const std::vector<std::string> &generatorNames() {
  static const std::vector<std::string> names = {
      "rand", "randn", "arange", "zeros", "empty", "full", "randint"};
  return names;
}

[[noreturn]] static void badArgument(const NamedText &text,
                                     const std::string &why) {
  usageError(text.name + "=" + text.value + ": " + why);
}

static int64_t parseInteger(const NamedText &text, std::string_view digits,
                            const char *what) {
  std::optional<StaticValue> value = parseNumber(trim(digits));
  if (!value || !std::holds_alternative<int64_t>(value->value)) {
    badArgument(text, std::string(what) +
                          ": expected an integer of 64 bits, got '" +
                          std::string(digits) + "'");
  }
  return std::get<int64_t>(value->value);
}

static double parseReal(const NamedText &text, const std::string &digits) {
  std::optional<StaticValue> value = parseNumber(digits);
  if (value && std::holds_alternative<double>(value->value)) {
    return std::get<double>(value->value);
  }
  if (value && std::holds_alternative<uint64_t>(value->value)) {
    return static_cast<double>(std::get<uint64_t>(value->value));
  }
  return static_cast<double>(parseInteger(text, digits, "the value"));
}

/// Nothing when the text does not have a generator's form at all.
static std::optional<GeneratorText> parseGenerator(const NamedText &text) {
  const std::string &value = text.value;
  size_t bracket = value.find('[');
  if (bracket == std::string::npos || !value.ends_with(']')) {
    return std::nullopt;
  }
  std::vector<std::string> parts;
  std::string head = value.substr(0, bracket);
  for (size_t begin = 0; begin <= head.size();) {
    size_t colon = std::min(head.find(':', begin), head.size());
    parts.push_back(head.substr(begin, colon - begin));
    begin = colon + 1;
  }
  GeneratorText result;
  result.name = parts[0];
  if (parts.size() < 2) {
    badArgument(text, "expected GENERATOR:DTYPE[SHAPE], as in "
                      "randn:f32[4096,4096], got '" +
                          value + "'");
  }
  std::optional<DType> dtype = parseDType(parts.back());
  if (!dtype) {
    std::vector<std::string> names;
    for (int i = 0; i < numDTypes; ++i) {
      names.emplace_back(shortName(static_cast<DType>(i)));
      names.emplace_back(languageName(static_cast<DType>(i)));
    }
    badArgument(text, "expected a dtype such as f32 or i64, got '" +
                          parts.back() + "'" + didYouMean(parts.back(), names));
  }
  result.dtype = *dtype;
  result.parameters.assign(parts.begin() + 1, parts.end() - 1);
  std::string sizes = value.substr(bracket + 1, value.size() - bracket - 2);
  if (!trim(sizes).empty()) {
    for (const std::string &size : splitList(sizes)) {
      result.shape.push_back(parseInteger(text, size, "the size"));
    }
  }
  return result;
}

/// The integers that a type holds: bits and sign.
static std::pair<int64_t, uint64_t> integerRange(DType dtype) {
  if (dtype == i1) {
    return {0, 1};
  }
  auto bits = 8 * byteSize(dtype);
  uint64_t top = UINT64_MAX >> (64 - bits);
  return isSigned(dtype)
             ? std::pair(static_cast<int64_t>(-(top >> 1)) - 1, top >> 1)
             : std::pair(int64_t{0}, top);
}

static std::string rangeText(DType dtype) {
  auto [low, high] = integerRange(dtype);
  return "an integer from " + std::to_string(low) + " to " +
         std::to_string(high) + ", which " + std::string(languageName(dtype)) +
         " holds";
}

/// The generator would cut off what does not fit.
static Tensor fullThatFits(const NamedText &text, const GeneratorText &g,
                           Device device) {
  const std::string &typed = g.parameters[0];
  if (isFloat(g.dtype)) {
    return full(g.shape, parseReal(text, typed), g.dtype, device);
  }
  auto [low, high] = integerRange(g.dtype);
  std::optional<StaticValue> value = parseNumber(trim(typed));
  uint64_t bits = 0;
  bool fits = false;
  if (value && std::holds_alternative<int64_t>(value->value)) {
    int64_t number = std::get<int64_t>(value->value);
    bits = static_cast<uint64_t>(number);
    fits = number >= low && (number < 0 || bits <= high);
  } else if (value && std::holds_alternative<uint64_t>(value->value)) {
    bits = std::get<uint64_t>(value->value);
    fits = bits <= high;
  }
  if (!fits) {
    badArgument(text,
                "expected " + rangeText(g.dtype) + ", got '" + typed + "'");
  }
  Tensor tensor = empty(g.shape, g.dtype, device);
  tensor.copyFrom(Tensor::fromVector<uint64_t>({bits}, Shape{}));
  return tensor;
}

static Tensor arangeThatFits(const NamedText &text, const GeneratorText &g,
                             Device device) {
  if (!isFloat(g.dtype)) {
    uint64_t last = integerRange(g.dtype).second, count = 1;
    bool isHuge = false;
    for (int64_t size : g.shape) {
      isHuge |= size > 0 && __builtin_mul_overflow(
                                count, static_cast<uint64_t>(size), &count);
      if (size <= 0) {
        return arange(g.shape, g.dtype, device); // empty, or refused
      }
    }
    if (isHuge || count - 1 > last) {
      badArgument(text,
                  "expected at most " + std::to_string(last + 1) +
                      " elements, whose numbers " +
                      std::string(languageName(g.dtype)) + " holds, got " +
                      (isHuge ? "more than 2^64" : std::to_string(count)));
    }
  }
  return arange(g.shape, g.dtype, device);
}

/// "3.6 TiB".
static std::string binaryText(double bytes) {
  static constexpr const char *units[] = {"B",   "KiB", "MiB", "GiB",
                                          "TiB", "PiB", "EiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) {
    bytes /= 1024;
  }
  char number[32];
  std::snprintf(number, sizeof(number), bytes < 100 ? "%.3g" : "%.0f", bytes);
  return std::string(number) + " " + units[unit];
}

/// An array that memory cannot hold beside those that are there would be filled
/// until the system ends the process.
static void requireRoom(const NamedText &text, const GeneratorText &g,
                        Device device) {
  double bytes = double(byteSize(g.dtype));
  for (int64_t size : g.shape) {
    bytes *= double(std::max<int64_t>(size, 0));
  }
  constexpr double small = 1 << 20; // not worth a question
  if (bytes < small) {
    return;
  }
  MemoryUse use = memoryUse(device);
  double all = double(device.isHost() ? thisMachine().memoryBytes : use.total);
  if (all > 0 && bytes + double(use.used) > all) {
    std::string others =
        use.used
            ? " beside the " + binaryText(double(use.used)) + " of other arrays"
            : "";
    raise({ErrorCode::OutOfMemory,
           text.name + "=" + text.value + ": expected a shape that fits the " +
               binaryText(all) + " of memory of " +
               (device.isHost() ? "this machine" : device.str()) + ", got " +
               binaryText(bytes) + others,
           {}});
  }
}

static Tensor generate(const NamedText &text, const GeneratorText &g,
                       Device device, uint64_t seed) {
  size_t wanted = g.name == "full" ? 1 : g.name == "randint" ? 2 : 0;
  const auto &names = generatorNames();
  if (std::find(names.begin(), names.end(), g.name) == names.end()) {
    badArgument(text, "expected one of the generators rand, randn, arange, "
                      "zeros, empty, full:VALUE and randint:LOW:HIGH, got '" +
                          g.name + "'" + didYouMean(g.name, names));
  }
  if (g.parameters.size() != wanted) {
    badArgument(text, g.name + ": expected " +
                          (wanted == 0   ? "no parameter"
                           : wanted == 1 ? "one parameter, as in "
                                           "full:2.5:f32[8]"
                                         : "two parameters, as in "
                                           "randint:0:10:i32[8]") +
                          ", got " + std::to_string(g.parameters.size()));
  }
  requireRoom(text, g, device);
  if (g.name == "rand") {
    return rand(g.shape, g.dtype, device, seed);
  }
  if (g.name == "randn") {
    return randn(g.shape, g.dtype, device, seed);
  }
  if (g.name == "arange") {
    return arangeThatFits(text, g, device);
  }
  if (g.name == "zeros") {
    return zeros(g.shape, g.dtype, device);
  }
  if (g.name == "full") {
    return fullThatFits(text, g, device);
  }
  if (g.name == "randint") {
    return randint(g.shape, parseInteger(text, g.parameters[0], "the bound"),
                   parseInteger(text, g.parameters[1], "the bound"), g.dtype,
                   device, seed);
  }
  return empty(g.shape, g.dtype, device);
}

static Tensor readTensor(const NamedText &text, Device device) {
  std::string path = text.value.substr(1);
  std::optional<DType> dtype;
  size_t colon = path.rfind(':');
  if (colon != std::string::npos &&
      path.find('/', colon) == std::string::npos) {
    dtype = parseDType(path.substr(colon + 1));
    if (!dtype) {
      badArgument(text,
                  "expected a dtype after the file, as in @file.npy:bf16, "
                  "got '" +
                      path.substr(colon + 1) + "'");
    }
    path.resize(colon);
  }
  return loadNpy(path, dtype, device);
}

ParsedArgument parseArgument(const NamedText &text, Device device,
                             uint64_t seed) {
  if (text.value.starts_with('@')) {
    return readTensor(text, device);
  }
  if (std::optional<StaticValue> value = parseValue(text.value)) {
    return *value;
  }
  if (std::optional<GeneratorText> generator = parseGenerator(text)) {
    try {
      return generate(text, *generator, device, seed);
    } catch (const Error &error) {
      // A generator does not know which argument it is for.
      if (error.message().starts_with(text.name + "=")) {
        throw;
      }
      Failure failure = error.failure();
      failure.message = text.name + "=" + text.value + ": " + failure.message;
      raise(std::move(failure));
    }
  }
  badArgument(text, "expected a number, true, false, none, a \"quoted\" "
                    "string, a dtype, @file.npy, or a generator as in "
                    "randn:f32[4096,4096]");
}

} // namespace nereid
