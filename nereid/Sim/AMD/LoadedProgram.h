//===- LoadedProgram.h - A code object, decoded -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_LOADEDPROGRAM_H
#define NEREID_SIM_AMD_LOADEDPROGRAM_H

#include "nereid/Sim/AMD/Instruction.h"
#include "nereid/Sim/AMD/Simulator.h"

#include <unordered_map>

namespace nereid::sim::amd {

class Program {
public:
  Generation generation = Generation::Cdna;
  std::string target;
  std::vector<Kernel> kernels;
  /// What the ELF file's segments become, from address 0 on: programs reach
  /// their constants from the program counter.
  std::vector<unsigned char> image;
  uint64_t textBegin = 0, textEnd = 0; ///< in the image
  std::vector<Instruction> instructions;
  std::unordered_map<uint64_t, uint32_t> byAddress; ///< as linked

  uint64_t base() const { return reinterpret_cast<uint64_t>(image.data()); }
  /// "0x1604: s_load_b32 s12, s[0:1], 0x18"
  std::string describe(uint32_t instruction) const;
};
using LoadedProgram = Program;

/// The segments, kernels and their descriptors; no instruction yet.
Expected<std::shared_ptr<Program>> readCodeObject(std::span<const uint8_t> of);
/// All instructions of the text section.
Status decodeText(Program &program);

/// The instruction at the front of `words`, or empty.
std::optional<Instruction> decodeOne(Generation generation, unsigned lanes,
                                     std::span<const uint32_t> words);
/// As LLVM's disassembler prints it, without what follows a branch's distance.
std::string textOf(const Instruction &instruction, Generation generation);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_LOADEDPROGRAM_H
