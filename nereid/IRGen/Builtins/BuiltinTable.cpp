//===- BuiltinTable.cpp - Rows, their signatures, look-up ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the signatures of the rows. They are ours, not the user's: a malformed
// one ends the program with its text (BuiltinTableTest makes the table).
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

namespace nereid::irgen {

namespace {

class SignatureReader {
public:
  explicit SignatureReader(Builtin &row) : row(row), rest(row.signature) {}

  void read() {
    row.name = rest.take_until([](char c) { return c == '('; }).str();
    rest = rest.drop_front(row.name.size());
    if (rest.empty()) {
      if (row.library.empty()) {
        fail("parameters are missing");
      }
      return;
    }
    if (!rest.consume_front("(") || !rest.consume_back(")")) {
      fail("expected name(...)");
    }
    while (!(rest = rest.ltrim()).empty()) {
      readParameter();
      rest = rest.ltrim();
      if (!rest.empty() && !rest.consume_front(",")) {
        fail("expected ','");
      }
    }
  }

private:
  [[noreturn]] void fail(llvm::StringRef why) {
    llvm::report_fatal_error(llvm::Twine("built-ins table: ") + why + " in '" +
                             llvm::StringRef(row.signature) + "'");
  }

  void readParameter() {
    bool takesKeywords = rest.consume_front("**");
    bool isStar = !takesKeywords && rest.consume_front("*");
    llvm::StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size()).ltrim();
    if (name.empty()) {
      if (!isStar) {
        fail("expected a parameter");
      }
      keywordOnly = true;
      return;
    }
    BuiltinParameter parameter;
    parameter.name = name.str();
    parameter.isVariadic = isStar;
    parameter.takesKeywords = takesKeywords;
    parameter.keywordOnly = keywordOnly || takesKeywords;
    if (rest.consume_front(":")) {
      parameter.kind = readKind();
    }
    if (rest.consume_front("=")) {
      parameter.hasDefault = true;
      parameter.defaultValue = readLiteral();
    }
    keywordOnly |= isStar;
    row.parameters.push_back(std::move(parameter));
  }

  ParameterKind readKind() {
    rest = rest.ltrim();
    llvm::StringRef word = rest.take_while(llvm::isAlpha);
    rest = rest.drop_front(word.size()).ltrim();
    auto kind = llvm::StringSwitch<std::optional<ParameterKind>>(word)
                    .Case("tensor", ParameterKind::Tensor)
                    .Case("int", ParameterKind::Int)
                    .Case("float", ParameterKind::Float)
                    .Case("bool", ParameterKind::Bool)
                    .Case("str", ParameterKind::String)
                    .Case("ints", ParameterKind::Ints)
                    .Case("dtype", ParameterKind::DType)
                    .Case("static", ParameterKind::Static)
                    .Case("function", ParameterKind::Function)
                    .Default(std::nullopt);
    if (!kind) {
      fail("unknown annotation");
    }
    return *kind;
  }

  Value readLiteral() {
    rest = rest.ltrim();
    if (rest.consume_front("'")) {
      llvm::StringRef text = rest.take_until([](char c) { return c == '\''; });
      rest = rest.drop_front(text.size() + 1);
      return Value(text);
    }
    if (rest.consume_front("()")) {
      return Value::tuple({});
    }
    llvm::StringRef word = rest.take_until(
        [](char c) { return c == ',' || c == ')' || c == ' '; });
    rest = rest.drop_front(word.size());
    if (word == "None") {
      return Value();
    }
    if (word == "True" || word == "False") {
      return Value(word == "True");
    }
    int64_t integer;
    if (!word.getAsInteger(10, integer)) {
      return Value(integer);
    }
    double number;
    if (!word.getAsDouble(number)) {
      return Value(number);
    }
    fail("unknown default");
  }

  Builtin &row;
  llvm::StringRef rest;
  bool keywordOnly = false;
};

/// The modules of a row, one by one.
template <typename Visit>
void forEachModule(const Builtin &row, Visit visit) {
  llvm::SmallVector<llvm::StringRef, 4> modules;
  llvm::StringRef(row.module).split(modules, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef module : modules) {
    visit(module);
  }
}

std::string key(llvm::StringRef module, llvm::StringRef name) {
  return (module + "." + name).str();
}

} // namespace

std::string displayName(const Builtin &builtin) {
  llvm::StringRef name = builtin.name;
  if ((builtin.flags & Internal) && !name.consume_front("_apply_")) {
    name.consume_front("_");
  }
  return name.str();
}

std::string CallContext::name() const {
  llvm::StringRef home = llvm::StringRef(builtin.module).split(' ').first;
  return home == "python" ? displayName(builtin)
                          : key(home, displayName(builtin));
}

const BuiltinParameter *find(const Builtin &builtin, llvm::StringRef name) {
  for (const BuiltinParameter &parameter : builtin.parameters) {
    if (parameter.name == name) {
      return &parameter;
    }
  }
  return nullptr;
}

const BoundArguments::Item &BoundArguments::item(llvm::StringRef name) const {
  const BuiltinParameter *parameter = irgen::find(builtin, name);
  assert(parameter && "the emitter names a parameter that its row lacks");
  return items[parameter - builtin.parameters.data()];
}

llvm::SmallVector<int64_t> BoundArguments::ints(llvm::StringRef name) const {
  llvm::SmallVector<int64_t> result;
  for (const Value &value : (*this)[name].items()) {
    result.push_back(static_cast<int64_t>(value.integer()));
  }
  return result;
}

BuiltinTable::BuiltinTable() {
  registerProgramBuiltins(*this);
  registerShapeBuiltins(*this);
  registerMemoryBuiltins(*this);
  registerMathBuiltins(*this);
  registerReduceBuiltins(*this);
  registerLibdeviceBuiltins(*this);
  registerLibraryBuiltins(*this);
  registerHostBuiltins(*this);
}

const BuiltinTable &BuiltinTable::get() {
  static const BuiltinTable instance;
  return instance;
}

void BuiltinTable::add(Builtin row) {
  SignatureReader(row).read();
  table.push_back(std::make_unique<Builtin>(std::move(row)));
  const Builtin *added = table.back().get();
  forEachModule(*added, [&](llvm::StringRef module) {
    if (!byName.try_emplace(key(module, added->name), added).second) {
      llvm::report_fatal_error(llvm::Twine("built-ins table: two rows for ") +
                               key(module, added->name));
    }
  });
}

const Builtin *BuiltinTable::find(llvm::StringRef module,
                                  llvm::StringRef name) const {
  const Builtin *row = byName.lookup(key(module, name));
  return row && !(row->flags & MemberOnly) ? row : nullptr;
}

const Builtin *BuiltinTable::findMember(llvm::StringRef module,
                                        llvm::StringRef name) const {
  const Builtin *row = byName.lookup(key(module, name));
  return row && (row->flags & (Member | MemberOnly)) ? row : nullptr;
}

std::vector<std::string> BuiltinTable::names(llvm::StringRef module,
                                             bool membersOnly) const {
  std::vector<std::string> result;
  for (const auto &row : table) {
    bool isCandidate = membersOnly ? row->flags & (Member | MemberOnly)
                                   : !(row->flags & MemberOnly);
    if (!isCandidate || (row->flags & Internal)) {
      continue;
    }
    forEachModule(*row, [&](llvm::StringRef home) {
      if (home == module) {
        result.push_back(row->name);
      }
    });
  }
  return result;
}

std::vector<BuiltinListing> listBuiltins() {
  std::vector<BuiltinListing> result;
  for (const auto &row : BuiltinTable::get().rows()) {
    if (!(row->flags & Internal)) {
      result.push_back({std::string(row->module), row->name,
                        std::string(row->signature), std::string(row->summary),
                        (row->flags & (Member | MemberOnly)) != 0});
    }
  }
  return result;
}

} // namespace nereid::irgen
