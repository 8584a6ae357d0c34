//===- PtxText.h - Snippets of PTX, read ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of tl.inline_asm_elementwise as statements: straight-line PTX with
// LLVM's `$0` for the registers of the constraints.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTEXT_H
#define NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTEXT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::ptx {

/// What an instruction reads or writes.
struct Operand {
  enum Kind {
    Register, ///< `name`: "$0", "%globaltimer", "tmp"
    Integer,  ///< `bits`
    Float,    ///< `number`, or with `isExact` the f32 of `bits`
    Vector,   ///< {a, b}: `parts`, lowest first
    Pair,     ///< p|q: `parts`
    Address,  ///< [a+4]: `name`
  };
  Kind kind = Register;
  std::string name;
  bool isNegated = false; ///< !p
  bool isExact = false;
  uint64_t bits = 0;
  double number = 0;
  std::vector<Operand> parts;
};

/// f16x2, u32, pred, ...
struct Type {
  /// 'b', 'u', 's'; 'f' and 'h' (bf16), 'e' (e4m3), 'E' (e5m2), 'm' (e2m1),
  /// 't' (tf32); 'p' for pred.
  char kind = 'b';
  unsigned bits = 32; ///< of one lane
  unsigned lanes = 1;

  bool isFloat() const {
    return kind != 'b' && kind != 'u' && kind != 's' && kind != 'p';
  }
  bool isSigned() const { return kind == 's'; }
  unsigned width() const { return bits * lanes; }
};

std::optional<Type> parseType(llvm::StringRef name);

struct Statement {
  enum Kind { Open, Close, Declaration, Instruction };
  Kind kind = Instruction;
  std::string text; ///< as written, for messages
  // Declaration
  Type type;
  std::vector<std::string> names;
  // Instruction: "cvt.rn.f32.s32" is opcode "cvt", modifiers {"rn"}, types
  // {f32, s32}.
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<Type> types;
  std::vector<Operand> operands;
  std::string guard; ///< @p: the predicate's name; empty: none
  bool isGuardNegated = false;

  bool has(llvm::StringRef modifier) const {
    for (const std::string &own : modifiers) {
      if (modifier == own) {
        return true;
      }
    }
    return false;
  }
};

/// The statements of `text`; null and `error` where it is not straight-line
/// PTX.
std::optional<std::vector<Statement>> parseText(llvm::StringRef text,
                                                std::string &error);

/// One register of a constraint string: "=r", "l", "0".
struct Constraint {
  bool isOutput = false;
  unsigned bits = 0;              ///< of the register
  std::optional<unsigned> tiedTo; ///< an input in the register of this output
};

/// In order; clobbers are left out. Null and `error` for what is no register.
std::optional<std::vector<Constraint>> parseConstraints(llvm::StringRef text,
                                                        std::string &error);

} // namespace nereid::ptx

#endif // NEREID_CONVERSION_ASSEMBLYTOTILE_PTXTEXT_H
