//===- PtxParser.cpp - Reading PTX ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/PtxLexer.h"

#include <bit>
#include <cstring>
#include <optional>

namespace nereid::sim {

namespace {

/// What a name stands for, in one scope.
struct Symbol {
  enum class Kind { Register, Predicate, Variable } kind = Kind::Register;
  uint32_t index = 0; ///< of a register
  Space space = Space::Generic;
  uint64_t address = 0;
};

class Parser {
public:
  explicit Parser(Module &module) : module(module), lexer(module.text) {}

  void parse();

private:
  using Scope = std::map<std::string, Symbol, std::less<>>;

  void parseEntry();
  void parseParameters(Entry &entry);
  void parseBody(Entry &entry);
  void parseBlock(Entry &entry);
  void parseDirective(Entry *entry);
  void parseVariable(Space space, Entry *entry);
  void parseInitialValues(uint64_t at, uint32_t elementBytes, uint32_t count);
  void parseRegisters(Entry &entry);
  void parseStatement(Entry &entry);
  void parseLoc();
  void parseFile();
  Operand parseOperand(Entry &entry);
  Operand parseName(std::string_view name);
  Operand parseAddress(Entry &entry);
  Operand parseNumber();
  const Symbol *find(std::string_view name) const;
  const Symbol &variable(std::string_view name) const;
  void skipLine();
  void resolveBranches(Entry &entry);

  static uint32_t bytesOf(std::string_view type, uint32_t line);

  Module &module;
  Lexer lexer;
  std::vector<Scope> scopes = std::vector<Scope>(1);
  /// A label's scope: inline assembly has labels of its own.
  struct Label {
    std::string name;
    uint32_t scope, statement;
  };
  std::vector<Label> labels;
  std::vector<uint32_t> scopePath;          ///< numbers of the open scopes
  std::vector<std::vector<uint32_t>> paths; ///< of each branch, in order
  std::vector<uint32_t> branches;
  uint32_t scopeCount = 0;
  uint32_t file = 0, sourceLine = 0;
};

} // namespace

uint32_t Parser::bytesOf(std::string_view type, uint32_t line) {
  if (type == "pred") {
    return 1;
  }
  std::string_view digits = type;
  while (!digits.empty() && (digits[0] < '0' || digits[0] > '9')) {
    digits.remove_prefix(1);
  }
  uint32_t bits = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') {
      break; // f16x2
    }
    bits = bits * 10 + uint32_t(c - '0');
  }
  if (type.find("x2") != std::string_view::npos) {
    bits *= 2;
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    throw PtxError{line, "type ." + std::string(type) + " is not simulated"};
  }
  return bits / 8;
}

const Symbol *Parser::find(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->find(name); found != scope->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const Symbol &Parser::variable(std::string_view name) const {
  const Symbol *symbol = find(name);
  if (!symbol || symbol->kind != Symbol::Kind::Variable) {
    throw PtxError{lexer.line(), "no variable '" + std::string(name) + "'"};
  }
  return *symbol;
}

void Parser::skipLine() {
  uint32_t line = lexer.line();
  while (!lexer.atEnd() && lexer.line() == line) {
    lexer.take();
  }
}

void Parser::parse() {
  while (!lexer.atEnd()) {
    std::string_view word = lexer.peek();
    if (word == ".entry") {
      lexer.take();
      parseEntry();
    } else if (word == ".func") {
      // A declaration; the driver's vprintf is one.
      while (lexer.peek() != ";") {
        if (lexer.peek() == "{" || lexer.atEnd()) {
          throw PtxError{lexer.line(), "functions are not simulated"};
        }
        lexer.take();
      }
      lexer.take();
    } else if (word == ".visible" || word == ".extern" || word == ".weak") {
      lexer.take();
    } else {
      parseDirective(nullptr);
    }
  }
}

/// One that is not an instruction, in a body or outside.
void Parser::parseDirective(Entry *entry) {
  std::string_view word = lexer.take();
  if (word == ".version") {
    std::string_view number = lexer.take();
    for (char c : number) {
      if (c >= '0' && c <= '9') {
        module.version = module.version * 10 + unsigned(c - '0');
      }
    }
  } else if (word == ".target") {
    module.target = lexer.take();
    while (lexer.accept(",")) {
      lexer.take();
    }
  } else if (word == ".address_size") {
    lexer.take();
  } else if (word == ".file") {
    parseFile();
  } else if (word == ".loc") {
    parseLoc();
  } else if (word == ".pragma") {
    while (lexer.take() != ";") {
    }
  } else if (word == ".section") {
    while (lexer.take() != "}") {
    }
  } else if (word == ".reg" && entry) {
    parseRegisters(*entry);
  } else if (word == ".shared") {
    parseVariable(Space::Shared, entry);
  } else if (word == ".local") {
    parseVariable(Space::Local, entry);
  } else if (word == ".param") {
    parseVariable(Space::Local, entry); // of a call
  } else if (word == ".global" || word == ".const") {
    parseVariable(Space::Global, entry);
  } else {
    throw PtxError{lexer.line(),
                   "'" + std::string(word) + "' is not simulated"};
  }
}

void Parser::parseFile() {
  uint32_t number = uint32_t(lexer.number());
  std::string_view name = lexer.take();
  if (name.size() > 1 && name[0] == '"') {
    name = name.substr(1, name.size() - 2);
  }
  module.files[number] = name;
  while (lexer.accept(",")) {
    lexer.take();
  }
}

/// .loc file line column[, function_name ..., inlined_at ...]
void Parser::parseLoc() {
  uint32_t line = lexer.line();
  file = uint32_t(lexer.number());
  sourceLine = uint32_t(lexer.number());
  lexer.number();
  while (!lexer.atEnd() && lexer.line() == line) {
    lexer.take();
  }
}

void Parser::parseRegisters(Entry &entry) {
  std::string_view type = lexer.take().substr(1);
  bool isPredicate = type == "pred";
  auto bits = uint8_t(8 * bytesOf(type, lexer.line()));
  auto add = [&](std::string name) {
    Symbol symbol;
    symbol.kind =
        isPredicate ? Symbol::Kind::Predicate : Symbol::Kind::Register;
    symbol.index = isPredicate ? entry.predicateCount++
                               : uint32_t(entry.registerBits.size());
    if (!isPredicate) {
      entry.registerBits.push_back(bits);
    }
    scopes.back()[std::move(name)] = symbol;
  };
  do {
    std::string name(lexer.take());
    if (lexer.accept("<")) {
      uint64_t count = lexer.number();
      lexer.expect(">");
      if (count > maxRegisters) {
        throw PtxError{lexer.line(), "too many registers"};
      }
      for (uint64_t i = 0; i < count; ++i) {
        add(name + std::to_string(i));
      }
    } else {
      add(std::move(name));
    }
  } while (lexer.accept(","));
  lexer.expect(";");
}

/// [.align N] .type name[[count]][= {...}];
void Parser::parseVariable(Space space, Entry *entry) {
  uint32_t line = lexer.line();
  uint64_t align = 1;
  while (lexer.peek() == ".align" || lexer.peek() == ".ptr" ||
         lexer.peek() == ".shared" || lexer.peek() == ".global") {
    if (lexer.take() == ".align") {
      align = lexer.number();
    }
  }
  uint32_t bytes = bytesOf(lexer.take().substr(1), line);
  std::string name(lexer.take());
  uint64_t count = 1;
  if (lexer.accept("[")) {
    count = lexer.peek() == "]" ? 0 : lexer.number();
    lexer.expect("]");
  }
  align = std::max<uint64_t>(align, bytes);
  if (!std::has_single_bit(align) || count > (uint64_t{1} << 30)) {
    throw PtxError{line, "no variable can be so"};
  }
  auto place = [&](uint64_t end) { return (end + align - 1) & ~(align - 1); };
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = space;
  if (space == Space::Global) {
    uint64_t at = place(module.globals.size());
    module.globals.resize(at + bytes * count);
    symbol.address = globalsWindow + at;
    if (lexer.accept("=")) {
      parseInitialValues(at, bytes, uint32_t(count));
    }
  } else if (space == Space::Shared) {
    // What a launch asks for begins at 0, and everything else after it would
    // have to wait for the launch: kernels of this compiler have no other.
    if (count) {
      throw PtxError{line, "shared memory of a fixed size is not simulated"};
    }
  } else if (!entry) {
    throw PtxError{line, "a variable of threads outside of a kernel"};
  } else {
    uint64_t at = place(entry->localBytes);
    entry->localBytes = uint32_t(at + bytes * count);
    symbol.address = at;
  }
  scopes.back()[std::move(name)] = symbol;
  lexer.expect(";");
}

void Parser::parseInitialValues(uint64_t at, uint32_t elementBytes,
                                uint32_t count) {
  lexer.expect("{");
  for (uint32_t i = 0; !lexer.accept("}"); ++i) {
    uint64_t bits = parseNumber().bits;
    if (i < count) {
      std::memcpy(&module.globals[at + uint64_t(i) * elementBytes], &bits,
                  elementBytes);
    }
    lexer.accept(",");
  }
}

void Parser::parseParameters(Entry &entry) {
  lexer.expect("(");
  while (!lexer.accept(")")) {
    lexer.expect(".param");
    uint32_t line = lexer.line();
    uint64_t align = 1;
    uint32_t bytes = 0;
    for (std::string_view word = lexer.peek(); word.starts_with(".");
         word = lexer.peek()) {
      lexer.take();
      if (word == ".align") {
        uint64_t value = lexer.number();
        align = bytes ? align : value; // after .ptr: of what it points to
      } else if (word != ".ptr" && word != ".global" && word != ".shared" &&
                 word != ".const" && word != ".local") {
        bytes = bytesOf(word.substr(1), line);
      }
    }
    Parameter parameter;
    parameter.name = lexer.take();
    uint64_t count = 1;
    if (lexer.accept("[")) {
      count = lexer.number();
      lexer.expect("]");
    }
    align = std::max<uint64_t>(align, bytes);
    parameter.bytes = uint32_t(bytes * count);
    parameter.offset =
        uint32_t((entry.parameterBytes + align - 1) / align * align);
    entry.parameterBytes = parameter.offset + parameter.bytes;
    Symbol symbol;
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = Space::Param;
    symbol.address = parameter.offset;
    scopes.back()[parameter.name] = symbol;
    entry.parameters.push_back(std::move(parameter));
    lexer.accept(",");
  }
}

void Parser::parseEntry() {
  Entry entry;
  entry.name = lexer.take();
  scopes.emplace_back();
  labels.clear();
  branches.clear();
  paths.clear();
  file = sourceLine = 0;
  parseParameters(entry);
  while (lexer.peek() != "{") {
    std::string_view word = lexer.take();
    if (word == ".reqntid" || word == ".maxntid") {
      std::array<uint32_t, 3> threads = {1, 1, 1};
      unsigned i = 0;
      do {
        threads[i++] = uint32_t(lexer.number());
      } while (i < 3 && lexer.accept(","));
      entry.threads = word == ".reqntid" ? threads : entry.threads;
      entry.mostThreads = threads[0] * threads[1] * threads[2];
    } else if (word == ".minnctapersm") {
      entry.leastBlocks = uint32_t(lexer.number());
    } else if (word == ".maxnreg") {
      entry.mostRegisters = uint32_t(lexer.number());
    } else if (word == ".minnreg" || word == ".maxclusterrank") {
      lexer.number();
    } else if (word == ";" || lexer.atEnd()) {
      throw PtxError{lexer.line(), "a kernel without a body"};
    } else {
      throw PtxError{lexer.line(),
                     "'" + std::string(word) + "' is not simulated"};
    }
  }
  parseBlock(entry);
  resolveBranches(entry);
  scopes.pop_back();
  module.entries.push_back(std::move(entry));
}

void Parser::parseBlock(Entry &entry) {
  lexer.expect("{");
  scopes.emplace_back();
  scopePath.push_back(++scopeCount);
  while (!lexer.accept("}")) {
    if (lexer.atEnd()) {
      throw PtxError{lexer.line(), "'}' is missing"};
    }
    std::string_view word = lexer.peek();
    if (word == "{") {
      parseBlock(entry);
    } else if (word.starts_with(".")) {
      parseDirective(&entry);
    } else if (word != "@" && lexer.peekSecond() == ":") {
      labels.push_back({std::string(lexer.take()), scopePath.back(),
                        uint32_t(entry.statements.size())});
      lexer.take();
    } else if (!lexer.accept(";")) {
      parseStatement(entry);
    }
  }
  scopePath.pop_back();
  scopes.pop_back();
}

void Parser::parseStatement(Entry &entry) {
  Statement statement;
  statement.line = lexer.line();
  statement.file = file;
  statement.sourceLine = sourceLine;
  size_t begin = lexer.position();
  if (lexer.accept("@")) {
    statement.isGuarded = true;
    statement.isGuardNegated = lexer.accept("!");
    Operand guard = parseOperand(entry);
    if (guard.kind != Operand::Kind::Predicate) {
      throw PtxError{statement.line, "a guard is no predicate"};
    }
    statement.guard = guard.index;
  }
  std::string_view opcode = lexer.take();
  for (size_t at = 0; at <= opcode.size();) {
    size_t dot = opcode.find('.', at);
    dot = dot == std::string_view::npos ? opcode.size() : dot;
    statement.words.push_back(opcode.substr(at, dot - at));
    at = dot + 1;
  }
  if (statement.words[0] == "call") {
    // (result), name, (arguments): names of variables.
    for (std::string_view word = lexer.take(); word != ";";
         word = lexer.take()) {
      if (lexer.atEnd()) {
        throw PtxError{statement.line, "';' is missing"};
      }
      if (word != "(" && word != ")" && word != ",") {
        statement.operands.push_back(parseName(word));
      }
    }
  } else if (!lexer.accept(";")) {
    do {
      statement.operands.push_back(parseOperand(entry));
    } while (lexer.accept(","));
    lexer.expect(";");
  }
  if (statement.words[0] == "bra") {
    branches.push_back(uint32_t(entry.statements.size()));
    paths.push_back(scopePath);
  }
  statement.text = lexer.compact(begin);
  entry.statements.push_back(std::move(statement));
}

void Parser::resolveBranches(Entry &entry) {
  for (size_t i = 0; i < branches.size(); ++i) {
    Statement &branch = entry.statements[branches[i]];
    const std::string &name = branch.operands.back().name;
    const Label *best = nullptr;
    for (auto scope = paths[i].rbegin(); scope != paths[i].rend() && !best;
         ++scope) {
      for (const Label &label : labels) {
        if (label.scope == *scope && label.name == name) {
          best = &label;
        }
      }
    }
    if (!best) {
      throw PtxError{branch.line, "no label '" + name + "'"};
    }
    branch.target = best->statement;
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Operand Parser::parseNumber() {
  Operand operand;
  bool isNegative = lexer.accept("-");
  std::string_view word = lexer.take();
  if (word.size() == 10 && (word.starts_with("0f") || word.starts_with("0F"))) {
    operand.bits = lexer.hexadecimal(word.substr(2));
    operand.isReal = true;
  } else if (word.size() == 18 &&
             (word.starts_with("0d") || word.starts_with("0D"))) {
    operand.bits = lexer.hexadecimal(word.substr(2));
    operand.isReal = true;
  } else {
    operand.bits = lexer.integer(word);
    operand.bits = isNegative ? -operand.bits : operand.bits;
  }
  return operand;
}

Operand Parser::parseName(std::string_view name) {
  Operand operand;
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
    return operand;
  }
  if (const Symbol *symbol = find(name)) {
    switch (symbol->kind) {
    case Symbol::Kind::Register:
      operand.kind = Operand::Kind::Register;
      operand.index = symbol->index;
      return operand;
    case Symbol::Kind::Predicate:
      operand.kind = Operand::Kind::Predicate;
      operand.index = symbol->index;
      return operand;
    case Symbol::Kind::Variable:
      operand.kind = Operand::Kind::Address;
      operand.space = symbol->space;
      operand.bits = symbol->address;
      return operand;
    }
  }
  operand.kind =
      name.starts_with("%") ? Operand::Kind::Special : Operand::Kind::Name;
  operand.name = name;
  return operand;
}

Operand Parser::parseAddress(Entry &entry) {
  Operand operand;
  operand.kind = Operand::Kind::Address;
  std::string_view word = lexer.peek();
  if (word == "-" || (word[0] >= '0' && word[0] <= '9')) {
    operand.bits = parseNumber().bits;
  } else {
    Operand base = parseName(lexer.take());
    if (base.kind == Operand::Kind::Register) {
      operand.hasBase = true;
      operand.index = base.index;
    } else if (base.kind == Operand::Kind::Address) {
      operand = base;
    } else {
      throw PtxError{lexer.line(), "no variable '" + base.name + "'"};
    }
  }
  if (lexer.accept("+")) {
    operand.bits += parseNumber().bits;
  } else if (lexer.peek() == "-") {
    operand.bits += parseNumber().bits;
  }
  if (lexer.accept(",")) {
    operand.elements = parseOperand(entry).elements;
  }
  lexer.expect("]");
  return operand;
}

Operand Parser::parseOperand(Entry &entry) {
  Operand operand;
  if (lexer.accept("[")) {
    return parseAddress(entry);
  }
  if (lexer.accept("{")) {
    operand.kind = Operand::Kind::Vector;
    while (!lexer.accept("}")) {
      operand.elements.push_back(parseOperand(entry));
      lexer.accept(",");
    }
    return operand;
  }
  bool isNegated = lexer.accept("!");
  std::string_view word = lexer.peek();
  if (word.empty()) {
    throw PtxError{lexer.line(), "an operand is missing"};
  }
  if (word == "-" || (word[0] >= '0' && word[0] <= '9')) {
    return parseNumber();
  }
  operand = parseName(lexer.take());
  operand.isNegated = isNegated;
  if (lexer.accept("|")) {
    operand.second = std::make_shared<Operand>(parseName(lexer.take()));
  }
  return operand;
}

Expected<std::unique_ptr<Module>> parsePtx(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  try {
    Parser(*module).parse();
  } catch (const PtxError &error) {
    return {ErrorCode::CompileError,
            "line " + std::to_string(error.line) + ": " + error.message};
  }
  return module;
}

} // namespace nereid::sim
