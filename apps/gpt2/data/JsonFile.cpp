//===- JsonFile.cpp - A file of JSON, with places -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/JsonFile.h"

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <algorithm>

namespace nereid::gpt2 {

namespace {
/// Steps over the values of a text that is known to be JSON.
class Walk {
public:
  explicit Walk(std::string_view text) : text(text) { skipSpace(); }
  size_t place() const { return at; }

  /// To the value of a key of the object here; false when it has none. The last
  /// of several counts, as it does for the parser.
  bool enter(const std::string &key) {
    if (text[at] != '{') {
      return false;
    }
    size_t found = 0;
    ++at;
    for (skipSpace(); text[at] != '}'; skipSpace()) {
      size_t begin = at;
      skipString();
      auto name = JsonFile::Json::parse(text.substr(begin, at - begin));
      skipSpace();
      ++at; // the colon
      skipSpace();
      found = name == key ? at : found;
      skipValue();
      skipSpace();
      at += text[at] == ',';
    }
    at = found;
    return found != 0;
  }

private:
  void skipSpace() {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  void skipString() {
    for (++at; text[at] != '"'; ++at) {
      at += text[at] == '\\';
    }
    ++at;
  }
  void skipValue() {
    int64_t depth = 0;
    do {
      char c = text[at];
      if (c == '"') {
        skipString();
        continue;
      }
      depth += c == '{' || c == '[';
      depth -= c == '}' || c == ']';
      if (depth >= 0) {
        ++at;
      }
    } while (depth > 0 || (depth == 0 && text[at] != ',' && text[at] != '}' &&
                           text[at] != ']'));
  }

  std::string_view text;
  size_t at = 0;
};
} // namespace

/// Where more than deepestJson lists and objects are open; npos: nowhere.
static size_t placeOfDepth(std::string_view text) {
  int depth = 0;
  bool isString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (isString) {
      at += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepestJson) {
        return at;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

ParsedJson parseJson(std::string_view text) {
  ParsedJson parsed;
  if (size_t at = placeOfDepth(text); at != std::string_view::npos) {
    parsed.byte = at;
    parsed.problem = "expected JSON whose lists and objects are nested at "
                     "most " +
                     std::to_string(deepestJson) +
                     " deep, got one that is nested deeper";
    return parsed;
  }
  try {
    parsed.value = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 4: ...",
    // "[json.exception.out_of_range.406] ..."
    auto *place = dynamic_cast<const nlohmann::json::parse_error *>(&error);
    std::string message = error.what(), before = place ? ": " : "] ";
    size_t at = message.find(before);
    std::string why =
        message.substr(at == std::string::npos ? 0 : at + before.size());
    parsed.byte = place && place->byte > 0 ? place->byte - 1 : 0;
    parsed.problem = "expected JSON, got a " + printable(wellFormed(why));
  }
  return parsed;
}

std::string shortText(const nlohmann::json &value) {
  if (value.is_structured()) {
    return value.is_array() ? "a list" : "an object";
  }
  std::string text = value.dump();
  return text.size() <= 60 ? printable(text)
                           : "a long " + std::string(value.type_name());
}

JsonFile::JsonFile(const std::string &path)
    : path(path), content(valueOrThrow(readFile(path))) {
  ParsedJson parsed = parseJson(content);
  if (!parsed.ok()) {
    raise({ErrorCode::IoError,
           placeInText(path, content, parsed.byte) + parsed.problem,
           {}});
  }
  json = std::move(parsed.value);
}

void JsonFile::refuse(const Keys &keys, const std::string &what) const {
  Walk walk(content);
  size_t place = walk.place();
  for (const std::string &key : keys) {
    if (!walk.enter(key)) {
      break;
    }
    place = walk.place();
  }
  raise({ErrorCode::IoError, placeInText(path, content, place) + what, {}});
}

void JsonFile::expected(const Keys &keys, const std::string &what,
                        const Json &got) const {
  refuse(keys, (keys.empty() ? "" : "\"" + printable(keys.back()) + "\": ") +
                   "expected " + what + ", got " + shortText(got));
}

const JsonFile::Json &JsonFile::at(const Keys &keys) const {
  const Json *value = &json;
  for (size_t i = 0; i < keys.size(); ++i) {
    Keys outer(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(i));
    if (!value->is_object()) {
      expected(outer, "an object", *value);
    }
    auto found = value->find(keys[i]);
    if (found == value->end()) {
      refuse(outer, "expected the key \"" + keys[i] + "\", got none");
    }
    value = &*found;
  }
  return *value;
}

int64_t JsonFile::integer(const Keys &keys, int64_t low, int64_t high) const {
  const Json &value = at(keys);
  bool fits = value.is_number_unsigned()
                  ? value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                  : value.is_number_integer();
  int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < low || number > high) {
    expected(keys,
             "an integer from " + std::to_string(low) + " to " +
                 std::to_string(high),
             value);
  }
  return number;
}

std::string JsonFile::text(const Keys &keys) const {
  const Json &value = at(keys);
  if (!value.is_string()) {
    expected(keys, "a string", value);
  }
  return value.get<std::string>();
}

std::vector<std::string> JsonFile::texts(const Keys &keys) const {
  const Json &value = at(keys);
  bool isList = value.is_array() &&
                std::all_of(value.begin(), value.end(),
                            [](const Json &one) { return one.is_string(); });
  if (!isList) {
    expected(keys, "a list of strings", value);
  }
  return value.get<std::vector<std::string>>();
}

} // namespace nereid::gpt2
