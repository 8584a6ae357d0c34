//===- Decoder.cpp - From statements to instructions ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"

#include <algorithm>

namespace nereid::sim {

static const DecodeTable &decoders() {
  static const DecodeTable table = [] {
    DecodeTable all;
    addCompareOps(all);
    addConvertOps(all);
    addMoveOps(all);
    addMemoryOps(all);
    addAtomicOps(all);
    addAsyncOps(all);
    addControlOps(all);
    addWarpOps(all);
    addMatrixOps(all);
    addWarpgroupOps(all);
    addMbarrierOps(all);
    addRegisterOps(all);
    return all;
  }();
  return table;
}

static const MapTable &maps() {
  static const MapTable table = [] {
    MapTable all;
    addIntegerOps(all);
    addBitOps(all);
    addFloatOps(all);
    addHalfOps(all);
    return all;
  }();
  return table;
}

static Execute findMap(const Statement &statement) {
  std::string opcode;
  for (std::string_view word : statement.words) {
    if (word != "rn" && word != "approx" && word != "full" && word != "noftz") {
      opcode += opcode.empty() ? "" : ".";
      opcode += word;
    }
  }
  auto found = maps().find(opcode);
  return found == maps().end() ? nullptr : found->second;
}

static constexpr std::pair<const char *, Special> specialNames[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NWarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NSmId},
    {"%gridid", Special::GridId},
    {"%clock", Special::Clock},
    {"%clock64", Special::Clock64},
    {"%globaltimer", Special::GlobalTimer},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%dynamic_smem_size", Special::DynamicSharedBytes},
    {"%total_smem_size", Special::TotalSharedBytes},
};

bool Decoder::has(std::string_view wanted) const {
  return std::find(statement->words.begin(), statement->words.end(), wanted) !=
         statement->words.end();
}

const Operand &Decoder::operand(size_t i) const {
  if (i >= statement->operands.size()) {
    refuse("an operand is missing");
  }
  return statement->operands[i];
}

void Decoder::refuse(const std::string &why) const {
  throw PtxError{statement->line, "'" + statement->text + "' is not simulated" +
                                      (why.empty() ? "" : ": " + why)};
}

uint32_t Decoder::constant(uint64_t bits) {
  auto [found, isNew] =
      constantIndex.try_emplace(bits, uint32_t(program.constants.size()));
  if (isNew) {
    program.constants.push_back(bits);
  }
  return constantBase + found->second;
}

uint32_t Decoder::special(const std::string &name) {
  for (auto [known, which] : specialNames) {
    if (name == known) {
      auto [found, isNew] = specialIndex.try_emplace(
          int(which), uint32_t(program.specials.size()));
      if (isNew) {
        program.specials.push_back(which);
      }
      return specialBase + found->second;
    }
  }
  if (name == "WARP_SZ") {
    return constant(lanes);
  }
  refuse("no register " + name);
}

uint32_t Decoder::source(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::Register:
    return operand.index;
  case Operand::Kind::Number:
    return constant(operand.bits);
  case Operand::Kind::Special:
  case Operand::Kind::Name:
    return special(operand.name);
  case Operand::Kind::Address:
    if (!operand.hasBase) {
      uint64_t address = operand.bits;
      if (operand.space == Space::Global) {
        address += globals - globalsWindow;
      }
      return constant(address);
    }
    break;
  default:
    break;
  }
  refuse("an operand is no value");
}

uint32_t Decoder::result(const Operand &operand) {
  if (operand.kind == Operand::Kind::Sink) {
    return noIndex;
  }
  if (operand.kind != Operand::Kind::Register) {
    refuse("the result is no register");
  }
  return operand.index;
}

std::vector<const Operand *> Decoder::elements(const Operand &operand) {
  if (operand.kind != Operand::Kind::Vector) {
    return {&operand};
  }
  std::vector<const Operand *> all;
  for (const Operand &element : operand.elements) {
    all.push_back(&element);
  }
  return all;
}

unsigned Decoder::bitsOf(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register
             ? entry.registerBits[operand.index]
             : 64;
}

void Decoder::plain(Execute execute) { plain(execute, operandCount() - 1); }

void Decoder::plain(Execute execute, size_t sources) {
  made->execute = execute;
  made->to = {result(0)};
  if (made->to[0] == noIndex) {
    refuse("nothing is written");
  }
  for (size_t i = 0; i < sources; ++i) {
    made->from.push_back(source(i + 1));
  }
}

uint32_t Decoder::predicate(const Operand &operand) const {
  if (operand.kind == Operand::Kind::Sink) {
    return noIndex;
  }
  if (operand.kind != Operand::Kind::Predicate) {
    refuse("an operand is no predicate");
  }
  return operand.index;
}

void Decoder::writtenPredicates(const Operand &operand) {
  made->predicates = {predicate(operand),
                      operand.second ? predicate(*operand.second) : noIndex};
}

void Decoder::address(size_t i) {
  const Operand &address = operand(i);
  if (address.kind != Operand::Kind::Address) {
    refuse("an operand is no address");
  }
  if (address.hasBase) {
    made->from.push_back(address.index);
    made->offset = int64_t(address.bits);
  } else {
    made->from.push_back(source(address));
  }
}

void Decoder::place(uint32_t &index) const {
  if (index == noIndex) {
    return;
  }
  if (index >= specialBase) {
    index += program.firstSpecial() - specialBase;
  } else if (index >= constantBase) {
    index += program.firstConstant() - constantBase;
  }
}

void Decoder::run() {
  program.instructions.resize(entry.statements.size());
  for (size_t i = 0; i < entry.statements.size(); ++i) {
    statement = &entry.statements[i];
    made = &program.instructions[i];
    made->isGuarded = statement->isGuarded;
    made->isGuardNegated = statement->isGuardNegated;
    made->guard = statement->guard;
    made->members = noIndex;
    auto found = decoders().find(statement->words[0]);
    if (decodePredicateLogic(*this)) {
      continue;
    }
    if (found != decoders().end()) {
      found->second(*this);
    } else if (Execute map = findMap(*statement)) {
      plain(map);
    } else {
      refuse();
    }
  }
  for (Instruction &instruction : program.instructions) {
    for (uint32_t &index : instruction.from) {
      place(index);
    }
    place(instruction.members);
  }
}

/// What ptxas gives a thread of a kernel that says how many it has and how many
/// blocks a processor is to hold: all of 64 Ki, in units of 8.
static uint32_t startRegistersOf(const Entry &entry) {
  constexpr uint32_t all = 64 << 10, most = 255;
  if (entry.mostRegisters) {
    return entry.mostRegisters;
  }
  uint32_t warps = (entry.mostThreads + lanes - 1) / lanes;
  if (!warps || !entry.leastBlocks) {
    return 0;
  }
  return std::min(all / (entry.leastBlocks * warps * lanes), most) / 8 * 8;
}

Expected<std::unique_ptr<const Program>>
decode(const Module &module, const Entry &entry, uint64_t globals) {
  auto program = std::make_unique<Program>();
  program->name = entry.name;
  program->target = module.target;
  program->files = module.files;
  program->parameters = entry.parameters;
  program->parameterBytes = entry.parameterBytes;
  program->localBytes = entry.localBytes;
  program->threads = entry.threads;
  program->startRegisters = startRegistersOf(entry);
  program->registerBits = entry.registerBits;
  program->predicateCount = entry.predicateCount;
  program->statements = entry.statements;
  for (Statement &statement : program->statements) {
    statement.words.clear(); // they point into the module
  }
  try {
    Decoder(*program, entry, globals).run();
  } catch (const PtxError &error) {
    return {ErrorCode::CompileError,
            "line " + std::to_string(error.line) + ": " + error.message};
  }
  return std::unique_ptr<const Program>(std::move(program));
}

std::string Program::describe(uint32_t instruction) const {
  if (instruction >= statements.size()) {
    return "past the last instruction";
  }
  const Statement &statement = statements[instruction];
  std::string place;
  if (auto file = files.find(statement.file); file != files.end()) {
    place = file->second + ":" + std::to_string(statement.sourceLine) + ": ";
  }
  return place + "PTX line " + std::to_string(statement.line) + ": " +
         statement.text;
}

} // namespace nereid::sim
