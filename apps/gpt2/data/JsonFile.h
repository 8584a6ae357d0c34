//===- JsonFile.h - A file of JSON, with places -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors say where in the file: "meta.json:3:15: error: ...". Columns count
// characters.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_JSONFILE_H
#define NEREID_APPS_GPT2_DATA_JSONFILE_H

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::gpt2 {

/// Lists and objects in each other. What parses into more would end the stack
/// with its first copy, for copies recur.
inline constexpr int deepestJson = 64;

/// A value, or what is wrong with the text: "expected JSON, got ...".
struct ParsedJson {
  nlohmann::json value;
  std::string problem; ///< empty: none
  size_t byte = 0;     ///< where the problem is

  bool ok() const { return problem.empty(); }
};

/// Every text that is not our own is parsed here.
ParsedJson parseJson(std::string_view text);

/// Short enough for a message; of lists and objects their kind alone.
std::string shortText(const nlohmann::json &value);

class JsonFile {
public:
  using Json = nlohmann::json;
  using Keys = std::vector<std::string>;

  /// Throws NotFound or IoError when the file cannot be read, IoError with the
  /// place where it is no JSON.
  explicit JsonFile(const std::string &path);

  const Json &value() const { return json; }
  /// The value of a key of an object in an object, and so on. Throws IoError
  /// when there is none.
  const Json &at(const Keys &keys) const;
  int64_t integer(const Keys &keys, int64_t low, int64_t high) const;
  std::string text(const Keys &keys) const;
  std::vector<std::string> texts(const Keys &keys) const;

  /// Throws IoError: the place of the value of these keys, and `what`.
  [[noreturn]] void refuse(const Keys &keys, const std::string &what) const;
  /// Throws "expected `what`, got ..." with what stands there.
  [[noreturn]] void expected(const Keys &keys, const std::string &what,
                             const Json &got) const;

private:
  std::string path, content;
  Json json;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_JSONFILE_H
