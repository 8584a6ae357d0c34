//===- Program.h - A kernel as a tree of statements -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generated kernel before it is text: statements whose expressions are text
// with variables in it. That is as much structure as the shrinker needs: what
// a statement defines, its type, from what.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_PROGRAM_H
#define NEREID_TEST_FUZZ_SOURCE_PROGRAM_H

#include "test/fuzz/source/Types.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nereid::fuzz::source {

/// Index into Program::variables.
struct VariableId {
  unsigned index = 0;
  bool operator==(const VariableId &) const = default;
};

/// Text with variables in it.
struct Expr {
  std::vector<std::variant<std::string, VariableId>> pieces;

  Expr() = default;
  Expr(const char *text) : pieces{std::string(text)} {}
  Expr(std::string text) : pieces{std::move(text)} {}
  Expr(VariableId variable) : pieces{variable} {}

  Expr &operator+=(const Expr &other) {
    pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
    return *this;
  }
};

inline Expr piece(int64_t number) { return std::to_string(number); }
inline Expr piece(int number) { return std::to_string(number); }
inline Expr piece(Expr expr) { return expr; }

/// The parts one after the other: numbers, texts, variables, expressions.
template <typename... Parts>
Expr join(const Parts &...parts) {
  Expr result;
  ((result += piece(parts)), ...);
  return result;
}

struct Variable {
  std::string name;
  /// Unset for what has no zero to stand in for it: pointers, tuples.
  std::optional<Type> type;
  /// Assigned more than once: its value depends on the place.
  bool isMutable = false;
};

struct Stmt {
  enum class Kind {
    Assign, ///< targets = head
    Effect, ///< head
    If,     ///< if head: body else: orelse
    For,    ///< for targets in head: body
    While,  ///< while head: body
    Return, ///< return head
  };
  Kind kind = Kind::Effect;
  std::vector<VariableId> targets = {};
  std::string annotation = {}; ///< of an Assign: "tl.constexpr"
  std::string augmented = {};  ///< of an Assign: "+" for +=
  bool isInline = false;       ///< printed at its uses only
  std::string first = {};      ///< of a For: the first index
  Expr head = {};
  std::vector<Stmt> body = {}, orelse = {};
};

struct Function {
  struct Parameter {
    VariableId variable;
    std::string annotation, defaultValue;
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Stmt> body;
  /// In place of both: parameters and body as text.
  std::string verbatim;
};

/// What a parameter of the kernel is given.
struct Argument {
  enum class Kind { Array, Integer, Float, Static };
  Kind kind = Kind::Array;
  VariableId variable;
  DType element = DType::Float32; ///< of an array, a number
  // Arrays: see Launch.h.
  int64_t count = 0;
  std::string fill;
  int64_t stream = 0; ///< of random numbers
  bool isOutput = false, isAligned = false;
  // Numbers and constants.
  int64_t integer = 0;
  double number = 0;
};

struct Program {
  std::vector<Variable> variables;
  std::vector<Function> functions; ///< helpers first, the kernel last
  std::vector<Argument> arguments; ///< one for each parameter of the kernel
  int32_t grid[3] = {1, 1, 1};
  uint64_t seed = 0;
  bool needsLibdevice = false;

  Function &kernel() { return functions.back(); }
  const Function &kernel() const { return functions.back(); }
};

/// The name of the kernel.
inline constexpr const char *kernelName = "kernel";

/// The file: imports, helpers, kernel.
std::string print(const Program &program);

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_PROGRAM_H
