//===- HostMethods.cpp - Methods of strings, lists, dicts and numbers *- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Python's that configuration code uses.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Evaluator.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::irgen {

llvm::ArrayRef<llvm::StringRef> Evaluator::hostMethods(const Value &object) {
  static const llvm::StringRef ofString[] = {
      "startswith", "endswith", "lower", "upper", "strip",
      "lstrip",     "rstrip",   "split", "join",  "replace",
      "find",       "isdigit",  "count", "format"};
  static const llvm::StringRef ofList[] = {"append", "extend",  "insert",
                                           "pop",    "index",   "count",
                                           "copy",   "reverse", "sort"};
  static const llvm::StringRef ofTuple[] = {"index", "count"};
  static const llvm::StringRef ofDict[] = {
      "get", "keys", "values", "items", "update", "copy", "pop", "setdefault"};
  static const llvm::StringRef ofInt[] = {"bit_length"};
  static const llvm::StringRef ofFloat[] = {"is_integer"};
  if (object.isString()) {
    return ofString;
  }
  if (object.isList()) {
    return ofList;
  }
  if (object.isTuple()) {
    return ofTuple;
  }
  if (object.isDict()) {
    return ofDict;
  }
  if (object.isIntegral()) {
    return ofInt;
  }
  if (object.isFloat()) {
    return ofFloat;
  }
  return {};
}

namespace {

/// One call: `self.name(args...)`.
class HostMethodCall {
public:
  HostMethodCall(Evaluator &evaluator, const Value &self, llvm::StringRef name,
                 llvm::ArrayRef<Argument> arguments)
      : evaluator(evaluator), diag(evaluator.diag), self(self), name(name),
        arguments(arguments) {}

  FailureOr<Value> run() {
    if (self.isString()) {
      return ofString(self.string());
    }
    if (self.isDict()) {
      return ofDict(self.dict());
    }
    if (self.isList() && evaluator.inKernel() && name != "index" &&
        name != "count") {
      return diag.error("a kernel cannot change a list");
    }
    if (self.isList()) {
      return ofList(self.list());
    }
    if (self.isTuple()) {
      return ofSequence(self.items());
    }
    if (name == "bit_length") {
      Int value = self.integer() < 0 ? -self.integer() : self.integer();
      int bits = 0;
      for (; value != 0; value >>= 1) {
        ++bits;
      }
      return Value(bits);
    }
    return Value(self.number() ==
                 static_cast<double>(static_cast<int64_t>(self.number())));
  }

private:
  FailureOr<Value> wrong(llvm::StringRef expected) {
    return diag.error("method '" + name.str() + "': expected " +
                      expected.str());
  }

  bool given(size_t i) const { return i < arguments.size(); }
  const Value &at(size_t i) const { return arguments[i].value; }
  bool isString(size_t i) const { return given(i) && at(i).isString(); }
  bool isInt(size_t i) const { return given(i) && at(i).isIntegral(); }

  FailureOr<Value> affix(llvm::StringRef text) {
    auto matches = [&](const Value &part) {
      return part.isString() &&
             (name == "startswith" ? text.starts_with(part.string())
                                   : text.ends_with(part.string()));
    };
    if (given(0) && at(0).isTuple()) {
      return Value(llvm::any_of(at(0).items(), matches));
    }
    return isString(0) ? FailureOr<Value>(Value(matches(at(0))))
                       : wrong("a string");
  }

  FailureOr<Value> split(llvm::StringRef text) {
    std::vector<Value> parts;
    if (!given(0)) {
      llvm::SmallVector<llvm::StringRef> words;
      llvm::SplitString(text, words, " \t\n\r");
      parts.assign(words.begin(), words.end());
      return Value::list(std::move(parts));
    }
    if (!isString(0) || at(0).string().empty()) {
      return wrong("a separator");
    }
    llvm::SmallVector<llvm::StringRef> words;
    text.split(words, at(0).string());
    parts.assign(words.begin(), words.end());
    return Value::list(std::move(parts));
  }

  FailureOr<Value> join(llvm::StringRef separator) {
    FailureOr<std::vector<Value>> items =
        given(0) ? evaluator.iterate(at(0), "str.join")
                 : FailureOr<std::vector<Value>>(failure());
    if (failed(items)) {
      return diag.hasError() ? FailureOr<Value>(failure())
                             : wrong("a list of strings");
    }
    std::string text;
    for (size_t i = 0; i < items->size(); ++i) {
      if (!(*items)[i].isString()) {
        return wrong("strings, got " + (*items)[i].describe());
      }
      text += (i ? separator.str() : "") + (*items)[i].string();
    }
    return Value(std::move(text));
  }

  FailureOr<Value> replace(std::string text) {
    if (!isString(0) || !isString(1) || at(0).string().empty()) {
      return wrong("two strings");
    }
    std::string out;
    size_t from = 0;
    const std::string &old = at(0).string();
    for (size_t hit; (hit = text.find(old, from)) != std::string::npos;) {
      out += text.substr(from, hit - from) + at(1).string();
      from = hit + old.size();
    }
    return Value(out + text.substr(from));
  }

  FailureOr<Value> ofString(const std::string &text) {
    llvm::StringRef ref(text);
    llvm::StringRef blanks =
        isString(0) ? llvm::StringRef(at(0).string()) : " \t\n\r\f\v";
    if (name == "startswith" || name == "endswith") {
      return affix(ref);
    }
    if (name == "lower") {
      return Value(ref.lower());
    }
    if (name == "upper") {
      return Value(ref.upper());
    }
    if (name == "strip") {
      return Value(ref.trim(blanks));
    }
    if (name == "lstrip") {
      return Value(ref.ltrim(blanks));
    }
    if (name == "rstrip") {
      return Value(ref.rtrim(blanks));
    }
    if (name == "split") {
      return split(ref);
    }
    if (name == "join") {
      return join(ref);
    }
    if (name == "replace") {
      return replace(text);
    }
    if (name == "isdigit") {
      return Value(!ref.empty() && llvm::all_of(ref, llvm::isDigit));
    }
    if (name == "find" && isString(0)) {
      size_t hit = ref.find(at(0).string());
      return Value(hit == llvm::StringRef::npos ? -1
                                                : static_cast<int64_t>(hit));
    }
    if (name == "count" && isString(0)) {
      return Value(static_cast<int64_t>(ref.count(at(0).string())));
    }
    return diag.error("str." + name.str() + " is not supported here");
  }

  FailureOr<Value> ofSequence(llvm::ArrayRef<Value> items) {
    if (!given(0)) {
      return wrong("a value");
    }
    if (name == "count") {
      return Value(static_cast<int64_t>(llvm::count_if(
          items, [&](const Value &item) { return equal(item, at(0)); })));
    }
    for (size_t i = 0; i < items.size(); ++i) {
      if (equal(items[i], at(0))) {
        return Value(static_cast<int64_t>(i));
      }
    }
    return diag.error(at(0).repr() + " is not in the sequence");
  }

  FailureOr<Value> ofList(std::vector<Value> &items) {
    if (name == "index" || name == "count") {
      return ofSequence(items);
    }
    if (name == "append" && given(0)) {
      items.push_back(at(0));
      return Value();
    }
    if (name == "extend" && given(0)) {
      FailureOr<std::vector<Value>> more =
          evaluator.iterate(at(0), "list.extend");
      if (failed(more)) {
        return failure();
      }
      items.insert(items.end(), more->begin(), more->end());
      return Value();
    }
    if (name == "copy") {
      return Value::list(items);
    }
    if (name == "reverse") {
      std::reverse(items.begin(), items.end());
      return Value();
    }
    Int size = static_cast<Int>(items.size());
    if (name == "insert" && isInt(0) && given(1)) {
      Int i = at(0).integer() < 0 ? at(0).integer() + size : at(0).integer();
      i = std::min<Int>(std::max<Int>(i, 0), size);
      items.insert(items.begin() + static_cast<int64_t>(i), at(1));
      return Value();
    }
    if (name == "pop" && (isInt(0) || !given(0))) {
      Int i = given(0) ? at(0).integer() : -1;
      i = i < 0 ? i + size : i;
      if (i < 0 || i >= size) {
        return diag.error("pop from an empty list, or index out of range");
      }
      Value popped = items[static_cast<size_t>(i)];
      items.erase(items.begin() + static_cast<int64_t>(i));
      return popped;
    }
    return diag.error("list." + name.str() + " is not supported here");
  }

  FailureOr<Value> ofDict(std::vector<std::pair<Value, Value>> &entries) {
    auto find = [&](const Value &key) {
      return llvm::find_if(
          entries, [&](const auto &entry) { return equal(entry.first, key); });
    };
    if (name == "copy") {
      return Value::dict(entries);
    }
    if (name == "keys" || name == "values" || name == "items") {
      std::vector<Value> result;
      for (const auto &[key, value] : entries) {
        result.push_back(name == "keys"     ? key
                         : name == "values" ? value
                                            : Value::tuple({key, value}));
      }
      return Value::list(std::move(result));
    }
    if (!given(0)) {
      return name == "update" ? updateDict(entries) : wrong("a key");
    }
    if (name == "update") {
      return updateDict(entries);
    }
    auto it = find(at(0));
    if (it != entries.end()) {
      Value found = it->second;
      if (name == "pop") {
        entries.erase(it);
      }
      return found;
    }
    if (name == "setdefault") {
      entries.emplace_back(at(0), given(1) ? at(1) : Value());
      return entries.back().second;
    }
    if (name == "pop" && !given(1)) {
      return diag.error("the dict has no key " + at(0).repr());
    }
    return given(1) ? at(1) : Value();
  }

  FailureOr<Value> updateDict(std::vector<std::pair<Value, Value>> &entries) {
    auto put = [&](const Value &key, const Value &value) {
      for (auto &[known, old] : entries) {
        if (equal(known, key)) {
          old = value;
          return;
        }
      }
      entries.emplace_back(key, value);
    };
    for (const Argument &argument : arguments) {
      if (!argument.keyword.empty()) {
        put(Value(argument.keyword), argument.value);
      } else if (argument.value.isDict()) {
        std::vector<std::pair<Value, Value>> more = argument.value.dict();
        for (const auto &[key, value] : more) {
          put(key, value);
        }
      } else {
        return wrong("a dict");
      }
    }
    return Value();
  }

  Evaluator &evaluator;
  Diagnostics &diag;
  const Value &self;
  llvm::StringRef name;
  llvm::ArrayRef<Argument> arguments;
};

} // namespace

FailureOr<Value> Evaluator::callHostMethod(const BoundMethod &method,
                                           llvm::ArrayRef<Argument> arguments) {
  if (method.self.isType()) {
    return typeMethod(method.self.type(), method.name, arguments);
  }
  for (const Argument &argument : arguments) {
    if (argument.value.isOpaque() && method.name != "append" &&
        method.name != "get") {
      return diag.hostError("method '" + method.name + "' of " +
                            argument.value.describe());
    }
  }
  return HostMethodCall(*this, method.self, method.name, arguments).run();
}

} // namespace nereid::irgen
