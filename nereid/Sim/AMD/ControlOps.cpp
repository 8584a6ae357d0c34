//===- ControlOps.cpp - Branches, waits and barriers ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/Workgroup.h"

#include <bit>

namespace nereid::sim::amd {

/// Hints for the processor, and caches, which the simulator has not.
static void doNothing(Wave &, const Instruction &) {}

static void endProgram(Wave &wave, const Instruction &) {
  wave.hasEnded = true;
}

static void trap(Wave &wave, const Instruction &) {
  wave.fault(Fault::Kind::Trap, "the kernel has stopped itself");
}

static void noCode(Wave &wave, const Instruction &) {
  wave.fault(Fault::Kind::Illegal, "executes what stands after its code");
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

enum Condition : unsigned {
  Always,
  IfScc0,
  IfScc1,
  IfVccz,
  IfVccnz,
  IfExecz,
  IfExecnz
};

static bool holds(const Wave &wave, unsigned condition) {
  switch (condition) {
  case IfScc0:
    return !wave.scc;
  case IfScc1:
    return wave.scc;
  case IfVccz:
    return wave.scalarMask(vccRegister) == 0;
  case IfVccnz:
    return wave.scalarMask(vccRegister) != 0;
  case IfExecz:
    return wave.exec() == 0;
  case IfExecnz:
    return wave.exec() != 0;
  default:
    return true;
  }
}

static void branch(Wave &wave, const Instruction &instruction) {
  if (!holds(wave, instruction.semantics->detail)) {
    return;
  }
  if (instruction.target == ~0u) {
    wave.fault(Fault::Kind::Illegal, "jumps to what is no instruction of it");
  }
  wave.next = instruction.target;
}

static uint64_t addressAfter(const Wave &wave, const Instruction &instruction) {
  return wave.program.base() + instruction.address + instruction.bytes;
}

static void getCounter(Wave &wave, const Instruction &instruction) {
  wave.writeScalar(instruction.to, addressAfter(wave, instruction));
}

static void setCounter(Wave &wave, const Instruction &instruction) {
  wave.jump(wave.readScalar(instruction.from[0]));
}

static void swapCounter(Wave &wave, const Instruction &instruction) {
  uint64_t target = wave.readScalar(instruction.from[0]);
  wave.writeScalar(instruction.to, addressAfter(wave, instruction));
  wave.jump(target);
}

//===----------------------------------------------------------------------===//
// Wait counters
//===----------------------------------------------------------------------===//

static void waitAll(Wave &wave, const Instruction &instruction) {
  uint32_t of = instruction.immediate;
  if (wave.program.generation == Generation::Cdna) {
    wave.counters.wait(Counter::Load, (of & 0xf) | (of >> 14 & 3) << 4);
    wave.counters.wait(Counter::Shared, of >> 8 & 0xf);
  } else {
    wave.counters.wait(Counter::Load, of >> 10 & 0x3f);
    wave.counters.wait(Counter::Shared, of >> 4 & 0x3f);
  }
}

/// `detail` is the counter.
static void waitOne(Wave &wave, const Instruction &instruction) {
  wave.counters.wait(Counter(instruction.semantics->detail - 10),
                     instruction.immediate & 0x3f);
}

/// One of vector memory and that of LDS.
static void waitBoth(Wave &wave, const Instruction &instruction) {
  wave.counters.wait(Counter(instruction.semantics->detail - 10),
                     instruction.immediate >> 8 & 0x3f);
  wave.counters.wait(Counter::Shared, instruction.immediate & 0x3f);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static void signalBarrier(Wave &wave, const Instruction &) {
  if (wave.hasSignalled) {
    wave.fault(Fault::Kind::Barrier,
               "arrives a second time without waiting for the others");
  }
  // The lanes that are off would have to come here on their own.
  if (uint64_t missing = wave.regions.all() & ~wave.exec()) {
    wave.fault(unsigned(std::countr_zero(missing)), Fault::Kind::Barrier,
               "is off at a barrier; hint: restore the exec mask before");
  }
  wave.hasSignalled = true;
  wave.sharedDone = wave.counters.done(Counter::Shared);
  wave.globalDone = wave.counters.done(Counter::Store);
  // The waves of a compute unit have one cache, which does what it is given in
  // order: they see each other's without a wait (AMDGPUUsage, "Memory Model
  // gfx942", not in TgSplit mode). A workgroup processor has two such caches.
  if (wave.program.generation == Generation::Cdna) {
    wave.globalDone += wave.counters.pending(Counter::Store);
  }
}

static void waitBarrier(Wave &wave, const Instruction &) {
  wave.isAtBarrier = wave.hasSignalled;
}

static void barrier(Wave &wave, const Instruction &instruction) {
  signalBarrier(wave, instruction);
  waitBarrier(wave, instruction);
}

//===----------------------------------------------------------------------===//
// Registers of the hardware
//===----------------------------------------------------------------------===//

/// A field of a register: its number, the first bit, the bits less one.
static void getRegister(Wave &wave, const Instruction &instruction) {
  uint32_t of = instruction.immediate;
  unsigned at = of >> 6 & 0x1f, bits = (of >> 11 & 0x1f) + 1;
  constexpr unsigned modeRegister = 1;
  uint32_t value = (of & 0x3f) == modeRegister ? wave.mode : 0;
  wave.writeScalar(instruction.to, value >> at & (~0u >> (32 - bits)));
}

static void changeRegister(Wave &wave, const Instruction &instruction,
                           uint32_t value) {
  uint32_t of = instruction.immediate;
  unsigned at = of >> 6 & 0x1f, bits = (of >> 11 & 0x1f) + 1;
  uint32_t mask = (~0u >> (32 - bits)) << at;
  constexpr unsigned modeRegister = 1;
  constexpr uint32_t roundingBits = 0xf;
  if ((of & 0x3f) != modeRegister) {
    return;
  }
  wave.mode = (wave.mode & ~mask) | (value << at & mask);
  if (wave.mode & roundingBits) {
    wave.fault(Fault::Kind::Illegal,
               "rounds other than to the nearest, which is not simulated");
  }
}

static void setRegister(Wave &wave, const Instruction &instruction) {
  changeRegister(wave, instruction, uint32_t(wave.readScalar(instruction.to)));
}

static void setRegisterConstant(Wave &wave, const Instruction &instruction) {
  changeRegister(wave, instruction, uint32_t(instruction.from[1].value));
}

std::span<const Semantics> controlFamily() {
  constexpr unsigned c = 10; // `detail` 1 and 2 are the decoder's
  constexpr unsigned loads = c + unsigned(Counter::Load),
                     shared = c + unsigned(Counter::Shared),
                     scalar = c + unsigned(Counter::Scalar),
                     stores = c + unsigned(Counter::Store);
  constexpr std::array<Type, 4> word = {Type::B32}, both = {Type::B64};
  static const std::vector<Semantics> rows = {
      custom("s_nop s_sleep s_setprio s_sendmsg s_clause s_delay_alu "
             "s_waitcnt_depctr s_wait_alu s_set_inst_prefetch_distance "
             "s_inst_prefetch s_icache_inv s_waitcnt_expcnt s_wait_expcnt "
             "s_wait_samplecnt s_wait_bvhcnt s_wait_idle s_ttracedata "
             "s_ttracedata_imm s_incperflevel s_decperflevel s_sethalt",
             doNothing),
      custom("s_endpgm", endProgram),
      custom("s_trap", trap),
      custom("s_code_end", noCode),
      custom("s_branch", branch, Type::None, {}, Branches, Always),
      custom("s_cbranch_scc0", branch, Type::None, {}, Branches, IfScc0),
      custom("s_cbranch_scc1", branch, Type::None, {}, Branches, IfScc1),
      custom("s_cbranch_vccz", branch, Type::None, {}, Branches, IfVccz),
      custom("s_cbranch_vccnz", branch, Type::None, {}, Branches, IfVccnz),
      custom("s_cbranch_execz", branch, Type::None, {}, Branches, IfExecz),
      custom("s_cbranch_execnz", branch, Type::None, {}, Branches, IfExecnz),
      custom("s_getpc_b64", getCounter, Type::B64),
      custom("s_setpc_b64", setCounter, Type::None, both),
      custom("s_swappc_b64", swapCounter, Type::B64, both),
      custom("s_waitcnt", waitAll),
      custom("s_waitcnt_vscnt", waitOne, Type::B32, {}, 0, stores),
      custom("s_waitcnt_vmcnt", waitOne, Type::B32, {}, 0, loads),
      custom("s_waitcnt_lgkmcnt", waitOne, Type::B32, {}, 0, shared),
      custom("s_wait_loadcnt", waitOne, Type::None, {}, 0, loads),
      custom("s_wait_storecnt", waitOne, Type::None, {}, 0, stores),
      custom("s_wait_dscnt", waitOne, Type::None, {}, 0, shared),
      custom("s_wait_kmcnt", waitOne, Type::None, {}, 0, scalar),
      custom("s_wait_loadcnt_dscnt", waitBoth, Type::None, {}, 0, loads),
      custom("s_wait_storecnt_dscnt", waitBoth, Type::None, {}, 0, stores),
      custom("s_barrier", barrier),
      custom("s_barrier_signal", signalBarrier, Type::None, word),
      custom("s_barrier_wait", waitBarrier),
      custom("s_getreg_b32", getRegister, Type::B32),
      custom("s_setreg_b32", setRegister, Type::B32),
      custom("s_setreg_imm32_b32", setRegisterConstant, Type::None, {}, 0, 1),
  };
  return rows;
}

} // namespace nereid::sim::amd
