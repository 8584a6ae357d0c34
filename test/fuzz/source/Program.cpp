//===- Program.cpp - A kernel as a tree of statements ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/Program.h"

#include <unordered_map>

namespace nereid::fuzz::source {

namespace {

class Printer {
public:
  explicit Printer(const Program &program) : program(program) {}

  std::string run() {
    out = "import triton\nimport triton.language as tl\n";
    if (program.needsLibdevice) {
      out += "from triton.language.extra import libdevice\n";
    }
    for (const Function &function : program.functions) {
      print(function);
    }
    return std::move(out);
  }

private:
  const std::string &name(VariableId id) const {
    return program.variables[id.index].name;
  }

  std::string text(const Expr &expr) const {
    std::string result;
    for (const auto &piece : expr.pieces) {
      if (auto *verbatim = std::get_if<std::string>(&piece)) {
        result += *verbatim;
        continue;
      }
      auto id = std::get<VariableId>(piece);
      auto found = inlined.find(id.index);
      result +=
          found == inlined.end() ? name(id) : "(" + text(*found->second) + ")";
    }
    return result;
  }

  void print(const Function &function) {
    out += "\n\n@triton.jit\ndef " + function.name;
    if (!function.verbatim.empty()) {
      out += function.verbatim + "\n";
      return;
    }
    out += "(";
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const Function::Parameter &parameter = function.parameters[i];
      out += (i ? ", " : "") + name(parameter.variable);
      if (!parameter.annotation.empty()) {
        out += ": " + parameter.annotation;
      }
      if (!parameter.defaultValue.empty()) {
        out += (parameter.annotation.empty() ? "=" : " = ") +
               parameter.defaultValue;
      }
    }
    out += "):\n";
    print(function.body, 1);
  }

  std::string targets(const Stmt &stmt) const {
    std::string result;
    for (size_t i = 0; i < stmt.targets.size(); ++i) {
      result += (i ? ", " : "") + name(stmt.targets[i]);
    }
    return result;
  }

  void print(const std::vector<Stmt> &block, int indent) {
    size_t before = out.size();
    for (const Stmt &stmt : block) {
      print(stmt, indent);
    }
    if (out.size() == before) {
      line(indent, "pass");
    }
  }

  void line(int indent, const std::string &content) {
    out += std::string(static_cast<size_t>(indent) * 4, ' ') + content + "\n";
  }

  void print(const Stmt &stmt, int indent) {
    switch (stmt.kind) {
    case Stmt::Kind::Assign:
      if (stmt.isInline) {
        inlined[stmt.targets[0].index] = &stmt.head;
        return;
      }
      line(indent, targets(stmt) +
                       (stmt.annotation.empty() ? "" : ": " + stmt.annotation) +
                       " " + stmt.augmented + "= " + text(stmt.head));
      return;
    case Stmt::Kind::Effect:
      line(indent, text(stmt.head));
      return;
    case Stmt::Kind::If:
      line(indent, "if " + text(stmt.head) + ":");
      print(stmt.body, indent + 1);
      if (!stmt.orelse.empty()) {
        line(indent, "else:");
        print(stmt.orelse, indent + 1);
      }
      return;
    case Stmt::Kind::For:
      line(indent, "for " + targets(stmt) + " in " + text(stmt.head) + ":");
      print(stmt.body, indent + 1);
      return;
    case Stmt::Kind::While:
      line(indent, "while " + text(stmt.head) + ":");
      print(stmt.body, indent + 1);
      return;
    case Stmt::Kind::Return:
      line(indent,
           stmt.head.pieces.empty() ? "return" : "return " + text(stmt.head));
      return;
    }
  }

  const Program &program;
  std::string out;
  /// What stands for the variables that are not assigned.
  std::unordered_map<unsigned, const Expr *> inlined;
};

} // namespace

std::string print(const Program &program) { return Printer(program).run(); }

} // namespace nereid::fuzz::source
