//===- HostMethods.cpp - Methods of lists, sets, dicts and numbers *- C++
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

#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

llvm::ArrayRef<llvm::StringRef> Evaluator::hostMethods(const Value &object) {
  static const llvm::StringRef ofString[] = {
      "startswith", "endswith",     "lower",        "upper",       "strip",
      "lstrip",     "rstrip",       "split",        "rsplit",      "splitlines",
      "join",       "replace",      "find",         "rfind",       "index",
      "rindex",     "count",        "format",       "title",       "capitalize",
      "swapcase",   "casefold",     "zfill",        "ljust",       "rjust",
      "center",     "removeprefix", "removesuffix", "partition",   "rpartition",
      "isdigit",    "isnumeric",    "isdecimal",    "isalpha",     "isalnum",
      "isupper",    "islower",      "isspace",      "isidentifier"};
  // Those of sets too: a set is a list without equals.
  static const llvm::StringRef ofList[] = {
      "append",       "extend",     "insert",
      "pop",          "index",      "count",
      "copy",         "reverse",    "sort",
      "remove",       "clear",      "add",
      "discard",      "update",     "union",
      "intersection", "difference", "symmetric_difference",
      "issubset",     "issuperset", "isdisjoint"};
  static const llvm::StringRef ofTuple[] = {"index", "count"};
  static const llvm::StringRef ofDict[] = {
      "get",  "keys", "values",     "items", "update",
      "copy", "pop",  "setdefault", "clear", "popitem"};
  static const llvm::StringRef ofInt[] = {"bit_length", "bit_count"};
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
      return evaluator.stringMethod(self.string(), name, arguments);
    }
    if (self.isDict()) {
      return ofDict(self.dict());
    }
    if (self.isList() && evaluator.inKernel() && name != "index" &&
        name != "count") {
      return diag.error("a kernel cannot change a list; expected a new one: "
                        "values + [x], or a tuple");
    }
    if (self.isList()) {
      return ofList(self.list());
    }
    if (self.isTuple()) {
      return ofSequence(self.items());
    }
    if (name == "bit_length" || name == "bit_count") {
      Int value = self.integer() < 0 ? -self.integer() : self.integer();
      int bits = 0, ones = 0;
      for (; value != 0; value >>= 1) {
        ++bits;
        ones += static_cast<int>(value & 1);
      }
      return Value(name == "bit_length" ? bits : ones);
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
  bool isInt(size_t i) const { return given(i) && at(i).isIntegral(); }

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
    return diag.error(
        at(0).repr() + " is not in the sequence; expected one of its elements",
        "'in' asks whether it is one");
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
        return diag.error("pop from an empty list, or index out of range; "
                          "expected an element at this index");
      }
      Value popped = items[static_cast<size_t>(i)];
      items.erase(items.begin() + static_cast<int64_t>(i));
      return popped;
    }
    if (name == "clear") {
      items.clear();
      return Value();
    }
    if (name == "sort") {
      return sort(items);
    }
    if ((name == "remove" || name == "discard") && given(0)) {
      auto it = llvm::find_if(
          items, [&](const Value &item) { return equal(item, at(0)); });
      if (it == items.end() && name == "remove") {
        return diag.error(
            at(0).repr() + " is not in the list; expected one of its elements",
            "'in' asks whether it is one");
      }
      if (it != items.end()) {
        items.erase(it);
      }
      return Value();
    }
    return ofSet(items);
  }

  FailureOr<Value> sort(std::vector<Value> &items) {
    llvm::SmallVector<Argument> all = {{"", Value::list(items), {}}};
    all.append(arguments.begin(), arguments.end());
    FailureOr<Value> sorted = evaluator.call(
        Value(BuiltinTable::get().find("python", "sorted")), all);
    if (failed(sorted)) {
      return failure();
    }
    items = sorted->items();
    return Value();
  }

  static bool has(llvm::ArrayRef<Value> items, const Value &wanted) {
    return llvm::any_of(items,
                        [&](const Value &item) { return equal(item, wanted); });
  }

  FailureOr<Value> ofSet(std::vector<Value> &items) {
    if (name == "add" && given(0)) {
      if (!has(items, at(0))) {
        items.push_back(at(0));
      }
      return Value();
    }
    std::vector<Value> other;
    for (const Argument &argument : arguments) {
      FailureOr<std::vector<Value>> more =
          evaluator.iterate(argument.value, "a method of a set");
      if (failed(more)) {
        return failure();
      }
      other.insert(other.end(), more->begin(), more->end());
    }
    auto isIn = [](llvm::ArrayRef<Value> set) {
      return [set](const Value &item) { return has(set, item); };
    };
    if (name == "issubset") {
      return Value(llvm::all_of(items, isIn(other)));
    }
    if (name == "issuperset") {
      return Value(llvm::all_of(other, isIn(items)));
    }
    if (name == "isdisjoint") {
      return Value(llvm::none_of(items, isIn(other)));
    }
    std::vector<Value> result;
    bool keepsCommon = name != "difference" && name != "symmetric_difference";
    bool keepsOwn = name != "intersection";
    for (const Value &item : items) {
      if (has(other, item) ? keepsCommon : keepsOwn) {
        result.push_back(item);
      }
    }
    if (name == "union" || name == "update" || name == "symmetric_difference") {
      for (const Value &item : other) {
        if (!has(items, item) && !has(result, item)) {
          result.push_back(item);
        }
      }
    }
    if (name == "update") {
      items = std::move(result);
      return Value();
    }
    return Value::list(std::move(result));
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
    if (name == "clear") {
      entries.clear();
      return Value();
    }
    if (name == "popitem" && !entries.empty()) {
      auto [key, value] = entries.back();
      entries.pop_back();
      return Value::tuple({key, value});
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
      return diag.error(
          "the dict has no key " + at(0).repr() +
          "; expected one of its keys, or a default: get(key, default)");
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
  if (method.self.isObject() || method.self.isClass()) {
    return baseMethod(method, arguments);
  }
  if (method.self.isType()) {
    return typeMethod(method.self.type(), method.name, arguments);
  }
  for (const Argument &argument : arguments) {
    bool stores = llvm::StringSwitch<bool>(method.name)
                      .Cases({"append", "get", "add", "insert", "setdefault",
                              "pop", "discard"},
                             true)
                      .Default(false);
    if (argument.value.isOpaque() && !stores) {
      return diag.hostError("method '" + method.name + "' of " +
                            argument.value.describe());
    }
  }
  return HostMethodCall(*this, method.self, method.name, arguments).run();
}

} // namespace nereid::irgen
