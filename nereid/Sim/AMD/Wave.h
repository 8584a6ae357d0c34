//===- Wave.h - 32 or 64 lanes with one program counter ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_WAVE_H
#define NEREID_SIM_AMD_WAVE_H

#include "nereid/Sim/AMD/Hazards.h"
#include "nereid/Sim/AMD/LaneRegions.h"
#include "nereid/Sim/AMD/LoadedProgram.h"
#include "nereid/Sim/AMD/WaitCounters.h"
#include "nereid/Sim/Warp.h"

namespace nereid::sim::amd {

class Workgroup;

/// A float's bits after a mode of the wave: nothing but 32-bit denormals is
/// ever flushed, where an instruction cannot have them.
inline uint32_t flushDenormal(uint32_t bits) {
  return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

class Wave {
public:
  Wave(Workgroup &group, unsigned index);
  /// For the workgroup that is now.
  void begin();
  /// Executes until it ends, waits for others or has run so many.
  /// False: it could not get on. Throws Fault.
  bool run(unsigned most);

  //===--------------------------------------------------------------------===//
  // Registers
  //===--------------------------------------------------------------------===//

  uint64_t exec() const { return scalarMask(execRegister); }
  void setExec(uint64_t mask) { setScalarMask(execRegister, mask); }
  uint64_t scalarMask(unsigned index) const {
    uint64_t low = scalars[index];
    return lanes == 64 ? low | uint64_t(scalars[index + 1]) << 32 : low;
  }
  void setScalarMask(unsigned index, uint64_t mask) {
    scalars[index] = uint32_t(mask);
    if (lanes == 64) {
      scalars[index + 1] = uint32_t(mask >> 32);
    }
  }
  /// Of a scalar operand: up to 64 bits.
  uint64_t readScalar(const Operand &operand) const;
  void writeScalar(const Operand &operand, uint64_t value);
  /// Source `which` of a vector instruction, with its modifiers, as bits of
  /// its type in each lane. Lanes that a DPP leaves out leave `valid`.
  void readSource(const Instruction &instruction, unsigned which, Lanes &to,
                  uint64_t &valid) const;
  /// Raw words of an operand, without modifiers.
  void readWords(const Operand &operand, unsigned word, Lanes &to) const;
  uint32_t lane(const Operand &operand, unsigned word, unsigned lane) const {
    return vectors[operand.index + word][lane];
  }
  /// The active lanes of a result, with its modifiers.
  void writeResult(const Instruction &instruction, const Lanes &value,
                   uint64_t active);
  void writeLane(const Operand &operand, unsigned word, unsigned lane,
                 uint32_t value) {
    vectors[operand.index + word][lane] = value;
  }
  void writeMask(const Operand &operand, uint64_t mask);

  [[noreturn]] void fault(Fault::Kind kind, const std::string &what) const;
  [[noreturn]] void fault(unsigned lane, Fault::Kind kind,
                          const std::string &what) const;
  /// "wave 1 of workgroup (0, 0, 0) at ...".
  std::string place() const;

  /// A memory instruction that writes `to`, counted by `counter`.
  void issue(Counter counter, bool inOrder, const Operand *to = nullptr);
  void jump(uint64_t address);

  Workgroup &group;
  const LoadedProgram &program;
  const unsigned index, lanes;
  std::array<uint32_t, scalarRegisterCount> scalars = {};
  std::vector<std::array<uint32_t, 64>> vectors;
  bool scc = false;
  uint32_t current = 0; ///< the instruction
  uint32_t next = 0;    ///< after it
  bool hasEnded = false;
  bool isAtBarrier = false;  ///< waits there
  bool hasSignalled = false; ///< arrived, maybe without waiting (gfx12)
  /// What was done when it arrived, of LDS and of global memory.
  uint32_t sharedDone = 0, globalDone = 0;
  uint64_t executed = 0;
  uint32_t mode = 0;
  WaitCounters counters;
  Hazards hazards;
  LaneRegions regions;
  std::vector<unsigned char> scratch; ///< lane by lane

private:
  void checkRegisters(const Instruction &instruction);
  void checkLanes(const Instruction &instruction);
  void readVector(const Instruction &instruction, unsigned which,
                  const Operand &operand, Lanes &to, uint64_t &valid) const;
};

/// The registers of an operand.
RegisterRange rangeOf(const Operand &operand);
/// `map` of the semantics on all lanes: sources, function, results.
void executeMap(Wave &wave, const Instruction &instruction);

template <typename F>
void forMask(uint64_t mask, F f) {
  for (; mask; mask &= mask - 1) {
    f(unsigned(std::countr_zero(mask)));
  }
}

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_WAVE_H
