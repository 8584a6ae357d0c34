//===- Ptx.h - PTX text as statements ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the simulator reads: the PTX that Nereid, LLVM or Triton writes. Names
// are resolved to numbers of registers and addresses; what an instruction means
// is the decoder's to know. Sections of the PTX ISA manual, version 9.0.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_PTX_H
#define NEREID_SIM_PTX_H

#include "nereid/ABI/Status.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::sim {

/// Where a variable lies.
enum class Space : uint8_t { Generic, Global, Shared, Local, Param };

struct Operand {
  enum class Kind : uint8_t {
    Register,
    Predicate,
    Number,  ///< bits, of an integer or a float
    Special, ///< %tid.x and the like, by name
    Address, ///< [base + number]; or a symbol's own address. After a comma
             ///< in the brackets: elements
    Vector,
    Name, ///< a label, a function
    Sink, ///< _
  };
  Kind kind = Kind::Number;
  bool isNegated = false;       ///< !%p
  bool isReal = false;          ///< 0f..., 0d..., 1.5: Number holds such bits
  Space space = Space::Generic; ///< of an Address without a register
  bool hasBase = false;         ///< an Address in a register
  uint32_t index = 0;           ///< of a Register, of an Address's base
  uint64_t bits = 0;            ///< of a Number, or what is added to a base
  std::string name;
  std::vector<Operand> elements;
  /// A pair "d|p": the predicate after the bar.
  std::shared_ptr<Operand> second;
};

struct Statement {
  /// "setp", "lt", "s32": what stands between the dots.
  std::vector<std::string_view> words;
  std::vector<Operand> operands;
  bool isGuarded = false, isGuardNegated = false;
  uint32_t guard = 0;
  uint32_t target = 0;               ///< of a branch: a statement
  uint32_t line = 0;                 ///< of the PTX
  uint32_t file = 0, sourceLine = 0; ///< of the kernel's source; 0 for none
  std::string text;                  ///< for messages, without white space
};

struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

struct Entry {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  /// Bits of each register; predicates are numbered apart.
  std::vector<uint8_t> registerBits;
  uint32_t predicateCount = 0;
  uint32_t localBytes = 0;  ///< of a thread
  uint32_t sharedBytes = 0; ///< of a block, besides what a launch asks for
  std::array<uint32_t, 3> threads = {0, 0, 0}; ///< .reqntid; 0 for any
  /// .maxntid or .reqntid, .minnctapersm, .maxnreg; 0 for none.
  uint32_t mostThreads = 0, leastBlocks = 0, mostRegisters = 0;
  std::vector<Statement> statements;
};

struct Module {
  std::string text;     ///< what the views point into
  unsigned version = 0; ///< 80 for 8.0
  std::string target;
  std::vector<Entry> entries;
  /// Variables of the module in .global and .const, initialised.
  std::vector<unsigned char> globals;
  std::map<uint32_t, std::string> files; ///< by number of .file
};

/// CompileError, its message "line N: ...", for text that is no PTX, and for
/// what the simulator does not read (functions, textures).
Expected<std::unique_ptr<Module>> parsePtx(std::string text);

/// Addresses of 64 bits name a space by their upper bits; global memory has
/// the host's addresses. Symbols of shared memory are numbers from 0 on in
/// their own space, and these in generic addresses.
inline constexpr uint64_t sharedWindow = uint64_t{1} << 56,
                          localWindow = uint64_t{1} << 57,
                          /// A module's globals, until it is loaded.
    globalsWindow = uint64_t{1} << 58,
                          /// Parameters of the kernel.
    paramWindow = uint64_t{1} << 59;

} // namespace nereid::sim

#endif // NEREID_SIM_PTX_H
