//===- Instruction.h - A decoded instruction --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an instruction means is a row of a family's table (Semantics), found by
// its mnemonic and shared by the generations; which bits it has is a row of a
// generation's table (Opcodes.h). The types of a row say how many registers an
// operand has and what an inline constant or a literal is worth.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_INSTRUCTION_H
#define NEREID_SIM_AMD_INSTRUCTION_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::sim::amd {

/// gfx90a, gfx942 and gfx950; gfx11; gfx12.
enum class Generation : uint8_t { Cdna, Rdna3, Rdna4 };

enum class Encoding : uint8_t {
  SOP1,
  SOP2,
  SOPK,
  SOPC,
  SOPP,
  SMEM,
  VOP1,
  VOP2,
  VOPC,
  VOP3,
  VOP3P,
  VOPDX,
  VOPDY,
  DS,
  FLAT,
  GLOBAL,
  SCRATCH,
  MUBUF,
  Count
};

/// Of an operand. Mask: one bit a lane, in as many scalar registers as a wave
/// takes. PkF16, PkB16: two in a register; PkF32: two in two.
enum class Type : uint8_t {
  None,
  B16,
  I16,
  F16,
  B32,
  I32,
  F32,
  B64,
  I64,
  F64,
  Mask,
  PkB16,
  PkF16,
  PkF32,
  B96,
  B128,
  B256,
  B512,
  B1024
};

/// Bits of a value; of a mask 0, since a wave decides.
constexpr unsigned bitsOf(Type type) {
  constexpr unsigned bits[] = {0, 16, 16, 16, 32, 32,  32,  64,  64,  64,
                               0, 32, 32, 64, 96, 128, 256, 512, 1024};
  return bits[unsigned(type)];
}
constexpr bool isFloat(Type type) {
  return type == Type::F16 || type == Type::F32 || type == Type::F64 ||
         type == Type::PkF16 || type == Type::PkF32;
}
constexpr bool isHalf(Type type) {
  return type == Type::B16 || type == Type::I16 || type == Type::F16;
}
constexpr bool isPacked(Type type) {
  return type == Type::PkB16 || type == Type::PkF16 || type == Type::PkF32;
}

// Scalar registers with a purpose, in all generations (M0 and the null register
// have other numbers in RDNA's encodings; the decoder moves them).
inline constexpr uint16_t vccRegister = 106, m0Register = 124,
                          execRegister = 126, scalarRegisterCount = 128;
/// Accumulation registers follow the vector registers.
inline constexpr uint16_t firstAccumulator = 256, vectorRegisterCount = 512;

struct Operand {
  enum class Kind : uint8_t {
    None, ///< not there; as a result: thrown away
    Scalar,
    Vector,
    Constant,
    Scc,
    Vccz,
    Execz
  };
  Kind kind = Kind::None;
  Type type = Type::None;
  uint8_t words = 0;      ///< registers
  bool isHigh = false;    ///< the upper half of a register
  bool isLiteral = false; ///< a constant of its own word, for printing
  uint16_t index = 0;     ///< of the first register
  uint16_t code = 0;      ///< as encoded, for printing
  uint64_t value = 0;     ///< of a constant, in the operand's type
};

class Wave;
struct Instruction;
/// Throws Fault.
using Execute = void (*)(Wave &, const Instruction &);

using Lanes = std::array<uint64_t, 64>;
/// What a function of lanes gives: a value and a bit of each.
struct LaneResult {
  Lanes value;
  uint64_t mask;
};
using Map = void (*)(LaneResult &to, const Lanes *from, uint64_t active);

enum Flags : uint16_t {
  ReadsTo = 1 << 0,     ///< the result is the last source as well
  WritesExec = 1 << 1,  ///< besides, or instead of, its result (V_CMPX)
  Branches = 1 << 2,    ///< its immediate is a distance
  Trans = 1 << 3,       ///< of the unit for transcendental functions
  AllLanes = 1 << 4,    ///< whatever the exec mask says
  KeepsHigh = 1 << 5,   ///< CDNA: a half leaves the other half of its register
  ReadsVcc = 1 << 6,    ///< besides its sources
  LaneScalar = 1 << 7,  ///< its result is a scalar register (V_READLANE)
  MixedHalves = 1 << 8, ///< each source is f16 or f32 (V_FMA_MIX)
  Matrix = 1 << 9,
  Store = 1 << 10,  ///< of memory
  Atomic = 1 << 11, ///< of memory
  Return = 1 << 12, ///< an atomic with a result, whatever its bits say
  NoOperands = 1 << 13,
  TwoAddresses = 1 << 14, ///< of LDS: two offsets of one element each
  Wide64 = 1 << 15        ///< these are multiples of 64 elements
};

struct Semantics {
  /// Mnemonics of all generations, with spaces between.
  std::string_view names;
  Execute execute = nullptr;
  Map map = nullptr;
  Type to = Type::None, carry = Type::None;
  std::array<Type, 4> from = {};
  uint16_t flags = 0;
  unsigned detail = 0; ///< what the family's functions make of it
};

/// A row of a generation's table.
struct Opcode {
  std::string_view name;
  const Semantics *semantics = nullptr;
};

enum class Variant : uint8_t { Plain, E32, E64, Dpp, E64Dpp, Sdwa };

/// Which lane the first source comes from.
struct LaneMove {
  enum class Kind : uint8_t { None, Dpp16, Dpp8, Sdwa };
  Kind kind = Kind::None;
  uint16_t control = 0;                  ///< of 16
  uint32_t selects = 0;                  ///< of 8: 3 bits a lane
  uint8_t rowMask = 0xf, bankMask = 0xf; ///< rows and banks that are written
  bool boundZero = false;                ///< invalid lanes give 0
  bool fetchesInactive = false;
  // Parts of 32 bits, by the codes of the ISA: BYTE_0 ... DWORD.
  uint8_t toPart = 6, toUnused = 0, part[2] = {6, 6};
  bool extends[2] = {};
};

struct RegisterRange {
  bool isVector = false;
  uint16_t first = 0;
  uint16_t count = 0;
};

struct Instruction {
  Execute execute = nullptr;
  const Semantics *semantics = nullptr;
  std::string_view name;
  Encoding encoding = Encoding::SOPP;
  Variant variant = Variant::Plain;
  uint8_t bytes = 4;
  uint64_t address = 0; ///< as linked

  Operand to, carry;
  std::array<Operand, 4> from = {};
  unsigned fromCount = 0;
  uint8_t negate = 0, absolute = 0; ///< a bit a source
  uint8_t select = 0, selectHigh = 0, negateHigh = 0;
  uint8_t multiply = 0; ///< of the result: times 2, times 4, half
  bool clamps = false;
  LaneMove move;

  // Of memory.
  Operand vectorAddress, scalarAddress, resource, data[2];
  int64_t offset = 0;
  uint16_t offsets[2] = {};
  uint8_t cache = 0; ///< the bits of scope and policy, as encoded
  bool hasIndex = false, hasOffset = false;

  uint32_t immediate = 0;
  uint32_t target = ~0u; ///< of a branch: the instruction's number
  /// The second half of a VOPD.
  std::shared_ptr<const Instruction> second;

  std::vector<RegisterRange> reads, writes;
};

/// The row for a mnemonic; null where it is not simulated.
const Semantics *findSemantics(std::string_view name);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_INSTRUCTION_H
