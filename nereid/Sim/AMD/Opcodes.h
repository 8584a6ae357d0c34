//===- Opcodes.h - Which number is which instruction ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generation's table is text, a line an encoding: "number name name ...",
// where each further name has the next number. The numbers are those of the ISA
// documents (AMD's machine-readable ISA has the same). Instructions that Nereid
// does not simulate are left out: an unknown number is refused by the decoder.
//
// VOP1, VOP2 and VOPC have a second encoding, VOP3, at a fixed distance.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_OPCODES_H
#define NEREID_SIM_AMD_OPCODES_H

#include "nereid/Sim/AMD/Instruction.h"

#include <span>

namespace nereid::sim::amd {

struct EncodingText {
  Encoding encoding;
  std::string_view text;
};
std::span<const EncodingText> cdnaOpcodes();
std::span<const EncodingText> rdna3Opcodes();
std::span<const EncodingText> rdna4Opcodes();

class OpcodeTable {
public:
  /// A row "name@suffix" is in front of a row "name": some matrix instructions
  /// have other registers in a later generation.
  OpcodeTable(std::span<const EncodingText> texts, std::string_view suffix);
  /// Null for a number that is not in the table.
  const Opcode *find(Encoding encoding, unsigned number) const {
    const auto &of = rows[unsigned(encoding)];
    return number < of.size() && of[number].semantics ? &of[number] : nullptr;
  }

private:
  std::array<std::vector<Opcode>, unsigned(Encoding::Count)> rows;
};

/// Made once; thread-safe.
const OpcodeTable &opcodesOf(Generation generation);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_OPCODES_H
