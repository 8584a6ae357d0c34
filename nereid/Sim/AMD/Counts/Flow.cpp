//===- Flow.cpp - Ways through a code object's instructions ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Counts/Flow.h"

#include "nereid/Sim/AMD/LoadedProgram.h"

#include <algorithm>
#include <bitset>

namespace nereid::sim::amd {

std::vector<uint32_t> guardsOf(const Program &program) {
  std::vector<uint32_t> guards, open;
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    std::erase_if(open, [&](uint32_t branch) {
      return program.instructions[branch].target <= i;
    });
    guards.push_back(open.empty() ? i : open.back());
    const Instruction &one = program.instructions[i];
    if (one.name == "s_cbranch_execz" && one.target != ~0u && one.target > i) {
      open.push_back(i);
    }
  }
  return guards;
}

namespace {

/// Vector registers, and scalar ones after them.
using Registers = std::bitset<vectorRegisterCount + scalarRegisterCount>;

enum class Origin { Data, Operands, Other };

class DataFlow {
public:
  explicit DataFlow(const Program &program)
      : program(program), before(program.instructions.size()),
        isReached(program.instructions.size()) {}

  std::vector<bool> addresses();

private:
  void reach(uint32_t instruction, const Registers &with);

  const Program &program;
  std::vector<Registers> before; ///< what each instruction finds
  std::vector<bool> isReached;
  std::vector<uint32_t> left; ///< instructions to look at again
};

} // namespace

static size_t placeOf(const RegisterRange &range) {
  return range.isVector ? range.first : vectorRegisterCount + range.first;
}

static bool isAnyOf(const RegisterRange &range, const Registers &registers) {
  for (size_t i = 0; i < range.count; ++i) {
    if (registers[placeOf(range) + i]) {
      return true;
    }
  }
  return false;
}

/// What its results are made of.
static Origin originOf(const Instruction &instruction) {
  switch (instruction.encoding) {
  case Encoding::DS: {
    bool isMove = instruction.name.find("permute") != std::string_view::npos ||
                  instruction.name.find("swizzle") != std::string_view::npos;
    return isMove ? Origin::Operands : Origin::Data;
  }
  case Encoding::FLAT:
  case Encoding::GLOBAL:
  case Encoding::MUBUF:
    return Origin::Data;
  case Encoding::SCRATCH:
  case Encoding::SMEM:
    return Origin::Other;
  default:
    return Origin::Operands;
  }
}

/// What registers hold when `instruction` has found `registers`.
static Registers after(const Instruction &instruction, Registers registers) {
  Origin origin = originOf(instruction);
  bool isOfData =
      origin == Origin::Data ||
      (origin == Origin::Operands &&
       std::ranges::any_of(instruction.reads, [&](const RegisterRange &range) {
         return isAnyOf(range, registers);
       }));
  for (const RegisterRange &range : instruction.writes) {
    for (size_t i = 0; i < range.count; ++i) {
      registers[placeOf(range) + i] = isOfData;
    }
  }
  return registers;
}

void DataFlow::reach(uint32_t instruction, const Registers &with) {
  if (instruction >= before.size()) {
    return;
  }
  Registers both = before[instruction] | with;
  if (!isReached[instruction] || both != before[instruction]) {
    isReached[instruction] = true;
    before[instruction] = both;
    left.push_back(instruction);
  }
}

std::vector<bool> DataFlow::addresses() {
  for (const Kernel &kernel : program.kernels) {
    auto entry = program.byAddress.find(kernel.entry);
    if (entry != program.byAddress.end()) {
      reach(entry->second, {});
    }
  }
  while (!left.empty()) {
    uint32_t i = left.back();
    left.pop_back();
    const Instruction &one = program.instructions[i];
    Registers results = after(one, before[i]);
    if (one.target != ~0u) {
      reach(one.target, results);
    }
    if (one.name != "s_branch" && one.name != "s_endpgm") {
      reach(i + 1, results);
    }
  }
  std::vector<bool> found;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &one = program.instructions[i];
    bool isOfData = false;
    for (const Operand *operand : {&one.vectorAddress, &one.scalarAddress}) {
      bool isRegister = operand->kind == Operand::Kind::Vector ||
                        operand->kind == Operand::Kind::Scalar;
      isOfData |= isRegister && isAnyOf({operand->kind == Operand::Kind::Vector,
                                         operand->index, operand->words},
                                        before[i]);
    }
    found.push_back(isOfData);
  }
  return found;
}

std::vector<bool> addressesOfData(const Program &program) {
  return DataFlow(program).addresses();
}

} // namespace nereid::sim::amd
