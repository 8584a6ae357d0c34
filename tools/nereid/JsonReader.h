//===- JsonReader.h - A JSON document, read with errors ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of a JSON document together with its place, so that everything that
// does not fit is answered with the file, the JSON pointer (RFC 6901), what was
// expected and what is there. All functions throw Error(InvalidArgument).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_JSONREADER_H
#define NEREID_TOOLS_NEREID_JSONREADER_H

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

class JsonReader {
public:
  using Json = nlohmann::ordered_json;

  /// The whole document. `source` stands in front of messages: a path, or path
  /// and line.
  JsonReader(std::string source, const Json &value)
      : source(std::move(source)), value(value) {}

  [[noreturn]] void fail(const std::string &message) const;
  /// "expected WHAT, got the value".
  [[noreturn]] void expected(const std::string &what) const;

  bool has(const char *key) const { return value.contains(key); }
  /// A member, which must exist.
  JsonReader at(const std::string &key) const;
  std::optional<JsonReader> find(const char *key) const;
  JsonReader item(size_t i) const;
  size_t size() const { return value.size(); }

  /// An object with no other keys than these.
  void checkKeys(std::initializer_list<const char *> known) const;
  const JsonReader &checkObject() const;
  const JsonReader &checkList() const;

  const std::string &text() const;
  bool boolean() const;
  int64_t integer(int64_t low = INT64_MIN, int64_t high = INT64_MAX) const;
  std::vector<int64_t> integers(int64_t low = INT64_MIN) const;
  std::vector<std::string> texts() const;

  const Json &json() const { return value; }
  const std::string &place() const { return pointer; }

private:
  JsonReader(const JsonReader &parent, const std::string &key,
             const Json &value);

  std::string source, pointer;
  const Json &value;
};

/// Parses text; `source` as above. What is no JSON is an error with its line.
JsonReader::Json parseJson(const std::string &source, const std::string &text);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_JSONREADER_H
