//===- StringMethods.cpp - Methods of strings -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python's, on bytes: names and messages of configuration code are ASCII.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

namespace {

/// One call: `text.name(args...)`.
class StringMethodCall {
public:
  StringMethodCall(Evaluator &evaluator, llvm::StringRef name,
                   llvm::ArrayRef<Argument> arguments)
      : evaluator(evaluator), diag(evaluator.diag), name(name),
        arguments(arguments) {}

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

  /// split and rsplit: [separator], [maxsplit].
  FailureOr<Value> split(llvm::StringRef text) {
    Int most = -1;
    Value separator;
    for (size_t i = 0; i < arguments.size(); ++i) {
      bool isCount = arguments[i].keyword == "maxsplit" ||
                     (arguments[i].keyword.empty() && i == 1);
      if (isCount && at(i).isInt()) {
        most = at(i).integer();
      } else {
        separator = at(i);
      }
    }
    if (!separator.isNone() &&
        (!separator.isString() || separator.string().empty())) {
      return wrong("a separator");
    }
    bool fromRight = name == "rsplit";
    std::vector<Value> parts;
    const llvm::StringRef blanks = " \t\n\r\f\v";
    while (true) {
      if (separator.isNone()) {
        text = fromRight ? text.rtrim(blanks) : text.ltrim(blanks);
        if (text.empty()) {
          break;
        }
      }
      size_t hit, length = 1;
      if (separator.isNone()) {
        hit =
            fromRight ? text.find_last_of(blanks) : text.find_first_of(blanks);
      } else {
        length = separator.string().size();
        hit = fromRight ? text.rfind(separator.string())
                        : text.find(separator.string());
      }
      if (hit == llvm::StringRef::npos || most == 0) {
        parts.emplace_back(text);
        break;
      }
      --most;
      llvm::StringRef head = text.take_front(hit),
                      tail = text.drop_front(hit + length);
      parts.emplace_back(fromRight ? tail : head);
      text = fromRight ? head : tail;
    }
    if (fromRight) {
      std::reverse(parts.begin(), parts.end());
    }
    return Value::list(std::move(parts));
  }

  FailureOr<Value> join(llvm::StringRef separator) {
    FailureOr<std::vector<Value>> items =
        given(0) ? evaluator.iterate(at(0), "str.join")
                 : FailureOr<std::vector<Value>>(failure());
    if (failed(items)) {
      return wrong("a list of strings");
    }
    std::string text;
    for (size_t i = 0; i < items->size(); ++i) {
      if (!(*items)[i].isString()) {
        return wrong("strings, got " + (*items)[i].describe());
      }
      if (!Budget::make(separator.size() + (*items)[i].string().size())) {
        break;
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
      if (!Budget::make(at(1).string().size())) {
        break;
      }
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
    if (name == "split" || name == "rsplit") {
      return split(ref);
    }
    if (name == "join") {
      return join(ref);
    }
    if (name == "replace") {
      return replace(text);
    }
    if (name == "find" && isString(0)) {
      size_t hit = ref.find(at(0).string());
      return Value(hit == llvm::StringRef::npos ? -1
                                                : static_cast<int64_t>(hit));
    }
    if (name == "count" && isString(0)) {
      return Value(static_cast<int64_t>(ref.count(at(0).string())));
    }
    if (name == "format") {
      size_t next = 0;
      return evaluator.formatText(text, arguments, next);
    }
    FailureOr<Value> result = classified(ref);
    result = failed(result) ? cased(ref) : result;
    result = failed(result) ? placed(ref) : result;
    result = failed(result) ? divided(ref) : result;
    return failed(result) ? wrong("other arguments") : result;
  }

  /// isdigit() and its kin.
  FailureOr<Value> classified(llvm::StringRef text) {
    using Test = bool (*)(char);
    Test test = llvm::StringSwitch<Test>(name)
                    .Cases({"isdigit", "isnumeric", "isdecimal"},
                           [](char c) { return llvm::isDigit(c); })
                    .Case("isalpha", [](char c) { return llvm::isAlpha(c); })
                    .Case("isalnum", [](char c) { return llvm::isAlnum(c); })
                    .Case("isspace", [](char c) { return llvm::isSpace(c); })
                    .Case("isidentifier",
                          [](char c) { return llvm::isAlnum(c) || c == '_'; })
                    .Default(nullptr);
    if (test) {
      bool starts = name != "isidentifier" || text.empty() ||
                    !llvm::isDigit(text.front());
      return Value(!text.empty() && starts && llvm::all_of(text, test));
    }
    if (name == "isupper") {
      return Value(text.lower() != text && text.upper() == text);
    }
    if (name == "islower") {
      return Value(text.upper() != text && text.lower() == text);
    }
    return failure();
  }

  FailureOr<Value> cased(llvm::StringRef text) {
    if (name == "casefold") {
      return Value(text.lower());
    }
    std::string out = text.lower();
    bool isStart = true;
    for (size_t i = 0; i < out.size(); ++i) {
      if (name == "swapcase") {
        out[i] = llvm::isLower(text[i]) ? llvm::toUpper(text[i]) : out[i];
      } else if (isStart) {
        out[i] = llvm::toUpper(out[i]);
      }
      isStart = name == "title" && !llvm::isAlpha(out[i]);
    }
    return name == "title" || name == "capitalize" || name == "swapcase"
               ? FailureOr<Value>(Value(out))
               : FailureOr<Value>(failure());
  }

  /// zfill, ljust, rjust, center.
  FailureOr<Value> placed(llvm::StringRef text) {
    bool places = name == "zfill" || name == "ljust" || name == "rjust" ||
                  name == "center";
    if (!places || !given(0) || !at(0).isInt() || at(0).integer() > 1000) {
      return failure();
    }
    Int pad = at(0).integer() - static_cast<Int>(text.size());
    if (pad <= 0) {
      return Value(text);
    }
    size_t count = static_cast<size_t>(pad);
    char fill =
        isString(1) && at(1).string().size() == 1 ? at(1).string()[0] : ' ';
    if (name == "zfill") {
      bool sign = text.starts_with("-") || text.starts_with("+");
      return Value(text.take_front(sign).str() + std::string(count, '0') +
                   text.drop_front(sign).str());
    }
    // CPython puts the odd blank of `center` to the left where the width is
    // odd.
    size_t width = count + text.size();
    size_t before = name == "ljust"   ? 0
                    : name == "rjust" ? count
                                      : count / 2 + (count & width & 1);
    return Value(std::string(before, fill) + text.str() +
                 std::string(count - before, fill));
  }

  /// Where a part is, and what stands before and after it.
  FailureOr<Value> divided(llvm::StringRef text) {
    if (name == "splitlines") {
      llvm::SmallVector<llvm::StringRef> lines;
      text.split(lines, '\n');
      if (!lines.empty() && lines.back().empty()) {
        lines.pop_back();
      }
      return Value::list(std::vector<Value>(lines.begin(), lines.end()));
    }
    if (!isString(0)) {
      return failure();
    }
    llvm::StringRef part(at(0).string());
    if (name == "removeprefix" || name == "removesuffix") {
      name == "removeprefix" ? text.consume_front(part)
                             : text.consume_back(part);
      return Value(text);
    }
    bool fromRight = name.starts_with("r");
    size_t hit = fromRight ? text.rfind(part) : text.find(part);
    if (name == "rfind" || name == "index" || name == "rindex") {
      if (hit == llvm::StringRef::npos && name != "rfind") {
        return diag.error("substring not found; expected a part of the text",
                          "find gives -1 where there is none");
      }
      return Value(hit == llvm::StringRef::npos ? -1
                                                : static_cast<int64_t>(hit));
    }
    if (name != "partition" && name != "rpartition") {
      return failure();
    }
    if (hit == llvm::StringRef::npos) {
      return fromRight ? Value::tuple({Value(""), Value(""), Value(text)})
                       : Value::tuple({Value(text), Value(""), Value("")});
    }
    return Value::tuple({Value(text.take_front(hit)), Value(part),
                         Value(text.drop_front(hit + part.size()))});
  }

private:
  FailureOr<Value> wrong(llvm::StringRef expected) {
    if (diag.hasError()) {
      return failure();
    }
    return diag.error("method '" + name.str() + "': expected " +
                      expected.str());
  }

  bool given(size_t i) const { return i < arguments.size(); }
  const Value &at(size_t i) const { return arguments[i].value; }
  bool isString(size_t i) const { return given(i) && at(i).isString(); }

  Evaluator &evaluator;
  Diagnostics &diag;
  llvm::StringRef name;
  llvm::ArrayRef<Argument> arguments;
};

} // namespace

FailureOr<Value> Evaluator::stringMethod(const std::string &text,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<Argument> arguments) {
  return StringMethodCall(*this, name, arguments).ofString(text);
}

} // namespace nereid::irgen
