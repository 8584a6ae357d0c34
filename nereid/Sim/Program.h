//===- Program.h - A kernel as functions on warps ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp has a file of lane vectors: the kernel's registers, after them its
// constants, after those what special registers hold. An instruction is a
// function with the numbers of the vectors that it reads and writes, so that
// nothing is looked up by name, and no operand asks what kind it is, while the
// kernel runs.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_PROGRAM_H
#define NEREID_SIM_PROGRAM_H

#include "nereid/Sim/Ptx.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nereid::sim {

inline constexpr unsigned lanes = 32;
inline constexpr uint32_t allLanes = ~0u;

/// One register of 32 threads; 16 and 32 bits are extended with zeros.
using LaneVector = std::array<uint64_t, lanes>;

struct MemoryRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= begin && address < end && bytes <= end - address;
  }
};

class Warp;
struct Instruction;
using Execute = void (*)(Warp &, const Instruction &);

/// How an instruction takes part in the flow of a warp.
enum class Flow : uint8_t {
  Next,     ///< goes on after it
  Branch,   ///< the guard's lanes go to `target`
  Exit,     ///< the guard's lanes end
  Together, ///< runs when all lanes that it names are there
  Barrier,  ///< the same, and waits for other warps
  Suspend,  ///< may have to run again when others have got on
};

struct Instruction {
  Execute execute = nullptr;
  Flow flow = Flow::Next;
  bool isGuarded = false, isGuardNegated = false;
  uint32_t guard = 0;
  uint32_t target = 0;
  /// Vectors of the file that it writes, and reads, and what kinds of
  /// instructions have besides. `members`: the source that holds a mask of
  /// lanes (Together), or noIndex for all.
  std::vector<uint32_t> to, from;
  std::vector<uint32_t>
      predicates; ///< those read or written, as `execute` says
  uint32_t members = 0;
  int64_t offset = 0; ///< added to an address
  uint64_t detail[4] = {};
};

inline constexpr uint32_t noIndex = ~0u;

/// Threads of a block, in the order in which special registers hold them.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  Clock,
  Clock64,
  GlobalTimer,
  LaneMaskEq,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskGt,
  LaneMaskGe,
  DynamicSharedBytes,
  TotalSharedBytes,
  Count
};

struct Program {
  std::string name, target;
  std::vector<Instruction> instructions;
  std::vector<Statement> statements; ///< of the same numbers, for messages
  std::map<uint32_t, std::string> files;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0, localBytes = 0;
  std::array<uint32_t, 3> threads = {};
  /// The registers of a thread at its start; 0 where only the assembler knows.
  uint32_t startRegisters = 0;

  std::vector<uint8_t> registerBits;
  uint32_t predicateCount = 0;
  std::vector<uint64_t> constants; ///< after the registers
  /// After the constants: what this kernel reads of special registers.
  std::vector<Special> specials;
  uint32_t firstConstant() const { return uint32_t(registerBits.size()); }
  uint32_t firstSpecial() const {
    return firstConstant() + uint32_t(constants.size());
  }
  uint32_t fileSize() const {
    return firstSpecial() + uint32_t(specials.size());
  }

  /// "k.py:12 (PTX line 40): ld.global.b32 %r1, [%rd2]".
  std::string describe(uint32_t instruction) const;
};

/// `globals` is where the module's variables lie. CompileError, "line N: ...",
/// names what is not simulated.
Expected<std::unique_ptr<const Program>>
decode(const Module &module, const Entry &entry, uint64_t globals);

} // namespace nereid::sim

#endif // NEREID_SIM_PROGRAM_H
