//===- PtxText.cpp - Snippets of PTX, read ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/PtxText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace nereid::ptx {

std::optional<Type> parseType(StringRef name) {
  Type type;
  if (name == "pred") {
    return Type{'p', 1, 1};
  }
  type.lanes = name.consume_back("x2") ? 2 : name.consume_back("x4") ? 4 : 1;
  std::optional<Type> special = llvm::StringSwitch<std::optional<Type>>(name)
                                    .Case("bf16", Type{'h', 16, 1})
                                    .Case("tf32", Type{'t', 32, 1})
                                    .Case("e4m3", Type{'e', 8, 1})
                                    .Case("e5m2", Type{'E', 8, 1})
                                    .Case("e2m1", Type{'m', 4, 1})
                                    .Default(std::nullopt);
  if (special) {
    special->lanes = type.lanes;
    return special;
  }
  if (name.empty() || !StringRef("bsuf").contains(name[0]) ||
      name.drop_front().getAsInteger(10, type.bits)) {
    return std::nullopt;
  }
  type.kind = name[0];
  bool known =
      type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
  return known ? std::optional(type) : std::nullopt;
}

/// The text without comments.
static std::string withoutComments(StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text = end == StringRef::npos ? StringRef() : text.drop_front(end + 2);
      result += ' ';
      continue;
    }
    result += text[0];
    text = text.drop_front();
  }
  return result;
}

namespace {

class Reader {
public:
  Reader(StringRef rest, std::string &error) : rest(rest), error(error) {}

  std::optional<std::vector<Statement>> read() {
    std::vector<Statement> list;
    while (!(rest = rest.ltrim()).empty()) {
      Statement statement;
      if (rest.consume_front("{")) {
        statement.kind = Statement::Open;
      } else if (rest.consume_front("}")) {
        statement.kind = Statement::Close;
      } else if (rest.consume_front(";")) {
        continue;
      } else if (!readStatement(statement)) {
        return std::nullopt;
      }
      list.push_back(std::move(statement));
    }
    return list;
  }

private:
  bool fail(const llvm::Twine &message) {
    error = message.str();
    return false;
  }

  bool readStatement(Statement &statement) {
    size_t end = rest.find(';');
    StringRef text = rest.take_front(end).trim();
    if (end == StringRef::npos) {
      return fail("expected ';' after '" + text + "'");
    }
    rest = rest.drop_front(end + 1);
    statement.text = text.str();
    StringRef word =
        text.take_until([](char c) { return llvm::isSpace(c) || c == ':'; });
    if (text.drop_front(word.size()).ltrim().starts_with(":")) {
      return fail("the label '" + word + "' needs a branch");
    }
    if (text.starts_with(".")) {
      return readDeclaration(statement, text);
    }
    if (text.consume_front("@")) {
      statement.isGuardNegated = text.consume_front("!");
      statement.guard =
          text.take_until([](char c) { return llvm::isSpace(c); }).str();
      text = text.drop_front(statement.guard.size()).ltrim();
    }
    StringRef name = text.take_until([](char c) { return llvm::isSpace(c); });
    text = text.drop_front(name.size()).trim();
    llvm::SmallVector<StringRef> parts;
    name.split(parts, '.');
    statement.opcode = parts[0].str();
    for (StringRef part : llvm::drop_begin(parts)) {
      if (std::optional<Type> type = parseType(part)) {
        statement.types.push_back(*type);
      } else {
        statement.modifiers.push_back(part.str());
      }
    }
    return readOperands(text, statement.operands);
  }

  /// .reg .b32 a, b<2>
  bool readDeclaration(Statement &statement, StringRef text) {
    statement.kind = Statement::Declaration;
    if (!text.consume_front(".reg") ||
        !(text = text.ltrim()).consume_front(".")) {
      return fail("expected an instruction or a '.reg', got '" + text + "'");
    }
    StringRef name = text.take_until([](char c) { return llvm::isSpace(c); });
    std::optional<Type> type = parseType(name);
    if (!type) {
      return fail("no registers of type '." + name + "'");
    }
    statement.type = *type;
    llvm::SmallVector<StringRef> names;
    text.drop_front(name.size()).split(names, ',');
    for (StringRef one : names) {
      one = one.trim();
      auto [stem, count] = one.split('<');
      unsigned n = 0;
      if (stem.size() == one.size()) {
        statement.names.push_back(one.str());
      } else if (!count.consume_back(">") || count.getAsInteger(10, n) ||
                 n > 4096) {
        return fail("expected '<count>', got '" + one + "'");
      }
      for (unsigned i = 0; i < n; ++i) {
        statement.names.push_back((stem + llvm::Twine(i)).str());
      }
    }
    return true;
  }

  bool readOperands(StringRef text, std::vector<Operand> &operands) {
    while (!(text = text.ltrim()).empty()) {
      unsigned depth = 0;
      size_t end = 0;
      for (; end < text.size() && (depth || text[end] != ','); ++end) {
        depth += StringRef("{[").contains(text[end]);
        depth -= depth && StringRef("}]").contains(text[end]);
      }
      Operand operand;
      if (!readOperand(text.take_front(end).trim(), operand)) {
        return false;
      }
      operands.push_back(std::move(operand));
      text = text.drop_front(std::min(end + 1, text.size()));
    }
    return true;
  }

  bool readOperand(StringRef text, Operand &operand) {
    if (text.consume_front("{")) {
      operand.kind = Operand::Vector;
      if (!text.consume_back("}")) {
        return fail("expected '}'");
      }
      return readOperands(text, operand.parts);
    }
    if (text.starts_with("[")) {
      operand.kind = Operand::Address;
      operand.name = text.str();
      return true;
    }
    if (text.contains('|')) {
      operand.kind = Operand::Pair;
      auto [first, second] = text.split('|');
      operand.parts.resize(2);
      return readOperand(first.trim(), operand.parts[0]) &&
             readOperand(second.trim(), operand.parts[1]);
    }
    operand.isNegated = text.consume_front("!");
    text = text.ltrim();
    bool isMinus = text.size() > 1 && text[0] == '-';
    StringRef digits = isMinus ? text.drop_front() : text;
    if (!digits.empty() && (llvm::isDigit(digits[0]) || digits[0] == '.')) {
      return readNumber(digits, isMinus, operand);
    }
    if (text.empty()) {
      return fail("an operand is empty");
    }
    // LLVM's ${0} and ${0:x}.
    if (text.consume_front("${")) {
      operand.name = "$" + text.take_while(llvm::isDigit).str();
      return true;
    }
    operand.name = text.str();
    return true;
  }

  bool readNumber(StringRef text, bool isMinus, Operand &operand) {
    StringRef whole = text;
    auto hexDigits = [&](unsigned count) {
      return text.size() == count + 2 &&
             !text.drop_front(2).getAsInteger(16, operand.bits);
    };
    if ((text.starts_with_insensitive("0f") && hexDigits(8)) ||
        (text.starts_with_insensitive("0d") && hexDigits(16))) {
      operand.kind = Operand::Float;
      operand.isExact = text.size() == 10;
      if (!operand.isExact) {
        operand.number = llvm::bit_cast<double>(operand.bits);
      } else if (isMinus) {
        operand.bits ^= 0x80000000u;
      }
      operand.number = isMinus ? -operand.number : operand.number;
      return true;
    }
    if (!text.consume_back("U")) {
      text.consume_back("u");
    }
    if (!text.getAsInteger(0, operand.bits)) {
      operand.kind = Operand::Integer;
      operand.bits = isMinus ? -operand.bits : operand.bits;
      return true;
    }
    if (!whole.getAsDouble(operand.number)) {
      operand.kind = Operand::Float;
      operand.number = isMinus ? -operand.number : operand.number;
      return true;
    }
    return fail("expected a number, got '" + whole + "'");
  }

  StringRef rest;
  std::string &error;
};

} // namespace

std::optional<std::vector<Statement>> parseText(StringRef text,
                                                std::string &error) {
  std::string plain = withoutComments(text);
  return Reader(plain, error).read();
}

std::optional<std::vector<Constraint>> parseConstraints(StringRef text,
                                                        std::string &error) {
  std::vector<Constraint> list;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    StringRef letter = part.trim();
    if (letter.empty() || letter.starts_with("~")) {
      continue;
    }
    Constraint one;
    one.isOutput = letter.consume_front("=");
    letter.consume_front("&");
    unsigned tied;
    if (!one.isOutput && !letter.getAsInteger(10, tied) && tied < list.size() &&
        list[tied].isOutput) {
      one.tiedTo = tied;
      one.bits = list[tied].bits;
    } else {
      one.bits = llvm::StringSwitch<unsigned>(letter)
                     .Case("b", 1)
                     .Case("c", 8)
                     .Case("h", 16)
                     .Cases({"r", "f"}, 32)
                     .Cases({"l", "d"}, 64)
                     .Default(0);
    }
    if (!one.bits) {
      error = ("expected one of =r =l =f =d =h =c =b, the same without '=', or "
               "the number of an output, got '" +
               part.trim() + "'")
                  .str();
      return std::nullopt;
    }
    list.push_back(one);
  }
  return list;
}

} // namespace nereid::ptx
