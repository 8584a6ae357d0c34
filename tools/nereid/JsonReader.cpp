//===- JsonReader.cpp - A JSON document, read with errors -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"

#include "Commands.h"

#include "nereid/Support/EditDistance.h"

#include <algorithm>

namespace nereid {

using Json = JsonReader::Json;

/// RFC 6901: '~' and '/' of a key are written "~0" and "~1".
static std::string escaped(const std::string &key) {
  std::string text;
  for (char c : key) {
    text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text;
}

JsonReader::JsonReader(const JsonReader &parent, const std::string &key,
                       const Json &value)
    : source(parent.source), pointer(parent.pointer + "/" + escaped(key)),
      value(value) {}

void JsonReader::fail(const std::string &message) const {
  usageError(source + ": " + (pointer.empty() ? "" : pointer + ": ") + message);
}

/// At most some words of it.
static std::string shortText(const Json &value) {
  // A string of a launch may hold any bytes.
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t most = 60;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

void JsonReader::expected(const std::string &what) const {
  fail("expected " + what + ", got " + shortText(value));
}

const JsonReader &JsonReader::checkObject() const {
  if (!value.is_object()) {
    expected("an object");
  }
  return *this;
}

const JsonReader &JsonReader::checkList() const {
  if (!value.is_array()) {
    expected("a list");
  }
  return *this;
}

JsonReader JsonReader::at(const std::string &key) const {
  auto found = checkObject().value.find(key);
  if (found == value.end()) {
    fail("expected the key \"" + key + "\", got " + shortText(value));
  }
  return {*this, key, *found};
}

std::optional<JsonReader> JsonReader::find(const char *key) const {
  return checkObject().has(key) ? std::optional(at(key)) : std::nullopt;
}

JsonReader JsonReader::item(size_t i) const {
  return {*this, std::to_string(i), value[i]};
}

void JsonReader::checkKeys(std::initializer_list<const char *> known) const {
  checkObject();
  for (const auto &[key, member] : value.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    std::vector<std::string> names(known.begin(), known.end());
    std::string list;
    for (const std::string &name : names) {
      list += (list.empty() ? "" : ", ") + name;
    }
    fail("expected one of the keys " + list + ", got \"" + key + "\"" +
         didYouMean(key, names));
  }
}

const std::string &JsonReader::text() const {
  if (!value.is_string()) {
    expected("a string");
  }
  return value.get_ref<const std::string &>();
}

bool JsonReader::boolean() const {
  if (!value.is_boolean()) {
    expected("true or false");
  }
  return value.get<bool>();
}

int64_t JsonReader::integer(int64_t low, int64_t high) const {
  bool fits = value.is_number_unsigned()
                  ? value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                  : value.is_number_integer();
  int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < low || number > high) {
    expected(low == INT64_MIN && high == INT64_MAX ? "an integer of 64 bits"
             : high == INT64_MAX
                 ? "an integer of at least " + std::to_string(low)
                 : "an integer from " + std::to_string(low) + " to " +
                       std::to_string(high));
  }
  return number;
}

std::vector<int64_t> JsonReader::integers(int64_t low) const {
  std::vector<int64_t> result;
  for (size_t i = 0; i < checkList().size(); ++i) {
    result.push_back(item(i).integer(low));
  }
  return result;
}

std::vector<std::string> JsonReader::texts() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < checkList().size(); ++i) {
    result.push_back(item(i).text());
  }
  return result;
}

/// The parser takes any depth, but what walks the values calls itself.
static void checkDepth(const std::string &source, const std::string &text) {
  constexpr int most = 100;
  int depth = 0;
  size_t line = 1;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    line += c == '\n';
    if (inString && c == '\\') {
      ++i;
    } else if (c == '"') {
      inString = !inString;
    } else if (!inString && (c == '[' || c == '{') && ++depth > most) {
      usageError(source + ": line " + std::to_string(line) +
                 ": expected values at most " + std::to_string(most) +
                 " levels deep, got more");
    } else if (!inString && (c == ']' || c == '}')) {
      --depth;
    }
  }
}

Json parseJson(const std::string &source, const std::string &text) {
  checkDepth(source, text);
  try {
    return Json::parse(text);
  } catch (const Json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 4: ...".
    std::string message = error.what();
    size_t bracket = message.find("] ");
    usageError(
        source + ": expected JSON, got a " +
        (bracket == std::string::npos ? message : message.substr(bracket + 2)));
  }
}

} // namespace nereid
