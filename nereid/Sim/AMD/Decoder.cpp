//===- Decoder.cpp - Bits to instructions ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands, the scalar encodings and scalar loads. Fields are those of the ISA
// documents, chapter "Microcode Formats".
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Decoder.h"

#include "nereid/Sim/AMD/Wave.h"
#include "nereid/Sim/Float.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nereid::sim::amd {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool inlineConstant(unsigned code, Type type, uint64_t &value) {
  constexpr unsigned zero = 128, minusOne = 193, last = 208;
  constexpr unsigned half = 240, inversePi = 248;
  if (code >= zero && code <= last) {
    auto number = code < minusOne ? int64_t(code) - zero
                                  : -(int64_t(code) - minusOne + 1);
    bool isLong = bitsOf(type) == 64 || type == Type::Mask;
    unsigned size = isHalf(type) ? 16 : isLong ? 64 : 32;
    value = uint64_t(number) & (~uint64_t{0} >> (64 - size));
    return true;
  }
  if (code < half || code > inversePi) {
    return false;
  }
  constexpr double numbers[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4};
  // 1 / (2 pi), rounded in each format by the ISA document.
  constexpr uint64_t f16 = 0x3118, f32 = 0x3e22f983, f64 = 0x3fc45f306dc9c882;
  bool isInverse = code == inversePi;
  double number = isInverse ? 0 : numbers[code - half];
  if (isHalf(type) || type == Type::PkF16) {
    value = isInverse ? f16 : encode(number, f16Format, Rounding::NearestEven);
  } else if (bitsOf(type) == 64 && type != Type::PkF32) {
    value = isInverse ? f64 : std::bit_cast<uint64_t>(number);
  } else {
    value = isInverse ? f32 : std::bit_cast<uint32_t>(float(number));
  }
  return true;
}

unsigned Decoder::wordsOf(Type type) const {
  return type == Type::Mask ? lanes / 32 : (bitsOf(type) + 31) / 32;
}

bool Decoder::literal(Operand &to, Type type) {
  // Both sources of one instruction may name the one literal.
  constexpr unsigned literalCode = 255;
  if (!out.from[0].isLiteral && !out.from[1].isLiteral &&
      !out.from[2].isLiteral) {
    ++size;
  }
  if (size > words.size()) {
    return false;
  }
  uint64_t value = words[size - 1];
  if (type == Type::F64) {
    value <<= 32;
  } else if (type == Type::I64) {
    value = uint64_t(int64_t(int32_t(value)));
  } else if (isHalf(type)) {
    value &= 0xffff;
  }
  to = {Operand::Kind::Constant,
        type,
        uint8_t(wordsOf(type)),
        false,
        true,
        literalCode,
        literalCode,
        value};
  return true;
}

bool Decoder::source(Operand &to, unsigned code, Type type) {
  constexpr unsigned firstVector = 256, literalCode = 255;
  constexpr unsigned vccz = 251, execz = 252, scc = 253;
  if (code == literalCode) {
    return literal(to, type);
  }
  to = {Operand::Kind::None,
        type,
        uint8_t(wordsOf(type)),
        false,
        false,
        uint16_t(code),
        uint16_t(code),
        0};
  if (code >= firstVector) {
    to.kind = Operand::Kind::Vector;
    to.index = uint16_t(code - firstVector);
    return to.index + to.words <= int(firstAccumulator);
  }
  if (code < scalarRegisterCount) {
    scalarResult(to, code, type);
    return to.index + to.words <= int(scalarRegisterCount);
  }
  to.kind = code == vccz    ? Operand::Kind::Vccz
            : code == execz ? Operand::Kind::Execz
            : code == scc   ? Operand::Kind::Scc
                            : Operand::Kind::Constant;
  return to.kind != Operand::Kind::Constant ||
         inlineConstant(code, type, to.value);
}

void Decoder::scalarResult(Operand &to, unsigned code, Type type) {
  to = {Operand::Kind::Scalar,
        type,
        uint8_t(wordsOf(type)),
        false,
        false,
        uint16_t(code),
        uint16_t(code),
        0};
  constexpr unsigned null = 124, rdnaM0 = 125;
  if (generation != Generation::Cdna && code == null) {
    to.kind = Operand::Kind::None;
  } else if (generation != Generation::Cdna && code == rdnaM0) {
    to.index = m0Register;
  }
}

void Decoder::vector(Operand &to, unsigned number, Type type) {
  to = {Operand::Kind::Vector,
        type,
        uint8_t(wordsOf(type)),
        false,
        false,
        uint16_t(number),
        uint16_t(256 + number),
        0};
}

void Decoder::implied(Operand &to, unsigned index, Type type) {
  scalarResult(to, index, type);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool Decoder::set(Encoding encoding, unsigned number, unsigned sizeOfIt) {
  const Opcode *opcode = opcodesOf(generation).find(encoding, number);
  size = sizeOfIt;
  if (!opcode || size > words.size()) {
    return false;
  }
  out.semantics = opcode->semantics;
  out.execute = opcode->semantics->execute;
  out.name = opcode->name;
  out.encoding = encoding;
  return true;
}

bool Decoder::decode() {
  if (words.empty()) {
    return false;
  }
  bool isGood;
  if (is(31, 30, 0b10)) {
    isGood = decodeScalar();
  } else if (is(31, 31, 0) || is(31, 28, 0b1101) || is(31, 28, 0b1100)) {
    bool isCdna = generation == Generation::Cdna;
    if (is(31, 26, isCdna ? 0b110000 : 0b111101)) {
      isGood = decodeScalarMemory();
    } else if (is(31, 26, 0b110110)) {
      isGood = decodeShared();
    } else if (is(31, 26, 0b110111)) {
      isGood = generation != Generation::Rdna4 && decodeFlat();
    } else if (!isCdna && is(31, 26, 0b110001)) {
      isGood = generation == Generation::Rdna4 && decodeWideBuffer();
    } else {
      isGood = decodeVector();
    }
  } else if (is(31, 26, 0b111101)) {
    isGood = generation != Generation::Cdna && decodeScalarMemory();
  } else if (is(31, 26, 0b111000)) {
    isGood = generation != Generation::Rdna4 && decodeBuffer();
  } else if (is(31, 26, 0b111011)) {
    isGood = generation == Generation::Rdna4 && decodeWideFlat();
  } else {
    isGood = false;
  }
  if (!isGood || size > words.size()) {
    return false;
  }
  // Integers that saturate have a function of their own.
  bool canClamp = out.semantics->flags & (Matrix | MixedHalves) ||
                  (isFloat(out.to.type) && !isPacked(out.to.type));
  if ((out.clamps || out.multiply) && !canClamp) {
    const Semantics *clamped =
        out.clamps ? findSemantics(std::string(out.name) + ".clamp") : nullptr;
    if (!clamped) {
      return false;
    }
    out.semantics = clamped;
    out.execute = clamped->execute;
  }
  out.bytes = uint8_t(size * 4);
  collectRegisters();
  // Groups that reach past the last register.
  auto isThere = [](const RegisterRange &range) {
    return range.first + range.count <=
           int(range.isVector ? vectorRegisterCount : scalarRegisterCount);
  };
  return std::all_of(out.reads.begin(), out.reads.end(), isThere) &&
         std::all_of(out.writes.begin(), out.writes.end(), isThere);
}

bool Decoder::decodeScalar() {
  if (is(31, 23, 0b101111101)) {
    if (!set(Encoding::SOP1, bits(15, 8), 1)) {
      return false;
    }
    const Semantics &of = *out.semantics;
    scalarResult(out.to, bits(22, 16), of.to);
    out.fromCount = of.from[0] != Type::None;
    return !out.fromCount || source(out.from[0], bits(7, 0), of.from[0]);
  }
  if (is(31, 23, 0b101111110)) {
    if (!set(Encoding::SOPC, bits(22, 16), 1)) {
      return false;
    }
    out.fromCount = 2;
    return source(out.from[0], bits(7, 0), out.semantics->from[0]) &&
           source(out.from[1], bits(15, 8), out.semantics->from[1]);
  }
  if (is(31, 23, 0b101111111)) {
    out.immediate = bits(15, 0);
    return set(Encoding::SOPP, bits(22, 16), 1);
  }
  if (is(31, 28, 0b1011)) {
    out.immediate = bits(15, 0);
    if (!set(Encoding::SOPK, bits(27, 23), 1)) {
      return false;
    }
    scalarResult(out.to, bits(22, 16), out.semantics->to);
    constexpr unsigned takesLiteral = 1;
    return out.semantics->detail != takesLiteral ||
           literal(out.from[1], Type::B32);
  }
  if (!set(Encoding::SOP2, bits(29, 23), 1)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  scalarResult(out.to, bits(22, 16), of.to);
  constexpr unsigned addsLiteral = 1, multipliesLiteral = 2;
  if (of.detail == addsLiteral || of.detail == multipliesLiteral) {
    // a * b + literal, or a * literal + b.
    unsigned other = of.detail == addsLiteral ? 1 : 2;
    out.fromCount = 3;
    return source(out.from[0], bits(7, 0), of.from[0]) &&
           source(out.from[other], bits(15, 8), of.from[1]) &&
           literal(out.from[3 - other], of.from[2]);
  }
  out.fromCount = 2;
  if (of.flags & ReadsTo) {
    out.fromCount = 3;
    out.from[2] = out.to;
  }
  return source(out.from[0], bits(7, 0), of.from[0]) &&
         source(out.from[1], bits(15, 8), of.from[1]);
}

static int64_t signExtended(uint32_t value, unsigned bits) {
  return int32_t(value << (32 - bits)) >> (32 - bits);
}

bool Decoder::decodeScalarMemory() {
  bool isWide = generation == Generation::Rdna4;
  if (!set(Encoding::SMEM, isWide ? bits(18, 13) : bits(25, 18), 2)) {
    return false;
  }
  const Semantics &of = *out.semantics;
  if (of.to != Type::None) {
    scalarResult(out.to, bits(12, 6), of.to);
  }
  if (of.flags & NoOperands) {
    return true;
  }
  scalarResult(out.scalarAddress, 2 * bits(5, 0), Type::B64);
  bool hasRegister = false;
  if (isWide) {
    out.offset = signExtended(bits(55, 32), 24);
    out.cache = uint8_t(bits(24, 21));
    hasRegister = true;
  } else if (generation == Generation::Rdna3) {
    out.offset = signExtended(bits(52, 32), 21);
    out.cache = uint8_t(bits(14, 13));
    hasRegister = true;
  } else {
    bool hasImmediate = bits(17, 17);
    out.offset = hasImmediate ? signExtended(bits(52, 32), 21) : 0;
    out.cache = uint8_t(bits(16, 16));
    hasRegister = bits(14, 14) || !hasImmediate;
    if (!bits(14, 14) && !hasImmediate) {
      scalarResult(out.from[0], bits(38, 32), Type::B32);
      out.fromCount = 1;
      return true;
    }
  }
  if (hasRegister) {
    scalarResult(out.from[0], bits(63, 57), Type::B32);
    out.fromCount = 1;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Registers that are read and written
//===----------------------------------------------------------------------===//

RegisterRange rangeOf(const Operand &operand) {
  return {operand.kind == Operand::Kind::Vector, operand.index, operand.words};
}

void Decoder::collectRegisters() {
  auto add = [](std::vector<RegisterRange> &to, const Operand &operand) {
    if ((operand.kind == Operand::Kind::Vector ||
         operand.kind == Operand::Kind::Scalar) &&
        operand.words) {
      to.push_back(rangeOf(operand));
    }
  };
  for (const Operand &operand : out.from) {
    add(out.reads, operand);
  }
  for (const Operand *operand : {&out.vectorAddress, &out.scalarAddress,
                                 &out.resource, &out.data[0], &out.data[1]}) {
    add(out.reads, *operand);
  }
  uint8_t maskWords = uint8_t(lanes / 32);
  if (out.encoding == Encoding::SOPK) {
    add(out.reads, out.to);
  }
  if (out.semantics->flags & ReadsVcc) {
    out.reads.push_back({false, vccRegister, maskWords});
  }
  if (out.semantics->flags & WritesExec) {
    out.writes.push_back({false, execRegister, maskWords});
  }
  add(out.writes, out.to);
  add(out.writes, out.carry);
  if (out.second) {
    out.reads.insert(out.reads.end(), out.second->reads.begin(),
                     out.second->reads.end());
    out.writes.insert(out.writes.end(), out.second->writes.begin(),
                      out.second->writes.end());
  }
}

std::optional<Instruction> decodeOne(Generation generation, unsigned lanes,
                                     std::span<const uint32_t> words) {
  Decoder decoder(generation, lanes, words);
  if (!decoder.decode()) {
    return std::nullopt;
  }
  return std::move(decoder.out);
}

Status decodeText(Program &program) {
  std::vector<uint32_t> words((program.textEnd - program.textBegin) / 4);
  std::memcpy(words.data(), program.image.data() + program.textBegin,
              words.size() * 4);
  unsigned lanes = program.kernels.front().lanes;
  for (const Kernel &kernel : program.kernels) {
    if (kernel.lanes != lanes) {
      return {ErrorCode::Unsupported,
              "expected kernels of one wave size in a code object"};
    }
  }
  for (size_t at = 0; at < words.size();) {
    uint64_t address = program.textBegin + at * 4;
    auto one =
        decodeOne(program.generation, lanes, std::span(words).subspan(at));
    if (!one) {
      char text[96];
      std::snprintf(text, sizeof(text),
                    "%s at 0x%llx: an instruction that is not simulated: "
                    "%08x %08x",
                    program.target.c_str(),
                    static_cast<unsigned long long>(address), words[at],
                    at + 1 < words.size() ? words[at + 1] : 0);
      return {ErrorCode::CompileError, text};
    }
    one->address = address;
    program.byAddress[address] = uint32_t(program.instructions.size());
    at += one->bytes / 4;
    program.instructions.push_back(std::move(*one));
  }
  for (Instruction &one : program.instructions) {
    if (one.semantics->flags & Branches) {
      uint64_t target =
          one.address + 4 + uint64_t(int64_t(int16_t(one.immediate))) * 4;
      auto found = program.byAddress.find(target);
      if (found != program.byAddress.end()) {
        one.target = found->second;
      }
    }
  }
  return Status::success();
}

std::string Program::describe(uint32_t instruction) const {
  const Instruction &one = instructions[instruction];
  char text[32];
  std::snprintf(text, sizeof(text),
                "0x%llx: ", static_cast<unsigned long long>(one.address));
  return text + textOf(one, generation);
}

std::vector<Line> disassemble(const Program &program) {
  std::vector<Line> lines;
  for (const Instruction &one : program.instructions) {
    lines.push_back({one.address, one.bytes, textOf(one, program.generation)});
  }
  return lines;
}

} // namespace nereid::sim::amd
