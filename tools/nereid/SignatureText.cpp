//===- SignatureText.cpp - A kernel's signature, as typed -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SignatureText.h"

#include "ArgumentText.h"
#include "Commands.h"

#include "nereid/Support/EditDistance.h"

#include <cctype>
#include <regex>
#include <set>

namespace nereid {

/// "NAME=rest" when NAME is an identifier.
static std::optional<NamedText> splitNamed(const std::string &entry) {
  size_t equals = entry.find('=');
  if (equals == std::string::npos || equals == 0) {
    return std::nullopt;
  }
  for (char c : entry.substr(0, equals)) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != ' ') {
      return std::nullopt;
    }
  }
  return splitArgument(entry);
}

/// Is it an option? Then it is set.
static bool setOption(CompileOptions &options, const NamedText &entry) {
  uint32_t withoutEffect = 1;
  struct {
    const char *name;
    uint32_t &value;
    int64_t low, high;
  } table[] = {{"num_warps", options.numWarps, 1, 32},
               {"num_stages", options.numStages, 0, 64},
               {"num_ctas", options.numCtas, 1, 16},
               {"maxnreg", options.maxRegisters, 1, 255},
               {"minnreg", options.minRegisters, 1, 255},
               {"waves_per_eu", options.wavesPerUnit, 0, 16},
               {"matrix_instr_nonkdim", options.matrixSize, 0, 32},
               {"kpack", withoutEffect, 1, 2}};
  for (auto &[name, value, low, high] : table) {
    if (entry.name != name) {
      continue;
    }
    std::optional<StaticValue> given = parseValue(entry.value);
    auto *number = given ? std::get_if<int64_t>(&given->value) : nullptr;
    if (!number || *number < low || *number > high) {
      usageError("--signature: " + entry.name + " is '" + entry.value +
                 "'; expected an integer from " + std::to_string(low) + " to " +
                 std::to_string(high));
    }
    value = static_cast<uint32_t>(*number);
    return true;
  }
  return false;
}

static std::optional<size_t> parameterNamed(const KernelDescription &kernel,
                                            const std::string &name) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

static size_t findParameter(const KernelDescription &kernel,
                            const std::string &name) {
  if (std::optional<size_t> index = parameterNamed(kernel, name)) {
    return *index;
  }
  std::vector<std::string> names;
  for (const ParameterDescription &p : kernel.parameters) {
    names.push_back(p.name);
  }
  std::string list;
  for (const std::string &known : names) {
    list += (list.empty() ? "" : ", ") + known;
  }
  usageError("--signature: expected a parameter of " + kernel.name + " (" +
             (list.empty() ? "it has none" : list) + "), got '" + name + "'" +
             didYouMean(name, names));
}

static ArgumentSpec parseEntry(const ParameterDescription &parameter,
                               const std::string &entry) {
  auto fail = [&](const std::string &why) {
    usageError("--signature: '" + parameter.name + "': " + why);
  };
  if (parameter.isStatic) {
    std::optional<StaticValue> value = parseValue(entry);
    if (!value) {
      fail("expected a value, as the parameter is tl.constexpr, got '" + entry +
           "'");
    }
    return *value;
  }
  bool isPointer = entry.starts_with('*');
  size_t colon = entry.find(':');
  std::string type = entry.substr(isPointer, colon - isPointer);
  std::string hint = colon == std::string::npos ? "" : entry.substr(colon + 1);
  bool isConst = isPointer && type.starts_with('k') && !parseDType(type);
  std::optional<DType> dtype = parseDType(isConst ? type.substr(1) : type);
  if (!dtype) {
    if (!isPointer) {
      if (std::optional<StaticValue> value = parseValue(entry)) {
        return *value;
      }
    }
    fail("expected a type such as *fp32:16 or i32, or a value; got '" + entry +
         "'");
  }
  if (hint == "1" && !isPointer) {
    return StaticValue(1);
  }
  if (!hint.empty() && hint != "16") {
    fail("expected ':16' (divisible by 16) or ':1' (equal to 1), got ':" +
         hint + "'");
  }
  if (!hint.empty() && isFloat(*dtype) && !isPointer) {
    fail("expected a float type alone, got ':16'; only integers and pointers "
         "are divisible by 16");
  }
  return RuntimeArgument{*dtype, isPointer, isConst || parameter.isConst,
                         !hint.empty()};
}

/// Names that a text uses as addresses: the first argument of a load, a store,
/// an atomic or a descriptor, and what such names are computed from
/// ("ptrs = x + offsets").
static std::set<std::string> addressNames(const std::string &source) {
  static const std::regex use("\\b(?:load|store|atomic_\\w+|make_block_ptr|"
                              "make_tensor_descriptor)\\s*\\(\\s*(\\w+)");
  static const std::regex assignment("^[ \\t]*(\\w+)[ \\t]*=[ \\t]*\\(?(\\w+)"
                                     "[ \\t]*\\+",
                                     std::regex::multiline);
  std::set<std::string> names;
  constexpr size_t mostBytes = size_t{1} << 20; // an example is not worth more
  std::string text = source.substr(0, mostBytes);
  using Iterator = std::sregex_iterator;
  for (Iterator it(text.begin(), text.end(), use), end; it != end; ++it) {
    names.insert((*it)[1].str());
  }
  for (size_t before = 0; before != names.size();) {
    before = names.size();
    for (Iterator it(text.begin(), text.end(), assignment), end; it != end;
         ++it) {
      if (names.count((*it)[1].str())) {
        names.insert((*it)[2].str());
      }
    }
  }
  return names;
}

std::string exampleSignature(const KernelDescription &kernel,
                             const std::string &source) {
  std::set<std::string> addresses = addressNames(source);
  std::string text;
  for (const ParameterDescription &p : kernel.parameters) {
    if (p.defaultValue) {
      continue;
    }
    bool pointer =
        p.isPointer ||
        (!p.dtype && (p.name.ends_with("ptr") || addresses.count(p.name)));
    std::string type = p.dtype   ? std::string(shortName(*p.dtype))
                       : pointer ? "fp32"
                                 : "i32";
    text += (text.empty() ? "" : ", ") + p.name + "=" +
            (p.isStatic ? "1024" : (pointer ? "*" : "") + type);
  }
  return text;
}

std::pair<std::string, std::string> splitSignature(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\n");
  size_t open = text.find('('), end = text.find_last_not_of(" \t\n");
  if (open == std::string::npos || open == begin || text[end] != ')') {
    return {"", text};
  }
  std::string name = text.substr(begin, open - begin);
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return {"", text};
    }
  }
  return {name, text.substr(open + 1, end - open - 1)};
}

std::vector<ArgumentSpec> parseSignature(const std::string &text,
                                         const KernelDescription &kernel,
                                         const std::string &source,
                                         CompileOptions &options) {
  std::vector<std::optional<ArgumentSpec>> specs(kernel.parameters.size());
  size_t position = 0;
  bool named = false;
  std::vector<std::string> entries = splitList(text);
  if (entries.size() == 1 && entries[0].empty()) {
    entries.clear();
  }
  for (const std::string &entry : entries) {
    size_t index = position;
    std::string value = entry;
    if (std::optional<NamedText> pair = splitNamed(entry)) {
      if (!parameterNamed(kernel, pair->name) && setOption(options, *pair)) {
        named = true;
        continue;
      }
      index = findParameter(kernel, pair->name);
      value = pair->value;
      named = true;
    } else if (named) {
      usageError("--signature: expected NAME=VALUE after the first named "
                 "entry, got '" +
                 entry + "'");
    } else if (position >= specs.size()) {
      usageError("--signature: " + kernel.name + " has " +
                 std::to_string(specs.size()) +
                 " parameters, expected at most one entry for each, got " +
                 std::to_string(entries.size()));
    } else {
      ++position;
    }
    if (specs[index]) {
      usageError("--signature: expected one entry for '" +
                 kernel.parameters[index].name + "', got two");
    }
    specs[index] = parseEntry(kernel.parameters[index], value);
  }
  std::vector<ArgumentSpec> result;
  for (size_t i = 0; i < specs.size(); ++i) {
    const ParameterDescription &p = kernel.parameters[i];
    if (!specs[i] && !p.defaultValue) {
      Failure failure{ErrorCode::InvalidArgument,
                      "--signature: expected an entry for '" + p.name +
                          "', got none; for example: --signature '" +
                          exampleSignature(kernel, source) + "'",
                      kernel.unknown};
      raise(std::move(failure));
    }
    result.push_back(specs[i] ? *specs[i] : ArgumentSpec(*p.defaultValue));
  }
  return result;
}

} // namespace nereid
