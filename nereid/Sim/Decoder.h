//===- Decoder.h - From statements to instructions --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each family of instructions has a file with its functions and a table from
// first words to decoders: `addIntegerOps` and so on. A decoder gets the
// statement, and fills in an instruction; what it does not know it refuses.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_DECODER_H
#define NEREID_SIM_DECODER_H

#include "nereid/Sim/Program.h"
#include "nereid/Sim/PtxLexer.h"

#include <functional>
#include <unordered_map>

namespace nereid::sim {

class Decoder {
public:
  Decoder(Program &program, const Entry &entry, uint64_t globals)
      : program(program), entry(entry), globals(globals) {}

  void run();

  /// The statement that is decoded, and what comes of it.
  const Statement *statement = nullptr;
  Instruction *made = nullptr;

  std::string_view word(size_t i) const {
    return i < statement->words.size() ? statement->words[i]
                                       : std::string_view();
  }
  std::string_view lastWord() const { return statement->words.back(); }
  bool has(std::string_view wanted) const;
  size_t operandCount() const { return statement->operands.size(); }
  const Operand &operand(size_t i) const;
  [[noreturn]] void refuse(const std::string &why = "") const;

  /// The file's vector of a source, constants and special registers included.
  uint32_t source(const Operand &operand);
  uint32_t source(size_t i) { return source(operand(i)); }
  /// The vector that an operand writes; noIndex for `_`.
  uint32_t result(const Operand &operand);
  uint32_t result(size_t i) { return result(operand(i)); }
  /// Its elements, or itself.
  static std::vector<const Operand *> elements(const Operand &operand);
  uint32_t constant(uint64_t bits);
  unsigned bitsOf(const Operand &operand) const;

  /// made->from and ->to: first operand written, the rest read.
  void plain(Execute execute);
  void plain(Execute execute, size_t sources);
  /// made->predicates of a written `p` or `p|q`.
  void writtenPredicates(const Operand &operand);
  uint32_t predicate(const Operand &operand) const;
  /// The address of operand `i`: a vector in made->from, and made->offset.
  void address(size_t i);

private:
  uint32_t special(const std::string &name);

  Program &program;
  const Entry &entry;
  uint64_t globals;
  std::unordered_map<uint64_t, uint32_t> constantIndex;
  std::unordered_map<int, uint32_t> specialIndex;
  /// Sources that lie after the registers, while their number is not known.
  static constexpr uint32_t constantBase = 1u << 30, specialBase = 1u << 31;
  void place(uint32_t &index) const;
};

using Decode = void (*)(Decoder &);
using DecodeTable = std::unordered_map<std::string_view, Decode>;

/// Instructions that map numbers of a lane to one number, by their whole
/// opcode without `rn`, `approx`, `full` and `noftz`, which change no result
/// here: "add.s32", "fma.ftz.f32".
using MapTable = std::unordered_map<std::string_view, Execute>;

void addIntegerOps(MapTable &table);
void addBitOps(MapTable &table);
void addFloatOps(MapTable &table);
void addHalfOps(MapTable &table);
/// and, or, xor, not, mov with the type `pred`; false for another type.
bool decodePredicateLogic(Decoder &d);
void addCompareOps(DecodeTable &table);
void addConvertOps(DecodeTable &table);
void addMoveOps(DecodeTable &table);
void addMemoryOps(DecodeTable &table);
void addAtomicOps(DecodeTable &table);
void addAsyncOps(DecodeTable &table);
void addControlOps(DecodeTable &table);
void addWarpOps(DecodeTable &table);
void addMatrixOps(DecodeTable &table);
void addWarpgroupOps(DecodeTable &table);
void addMbarrierOps(DecodeTable &table);
void addRegisterOps(DecodeTable &table);

} // namespace nereid::sim

#endif // NEREID_SIM_DECODER_H
