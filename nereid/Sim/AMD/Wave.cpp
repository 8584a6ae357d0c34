//===- Wave.cpp - 32 or 64 lanes with one program counter -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Wave.h"

#include "nereid/Sim/AMD/Workgroup.h"
#include "nereid/Sim/Float.h"

#include <algorithm>

namespace nereid::sim::amd {

Wave::Wave(Workgroup &group, unsigned index)
    : group(group), program(group.launch.program), index(index),
      lanes(group.launch.kernel.lanes), vectors(vectorRegisterCount),
      counters(program.generation), hazards(program.generation),
      scratch(size_t(group.launch.kernel.privateBytes) * lanes) {}

void Wave::begin() {
  // NaNs in halves and words: what is read before it is written shows.
  constexpr uint32_t unwritten = 0x7fffdeadu;
  scalars.fill(unwritten);
  std::array<uint32_t, 64> one;
  one.fill(unwritten);
  std::fill(vectors.begin(), vectors.end(), one);
  std::fill(scratch.begin(), scratch.end(), 0xff);
  scc = hasEnded = isAtBarrier = hasSignalled = false;
  executed = 0;
  counters.begin();
  hazards.begin();
  current = next = 0;
  group.startRegisters(*this);
  regions.begin(exec());
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

std::string Wave::place() const {
  const auto &at = group.position;
  return "wave " + std::to_string(index) + " of workgroup (" +
         std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " +
         std::to_string(at[2]) + ") at " + program.describe(current);
}

void Wave::fault(Fault::Kind kind, const std::string &what) const {
  throw Fault{kind, place() + ": " + what};
}

void Wave::fault(unsigned lane, Fault::Kind kind,
                 const std::string &what) const {
  throw Fault{kind,
              "lane " + std::to_string(lane) + " of " + place() + ": " + what};
}

static std::string registerName(const RegisterRange &range) {
  if (!range.isVector) {
    return range.first == vccRegister || range.first == vccRegister + 1
               ? "vcc"
               : "s" + std::to_string(range.first);
  }
  return range.first >= firstAccumulator
             ? "a" + std::to_string(range.first - firstAccumulator)
             : "v" + std::to_string(range.first);
}

/// Which counter's instructions are done in order with this one's writes.
static std::optional<Counter> orderedWith(const Instruction &instruction) {
  switch (instruction.encoding) {
  case Encoding::DS:
    return Counter::Shared;
  case Encoding::GLOBAL:
  case Encoding::SCRATCH:
  case Encoding::MUBUF:
    return Counter::Load;
  default:
    return std::nullopt;
  }
}

void Wave::checkRegisters(const Instruction &instruction) {
  auto tell = [&](const WaitCounters::Missing &missing, const char *verb) {
    fault(Fault::Kind::Race,
          std::string(verb) + " " + registerName(missing.range) +
              ", which is on its way from " +
              program.describe(missing.instruction) + "; hint: wait for " +
              WaitCounters::name(program.generation, missing.counter) + "(" +
              std::to_string(missing.after) + ") before");
  };
  if (!counters.isIdle()) {
    for (const RegisterRange &range : instruction.reads) {
      if (auto missing = counters.check(range, std::nullopt)) {
        tell(*missing, "reads");
      }
    }
    for (const RegisterRange &range : instruction.writes) {
      if (auto missing = counters.check(range, orderedWith(instruction))) {
        tell(*missing, "writes");
      }
    }
  }
  if (auto found = hazards.check(instruction)) {
    fault(Fault::Kind::Race,
          std::string("needs ") + std::to_string(found->wanted) +
              " wait states after " + program.describe(found->instruction) +
              " (" + found->what + "), has " + std::to_string(found->have));
  }
}

void Wave::checkLanes(const Instruction &instruction) {
  if (auto missing = regions.check(instruction, current, exec())) {
    fault(unsigned(std::countr_zero(missing->lanes)), Fault::Kind::Illegal,
          "is off, and belongs to what was left out by " +
              program.describe(missing->instruction) +
              " up to a place before this; hint: restore the exec mask there");
  }
}

void Wave::issue(Counter counter, bool inOrder, const Operand *to) {
  counters.issue(counter, inOrder);
  if (to && to->kind != Operand::Kind::None) {
    counters.expect(counter, rangeOf(*to), current);
  }
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

void Wave::jump(uint64_t address) {
  auto found = program.byAddress.find(address - program.base());
  if (found == program.byAddress.end()) {
    fault(Fault::Kind::Illegal, "jumps to what is no instruction of it");
  }
  next = found->second;
}

bool Wave::run(unsigned most) {
  unsigned count = 0;
  for (; count < most && !hasEnded && !isAtBarrier; ++count) {
    current = next;
    if (current >= program.instructions.size()) {
      --current;
      fault(Fault::Kind::Illegal, "goes on past the end of its code");
    }
    const Instruction &instruction = program.instructions[current];
    next = current + 1;
    if (group.launch.trace) {
      group.launch.trace->executes(index, instruction.address);
    }
    checkRegisters(instruction);
    checkLanes(instruction);
    uint64_t active = exec();
    instruction.execute(*this, instruction);
    regions.executed(instruction, current, active, exec());
    if (group.counter) {
      group.counter->finish(current, active);
    }
    hazards.issued(instruction, current);
    ++executed;
    if (group.launch.mostInstructions &&
        executed > group.launch.mostInstructions) {
      fault(Fault::Kind::Deadlock,
            "has executed " + std::to_string(executed) +
                " instructions, the most that the launch allows");
    }
  }
  return count != 0;
}

//===----------------------------------------------------------------------===//
// Scalar operands
//===----------------------------------------------------------------------===//

uint64_t Wave::readScalar(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Scalar: {
    uint64_t value = scalars[operand.index];
    if (operand.words > 1) {
      value |= uint64_t(scalars[operand.index + 1]) << 32;
    }
    return value;
  }
  case Operand::Kind::Constant:
    return operand.value;
  case Operand::Kind::Scc:
    return scc;
  case Operand::Kind::Vccz:
    return scalarMask(vccRegister) == 0;
  case Operand::Kind::Execz:
    return exec() == 0;
  case Operand::Kind::Vector:
    return vectors[operand.index][0];
  case Operand::Kind::None:
    return 0;
  }
  return 0;
}

void Wave::writeScalar(const Operand &operand, uint64_t value) {
  if (operand.kind != Operand::Kind::Scalar) {
    return;
  }
  scalars[operand.index] = uint32_t(value);
  if (operand.words > 1) {
    scalars[operand.index + 1] = uint32_t(value >> 32);
  }
}

void Wave::writeMask(const Operand &operand, uint64_t mask) {
  if (operand.kind == Operand::Kind::Scalar) {
    setScalarMask(operand.index, mask);
  }
}

//===----------------------------------------------------------------------===//
// Vector operands
//===----------------------------------------------------------------------===//

void Wave::readWords(const Operand &operand, unsigned word, Lanes &to) const {
  if (operand.kind == Operand::Kind::Vector) {
    const auto &from = vectors[operand.index + word];
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] = from[lane];
    }
    return;
  }
  uint64_t value = operand.kind == Operand::Kind::Scalar
                       ? scalars[operand.index + word]
                       : readScalar(operand) >> (32 * word) & 0xffffffff;
  to.fill(value);
}

/// The lane that lane `lane` of a DPP reads, or none.
static std::optional<unsigned> sourceLane(const LaneMove &move, unsigned lane,
                                          unsigned lanes) {
  if (move.kind == LaneMove::Kind::Dpp8) {
    return (lane & ~7u) | (move.selects >> (3 * (lane & 7)) & 7);
  }
  unsigned control = move.control, row = lane & ~15u, in = lane & 15;
  unsigned amount = control & 15;
  switch (control >> 4) {
  case 0x10: // row_shl: from the lanes above
    return in + amount < 16 ? std::optional(lane + amount) : std::nullopt;
  case 0x11: // row_shr
    return in >= amount ? std::optional(lane - amount) : std::nullopt;
  case 0x12: // row_ror
    return row | ((in + 16 - amount) & 15);
  case 0x13: // wave_shl, wave_rol, wave_shr, wave_ror, by one
    switch (amount) {
    case 0:
      return lane + 1 < lanes ? std::optional(lane + 1) : std::nullopt;
    case 4:
      return (lane + 1) % lanes;
    case 8:
      return lane ? std::optional(lane - 1) : std::nullopt;
    default:
      return (lane + lanes - 1) % lanes;
    }
  case 0x14:
    switch (amount) {
    case 0: // row_mirror
      return row | (15 - in);
    case 1: // row_half_mirror
      return (lane & ~7u) | (7 - (lane & 7));
    case 2: // row_bcast:15, to the next row
      return row ? std::optional(row - 1) : std::nullopt;
    default: // row_bcast:31
      return lane >= 32 ? std::optional(31u) : std::nullopt;
    }
  case 0x15: // row_newbcast, row_share
    return row | amount;
  case 0x16: // row_xmask
    return lane ^ amount;
  default: // quad_perm
    return (lane & ~3u) | (control >> (2 * (lane & 3)) & 3);
  }
}

static void moveLanes(const Wave &wave, const LaneMove &move, Lanes &values,
                      uint64_t &valid) {
  Lanes from = values;
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    bool isWritten = move.kind == LaneMove::Kind::Dpp8 ||
                     ((move.rowMask >> (lane / 16 % 4) & 1) &&
                      (move.bankMask >> (lane / 4 % 4) & 1));
    std::optional<unsigned> source = sourceLane(move, lane, wave.lanes);
    bool isThere = source && (move.fetchesInactive || exec >> *source & 1);
    values[lane] = isThere ? from[*source] : 0;
    if (!isWritten || (!isThere && !move.boundZero)) {
      valid &= ~(uint64_t{1} << lane);
    }
  }
}

/// A byte or a half of a word, as SDWA names them.
static uint64_t partOf(uint64_t word, uint8_t part, bool extends) {
  unsigned shift = part < 4 ? 8u * part : part < 6 ? 16u * (part - 4) : 0;
  unsigned bits = part < 4 ? 8 : part < 6 ? 16 : 32;
  auto value = uint32_t(word >> shift) << (32 - bits);
  return extends ? uint32_t(int32_t(value) >> (32 - bits))
                 : value >> (32 - bits);
}

/// The bit of a float's sign.
static uint64_t signBit(Type type) {
  return type == Type::F16   ? 0x8000u
         : type == Type::F64 ? uint64_t{1} << 63
                             : 0x80000000u;
}

void Wave::readVector(const Instruction &instruction, unsigned which,
                      const Operand &operand, Lanes &to,
                      uint64_t &valid) const {
  readWords(operand, 0, to);
  if (operand.words > 1) {
    Lanes high;
    readWords(operand, 1, high);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] |= high[lane] << 32;
    }
  }
  const LaneMove &move = instruction.move;
  bool isMoved =
      move.kind == LaneMove::Kind::Dpp16 || move.kind == LaneMove::Kind::Dpp8;
  if (isMoved && which == 0) {
    moveLanes(*this, move, to, valid);
  }
  if (operand.isHigh) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] >>= 16;
    }
  }
}

void Wave::readSource(const Instruction &instruction, unsigned which, Lanes &to,
                      uint64_t &valid) const {
  const Operand &operand = instruction.from[which];
  if (operand.type == Type::Mask) {
    uint64_t mask = operand.kind == Operand::Kind::Scalar
                        ? scalarMask(operand.index)
                        : readScalar(operand);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] = mask >> lane & 1;
    }
    return;
  }
  bool isConstant = operand.kind == Operand::Kind::Constant;
  if (operand.kind == Operand::Kind::Vector) {
    readVector(instruction, which, operand, to, valid);
  } else {
    uint64_t value = readScalar(operand);
    to.fill(operand.isHigh && !isConstant ? value >> 16 : value);
  }
  if (instruction.variant == Variant::Sdwa && which < 2) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] = partOf(to[lane], instruction.move.part[which],
                        instruction.move.extends[which]);
    }
  }
  if (isHalf(operand.type)) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      to[lane] &= 0xffff;
    }
  }
  if (!isFloat(operand.type)) {
    return;
  }
  uint64_t sign = signBit(operand.type);
  bool isAbsolute = instruction.absolute >> which & 1;
  bool isNegated = instruction.negate >> which & 1;
  if (isAbsolute || isNegated) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      uint64_t value = isAbsolute ? to[lane] & ~sign : to[lane];
      to[lane] = isNegated ? value ^ sign : value;
    }
  }
}

/// OMOD and CLAMP of a float.
static uint64_t modified(uint64_t value, Type type, unsigned multiply,
                         bool clamps) {
  constexpr double factors[] = {1, 2, 4, 0.5};
  auto change = [&](double of) {
    of *= factors[multiply];
    return clamps ? (of > 0 ? std::min(of, 1.0) : 0.0) : of;
  };
  switch (type) {
  case Type::F32:
    return std::bit_cast<uint32_t>(
        float(change(std::bit_cast<float>(uint32_t(value)))));
  case Type::F64:
    return std::bit_cast<uint64_t>(change(std::bit_cast<double>(value)));
  case Type::F16:
    return Half::of(change(Half{uint16_t(value)}.value())).bits;
  default:
    return value;
  }
}

void Wave::writeResult(const Instruction &instruction, const Lanes &value,
                       uint64_t active) {
  const Operand &to = instruction.to;
  if (to.kind != Operand::Kind::Vector) {
    return;
  }
  bool isModified = (instruction.multiply || instruction.clamps) &&
                    isFloat(to.type) && !isPacked(to.type);
  bool keeps =
      isHalf(to.type) && (program.generation != Generation::Cdna || to.isHigh ||
                          instruction.semantics->flags & KeepsHigh);
  const LaneMove &move = instruction.move;
  bool isPart = move.kind == LaneMove::Kind::Sdwa && move.toPart != 6;
  forMask(active, [&](unsigned lane) {
    uint64_t result = value[lane];
    if (isModified) {
      result =
          modified(result, to.type, instruction.multiply, instruction.clamps);
    }
    uint32_t &word = vectors[to.index][lane];
    if (isPart) {
      unsigned part = move.toPart;
      unsigned shift = part < 4 ? 8 * part : 16 * (part - 4);
      uint32_t ones = part < 4 ? 0xff : 0xffff;
      uint32_t placed = (uint32_t(result) & ones) << shift;
      constexpr unsigned extend = 1, preserve = 2;
      if (move.toUnused == preserve) {
        placed |= word & ~(ones << shift);
      } else if (move.toUnused == extend &&
                 placed >> shift >> (part < 4 ? 7 : 15)) {
        placed |= ~0u << shift;
      }
      word = placed;
    } else if (keeps) {
      word = to.isHigh ? (word & 0xffff) | uint32_t(result) << 16
                       : (word & 0xffff0000) | (uint32_t(result) & 0xffff);
    } else {
      word = uint32_t(result);
      if (to.words > 1) {
        vectors[to.index + 1][lane] = uint32_t(result >> 32);
      }
    }
  });
}

namespace {
/// What half an instruction has computed, before either writes.
struct Computed {
  LaneResult result;
  uint64_t valid;
};
} // namespace

static void compute(Wave &wave, const Instruction &instruction, Computed &to) {
  Lanes from[4];
  to.valid = wave.exec();
  if (wave.lanes == 32) {
    to.valid &= 0xffffffff;
  }
  for (unsigned i = 0; i < instruction.fromCount; ++i) {
    wave.readSource(instruction, i, from[i], to.valid);
  }
  to.result.mask = 0;
  instruction.semantics->map(to.result, from, to.valid);
}

static void finish(Wave &wave, const Instruction &instruction,
                   const Computed &of) {
  const Semantics &semantics = *instruction.semantics;
  if (semantics.to == Type::Mask) {
    // V_CMPX writes the exec mask, on CDNA besides its result.
    wave.writeMask(instruction.to, of.result.mask & of.valid);
    if (semantics.flags & WritesExec) {
      wave.setExec(of.result.mask & of.valid);
    }
    return;
  }
  if (semantics.carry == Type::Mask) {
    wave.writeMask(instruction.carry, of.result.mask & of.valid);
  }
  wave.writeResult(instruction, of.result.value, of.valid);
}

void executeMap(Wave &wave, const Instruction &instruction) {
  Computed first;
  compute(wave, instruction, first);
  if (instruction.second) {
    Computed second;
    compute(wave, *instruction.second, second);
    finish(wave, *instruction.second, second);
  }
  finish(wave, instruction, first);
}

} // namespace nereid::sim::amd
