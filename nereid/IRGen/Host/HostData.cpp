//===- HostData.cpp - Values of data files ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// YAML and JSON by LLVM's parser, with the types that PyYAML's safe loader
// gives to plain scalars (YAML 1.1: yes and off are booleans, a float has a
// dot).
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostData.h"

#include "nereid/IRGen/Eval/Budget.h"
#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

namespace nereid::irgen {

/// Mappings in mappings.
static constexpr unsigned maxDataDepth = 64;

//===----------------------------------------------------------------------===//
// YAML
//===----------------------------------------------------------------------===//

namespace {

class YamlReader {
public:
  YamlReader(Diagnostics &diag, llvm::StringRef text, bool isJson = false)
      : diag(diag), isJson(isJson) {
    manager.setDiagHandler(
        [](const llvm::SMDiagnostic &found, void *self) {
          auto &reader = *static_cast<YamlReader *>(self);
          if (reader.problem.empty()) {
            reader.problem = found.getMessage().str();
            reader.problemLine = found.getLineNo();
          }
        },
        this);
    stream = std::make_unique<llvm::yaml::Stream>(text, manager, false);
  }

  FailureOr<Value> run() {
    auto document = stream->begin();
    if (document == stream->end()) {
      return bad() ? wrong() : FailureOr<Value>(Value());
    }
    FailureOr<Value> value = read(document->getRoot(), 0);
    if (failed(value)) {
      return failure();
    }
    if (bad()) {
      return wrong();
    }
    ++document;
    if (bad()) {
      return wrong();
    }
    return document == stream->end()
               ? value
               : FailureOr<Value>(refused("a second document"));
  }

private:
  bool bad() const { return stream->failed() || !problem.empty(); }

  FailureOr<Value> wrong() {
    return diag.raises("YAMLError")
        .error("yaml: line " + std::to_string(std::max(problemLine, 1)) + ": " +
               (problem.empty() ? "the text is no YAML" : problem) +
               "; expected a mapping, a sequence or a scalar");
  }

  LogicalResult refused(llvm::StringRef what) {
    return diag.hostError((isJson ? "json: " : "yaml: ") + what.str() +
                          " is not supported; expected mappings, sequences "
                          "and scalars");
  }

  FailureOr<Value> read(llvm::yaml::Node *node, unsigned depth) {
    if (!node || bad()) {
      return bad() ? wrong() : FailureOr<Value>(Value());
    }
    if (depth > maxDataDepth) {
      return refused("nesting deeper than 64");
    }
    if (!Budget::step() || !Budget::make(sizeof(Value))) {
      return diag.error("yaml: the text is too long");
    }
    std::string tag = node->getRawTag().str();
    if (!tag.empty()) {
      return refused("the tag '" + tag + "'");
    }
    FailureOr<Value> value = readKind(node, depth);
    if (succeeded(value) && !node->getAnchor().empty()) {
      anchors[node->getAnchor()] = *value;
    }
    return value;
  }

  FailureOr<Value> readKind(llvm::yaml::Node *node, unsigned depth) {
    llvm::SmallString<64> storage;
    if (auto *scalar = llvm::dyn_cast<llvm::yaml::ScalarNode>(node)) {
      llvm::StringRef raw = scalar->getRawValue();
      llvm::StringRef text = scalar->getValue(storage);
      bool isQuoted = raw.starts_with("'") || raw.starts_with("\"");
      return isQuoted ? FailureOr<Value>(Value(text)) : plain(text);
    }
    if (auto *block = llvm::dyn_cast<llvm::yaml::BlockScalarNode>(node)) {
      return Value(block->getValue());
    }
    if (auto *alias = llvm::dyn_cast<llvm::yaml::AliasNode>(node)) {
      auto known = anchors.find(alias->getName());
      return known == anchors.end()
                 ? FailureOr<Value>(refused("an alias of nothing"))
                 : FailureOr<Value>(known->second);
    }
    if (auto *items = llvm::dyn_cast<llvm::yaml::SequenceNode>(node)) {
      std::vector<Value> values;
      for (llvm::yaml::Node &item : *items) {
        FailureOr<Value> value = read(&item, depth + 1);
        if (failed(value)) {
          return failure();
        }
        values.push_back(std::move(*value));
      }
      return bad() ? wrong() : FailureOr<Value>(Value::list(std::move(values)));
    }
    if (auto *mapping = llvm::dyn_cast<llvm::yaml::MappingNode>(node)) {
      return readMapping(*mapping, depth);
    }
    return bad() ? wrong() : FailureOr<Value>(Value());
  }

  FailureOr<Value> readMapping(llvm::yaml::MappingNode &mapping,
                               unsigned depth) {
    std::vector<std::pair<Value, Value>> entries;
    for (llvm::yaml::KeyValueNode &entry : mapping) {
      FailureOr<Value> key = read(entry.getKey(), depth + 1);
      FailureOr<Value> value =
          failed(key) ? key : read(entry.getValue(), depth + 1);
      if (failed(value)) {
        return failure();
      }
      if (key->isList() || key->isDict()) {
        return diag.raises("YAMLError")
            .error("yaml: a key is a mapping or a sequence; expected a scalar");
      }
      if (key->isString() && key->string() == "<<") {
        return refused("the merge key '<<'");
      }
      auto known = llvm::find_if(entries, [&](const auto &other) {
        return Budget::look() && equal(other.first, *key);
      });
      if (known != entries.end()) {
        known->second = *value;
      } else {
        entries.emplace_back(*key, *value);
      }
    }
    return bad() ? wrong() : FailureOr<Value>(Value::dict(std::move(entries)));
  }

  /// A scalar without quotes, as PyYAML resolves it.
  FailureOr<Value> plain(llvm::StringRef text) {
    if (isJson) {
      return jsonScalar(text);
    }
    if (llvm::is_contained({"", "~", "null", "Null", "NULL"}, text)) {
      return Value();
    }
    for (auto [yes, no] : {std::pair("yes", "no"), std::pair("true", "false"),
                           std::pair("on", "off")}) {
      for (auto [word, meaning] :
           {std::pair(yes, true), std::pair(no, false)}) {
        std::string first(1, llvm::toUpper(word[0]));
        std::string title = first + (word + 1);
        if (text == word || text == title ||
            text == llvm::StringRef(word).upper()) {
          return Value(meaning);
        }
      }
    }
    return number(text);
  }

  FailureOr<Value> jsonScalar(llvm::StringRef text) {
    if (text == "null") {
      return Value();
    }
    if (text == "true" || text == "false") {
      return Value(text == "true");
    }
    int64_t integer;
    double real;
    if (!text.getAsInteger(10, integer)) {
      return Value(integer);
    }
    if (text.find_first_of(".eE") != llvm::StringRef::npos &&
        !text.getAsDouble(real)) {
      return Value(real);
    }
    return refused("an integer of more than 64 bits");
  }

  FailureOr<Value> number(llvm::StringRef text) {
    static const llvm::Regex integer("^[-+]?(0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|"
                                     "0x[0-9a-fA-F_]+)$");
    static const llvm::Regex real(
        "^([-+]?([0-9][0-9_]*)\\.[0-9_]*([eE][-+][0-9]+)?|"
        "\\.[0-9][0-9_]*([eE][-+][0-9]+)?)$");
    static const llvm::Regex infinite("^[-+]?\\.(inf|Inf|INF)$");
    static const llvm::Regex sixty("^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+"
                                   "(\\.[0-9_]*)?$");
    if (infinite.match(text)) {
      return Value(text.starts_with("-") ? -HUGE_VAL : HUGE_VAL);
    }
    if (text == ".nan" || text == ".NaN" || text == ".NAN") {
      return Value(std::numeric_limits<double>::quiet_NaN());
    }
    if (sixty.match(text)) {
      return refused("a number to base 60 ('" + text.str() + "')");
    }
    std::string digits;
    llvm::copy_if(text, std::back_inserter(digits),
                  [](char c) { return c != '_' && c != '+'; });
    if (integer.match(text)) {
      int64_t value;
      llvm::StringRef rest(digits);
      bool isNegative = rest.consume_front("-");
      unsigned radix = rest.consume_front("0x")                   ? 16
                       : rest.consume_front("0b")                 ? 2
                       : rest.size() > 1 && rest.starts_with("0") ? 8
                                                                  : 10;
      if (rest.getAsInteger(radix, value)) {
        return refused("an integer of more than 64 bits");
      }
      return Value(isNegative ? -value : value);
    }
    if (real.match(text)) {
      double value;
      if (!llvm::StringRef(digits).getAsDouble(value)) {
        return Value(value);
      }
    }
    static const llvm::Regex date("^[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?");
    if (date.match(text)) {
      return refused("a date ('" + text.str() + "')");
    }
    return Value(text);
  }

  Diagnostics &diag;
  bool isJson;
  llvm::SourceMgr manager;
  std::unique_ptr<llvm::yaml::Stream> stream;
  llvm::StringMap<Value> anchors;
  std::string problem;
  int problemLine = 0;
};

} // namespace

/// LLVM's parser recurses into what flow style nests.
static bool nestsTooDeep(llvm::StringRef text) {
  unsigned depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{';
    depth -= depth > 0 && (c == ']' || c == '}');
    if (depth > maxDataDepth) {
      return true;
    }
  }
  return false;
}

/// LLVM's parser takes the line for a part of a scalar.
static bool hasSecondDocument(llvm::StringRef text) {
  bool hasBegun = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.starts_with("---") && hasBegun) {
      return true;
    }
    hasBegun |= !line.trim().empty() && !line.trim().starts_with("#");
  }
  return false;
}

FailureOr<Value> readYaml(Diagnostics &diag, llvm::StringRef text) {
  if (hasSecondDocument(text)) {
    return diag.hostError("yaml: a second document is not supported; expected "
                          "mappings, sequences and scalars");
  }
  if (nestsTooDeep(text)) {
    return diag.hostError("yaml: nesting deeper than 64 is not supported; "
                          "expected mappings, sequences and scalars");
  }
  return YamlReader(diag, text).run();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

FailureOr<Value> readJson(Diagnostics &diag, llvm::StringRef text) {
  if (nestsTooDeep(text)) {
    return diag.hostError("json: nesting deeper than 64 is not supported");
  }
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) {
    std::string why = llvm::toString(parsed.takeError());
    return diag.raises("JSONDecodeError")
        .error("json: " + why + "; expected one value");
  }
  // LLVM's objects forget the order of their keys. JSON is a part of YAML.
  return YamlReader(diag, text, /*isJson=*/true).run();
}

FailureOr<Value> readData(Evaluator &evaluator, const Value &source,
                          bool isYaml) {
  Diagnostics &diag = evaluator.diag;
  llvm::StringRef what = isYaml ? "yaml" : "json";
  Value text = source;
  if (source.isObject()) {
    FailureOr<Value> method = evaluator.attribute(source, "read");
    FailureOr<Value> read =
        failed(method) ? method : evaluator.call(*method, {});
    if (failed(read)) {
      return failure();
    }
    text = *read;
  }
  if (!text.isString()) {
    return diag.hostError(what.str() +
                          ": expected a text or an open file, got " +
                          text.describe());
  }
  return isYaml ? readYaml(diag, text.string()) : readJson(diag, text.string());
}

} // namespace nereid::irgen
