//===- Text.cpp - Instructions as LLVM prints them ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same text as llvm-objdump's, so that its disassembler can judge the
// decoder, and a fault names what a reader finds in a listing.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/LoadedProgram.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace nereid::sim::amd {

namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

class Printer {
public:
  Printer(const Instruction &of, Generation generation)
      : of(of), generation(generation) {}

  std::string print() {
    switch (of.encoding) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
      printScalar();
      break;
    case Encoding::SOPK:
    case Encoding::SOPP:
      printImmediate();
      break;
    case Encoding::SMEM:
      printScalarMemory();
      break;
    case Encoding::DS:
      printShared();
      break;
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
      printFlat();
      break;
    case Encoding::MUBUF:
      printBuffer();
      break;
    case Encoding::VOPDX:
      printHalfOfDual(of);
      text += " :: ";
      printHalfOfDual(*of.second);
      return text;
    default:
      printVector();
    }
    return text;
  }

private:
  bool isCdna() const { return generation == Generation::Cdna; }

  void operand(const std::string &one) {
    text += isFirst ? " " : ", ";
    text += one;
    isFirst = false;
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  static std::string range(const char *letter, unsigned first, unsigned words) {
    std::string at = std::to_string(first);
    return words == 1 ? letter + at
                      : std::string(letter) + "[" + at + ":" +
                            std::to_string(first + words - 1) + "]";
  }

  std::string scalar(const Operand &one) const {
    constexpr unsigned firstTrap = 108;
    unsigned at = one.index;
    bool isPair = one.words == 2;
    if (at == vccRegister || at == vccRegister + 1) {
      return isPair ? "vcc" : at == vccRegister ? "vcc_lo" : "vcc_hi";
    }
    if (at == execRegister || at == execRegister + 1) {
      return isPair ? "exec" : at == execRegister ? "exec_lo" : "exec_hi";
    }
    if (at == m0Register) {
      return "m0";
    }
    if (isCdna() && at >= 102 && at < vccRegister) {
      const char *base = at < 104 ? "flat_scratch" : "xnack_mask";
      return isPair ? base : std::string(base) + (at & 1 ? "_hi" : "_lo");
    }
    return at >= firstTrap ? range("ttmp", at - firstTrap, one.words)
                           : range("s", at, one.words);
  }

  static std::string constant(const Operand &one) {
    constexpr unsigned zero = 128, minusOne = 193, half = 240, inversePi = 248;
    if (one.isLiteral) {
      return hex(one.type == Type::F64 ? one.value >> 32
                                       : one.value & 0xffffffff);
    }
    if (one.code < half) {
      return std::to_string(one.code < minusOne
                                ? int(one.code) - int(zero)
                                : int(minusOne) - int(one.code) - 1);
    }
    constexpr const char *names[] = {"0.5", "-0.5", "1.0", "-1.0",
                                     "2.0", "-2.0", "4.0", "-4.0"};
    if (one.code == inversePi) {
      return one.type == Type::F64 ? "0.15915494309189532" : "0.15915494";
    }
    return names[one.code - half];
  }

  std::string name(const Operand &one) const {
    switch (one.kind) {
    case Operand::Kind::Scalar:
      return scalar(one);
    case Operand::Kind::Vector: {
      bool isAccumulator = one.index >= firstAccumulator;
      std::string base = range(isAccumulator ? "a" : "v",
                               one.index % firstAccumulator, one.words);
      bool hasHalves = generation == Generation::Rdna3 && isHalf(one.type) &&
                       of.encoding != Encoding::VOP3P;
      return hasHalves ? base + (one.isHigh ? ".h" : ".l") : base;
    }
    case Operand::Kind::Constant:
      return constant(one);
    case Operand::Kind::Scc:
      return "src_scc";
    case Operand::Kind::Vccz:
      return "src_vccz";
    case Operand::Kind::Execz:
      return "src_execz";
    case Operand::Kind::None:
      return "null";
    }
    return "";
  }

  std::string source(const Instruction &in, unsigned which) const {
    std::string one = name(in.from[which]);
    if (in.variant == Variant::Sdwa && which < 2 && in.move.extends[which]) {
      return "sext(" + one + ")";
    }
    if (in.absolute >> which & 1) {
      one = "|" + one + "|";
    }
    bool isPackedForm =
        in.encoding == Encoding::VOP3P && !(in.semantics->flags & MixedHalves);
    return in.negate >> which & 1 && !isPackedForm ? "-" + one : one;
  }

  //===--------------------------------------------------------------------===//
  // Scalar instructions
  //===--------------------------------------------------------------------===//

  void printScalar() {
    text = of.name;
    if (of.semantics->to != Type::None) {
      operand(name(of.to));
    }
    unsigned count = of.semantics->flags & ReadsTo ? 2 : of.fromCount;
    for (unsigned i = 0; i < count; ++i) {
      operand(name(of.from[i]));
    }
  }

  void printWait() {
    struct Part {
      const char *counter;
      uint32_t value, most;
    };
    uint32_t value = of.immediate;
    const Part cdna[] = {
        {"vmcnt", (value & 0xf) | (value >> 14 & 3) << 4, 0x3f},
        {"expcnt", value >> 4 & 7, 7},
        {"lgkmcnt", value >> 8 & 0xf, 0xf}};
    const Part rdna[] = {{"vmcnt", value >> 10 & 0x3f, 0x3f},
                         {"expcnt", value & 7, 7},
                         {"lgkmcnt", value >> 4 & 0x3f, 0x3f}};
    std::span<const Part> parts = isCdna() ? cdna : rdna;
    bool waits = std::ranges::any_of(
        parts, [](const Part &part) { return part.value != part.most; });
    for (const Part &part : parts) {
      if (!waits || part.value != part.most) {
        text += " " + std::string(part.counter) + "(" +
                std::to_string(part.value) + ")";
      }
    }
  }

  void printImmediate() {
    text = of.name;
    if (of.encoding == Encoding::SOPK) {
      if (of.semantics->to != Type::None) {
        operand(name(of.to));
      }
      operand(hex(of.immediate));
      return;
    }
    if (of.name == "s_waitcnt") {
      printWait();
    } else if (of.semantics->flags & Branches || of.name == "s_nop" ||
               of.name == "s_sleep" || of.name == "s_setprio" ||
               of.name == "s_trap") {
      operand(std::to_string(of.immediate));
    } else if (of.name != "s_endpgm" && of.name != "s_barrier" &&
               of.name != "s_code_end" && of.name != "s_icache_inv") {
      operand(hex(of.immediate));
    }
  }

  void printScalarMemory() {
    text = of.name;
    if (of.semantics->to != Type::None) {
      operand(name(of.to));
    }
    if (of.semantics->flags & NoOperands) {
      return;
    }
    operand(scalar(of.scalarAddress));
    bool hasRegister = of.fromCount && of.from[0].kind == Operand::Kind::Scalar;
    std::string offset = of.offset < 0 ? "-" + hex(uint64_t(-of.offset))
                                       : hex(uint64_t(of.offset));
    if (hasRegister) {
      operand(name(of.from[0]));
      text += of.offset || generation == Generation::Rdna4 ? " offset:" + offset
                                                           : "";
    } else if (of.offset == 0 && generation == Generation::Rdna3) {
      operand("null");
    } else {
      operand(offset);
    }
    if (generation == Generation::Rdna4) {
      printScopes(of.cache & 3, of.cache >> 2, "LOAD");
    } else if (of.cache) {
      text += isCdna() ? " glc" : "";
      text += !isCdna() && of.cache & 2 ? " glc" : "";
      text += !isCdna() && of.cache & 1 ? " dlc" : "";
    }
  }

  //===--------------------------------------------------------------------===//
  // Vector instructions
  //===--------------------------------------------------------------------===//

  void printHalfOfDual(const Instruction &half) {
    text += half.name;
    isFirst = true;
    operand(name(half.to));
    unsigned count = half.fromCount;
    if (half.semantics->flags & ReadsTo || half.from[2].type == Type::Mask) {
      count = 2;
    }
    for (unsigned i = 0; i < count; ++i) {
      operand(name(half.from[i]));
    }
  }

  void bitList(const char *word, uint8_t bits, unsigned count, uint8_t usual) {
    auto mask = uint8_t((1u << count) - 1);
    if ((bits & mask) == (usual & mask)) {
      return;
    }
    text += " " + std::string(word) + ":[";
    for (unsigned i = 0; i < count; ++i) {
      text += (i ? "," : "") + std::to_string(bits >> i & 1);
    }
    text += "]";
  }

  void printSelects(unsigned count) {
    if (of.encoding == Encoding::VOP3P) {
      if (of.name.starts_with("v_accvgpr")) {
        return;
      }
      if (of.semantics->flags & Matrix) {
        if (!isCdna()) {
          bitList("neg_lo", of.negate, count, 0);
          bitList("neg_hi", of.negateHigh, count, 0);
        }
        return;
      }
      bool isMixed = of.semantics->flags & MixedHalves;
      bitList("op_sel", of.select, count, 0);
      bitList("op_sel_hi", of.selectHigh, count, isMixed ? 0 : 0xff);
      if (!isMixed) {
        bitList("neg_lo", of.negate, count, 0);
        bitList("neg_hi", of.negateHigh, count, 0);
      }
      return;
    }
    if (of.name.starts_with("v_permlane")) {
      bitList("op_sel", of.select, 2, 0);
      return;
    }
    if (of.name == "v_cndmask_b16") {
      return; // LLVM shows its halves in the names of registers alone
    }
    // The result's bit comes last, but for a comparison that writes the exec
    // mask.
    bool hasResult = !of.name.starts_with("v_cmpx");
    auto bits = uint8_t((of.select & ((1u << count) - 1)) | (of.select >> 3 & 1)
                                                                << count);
    bitList("op_sel", bits, count + (hasResult ? 1 : 0), 0);
  }

  void printDpp() {
    const LaneMove &move = of.move;
    if (move.kind == LaneMove::Kind::Dpp8) {
      text += " dpp8:[";
      for (unsigned i = 0; i < 8; ++i) {
        text += (i ? "," : "") + std::to_string(move.selects >> (3 * i) & 7);
      }
      text += "]";
      text += move.fetchesInactive ? " fi:1" : "";
      return;
    }
    unsigned control = move.control, amount = control & 15;
    auto row = [&](const char *word) {
      text += std::string(" ") + word + ":" + std::to_string(amount);
    };
    switch (control >> 4) {
    case 0x10:
      row("row_shl");
      break;
    case 0x11:
      row("row_shr");
      break;
    case 0x12:
      row("row_ror");
      break;
    case 0x13:
      text += amount == 0   ? " wave_shl:1"
              : amount == 4 ? " wave_rol:1"
              : amount == 8 ? " wave_shr:1"
                            : " wave_ror:1";
      break;
    case 0x14:
      text += amount == 0   ? " row_mirror"
              : amount == 1 ? " row_half_mirror"
              : amount == 2 ? " row_bcast:15"
                            : " row_bcast:31";
      break;
    case 0x15:
      row(isCdna() ? "row_newbcast" : "row_share");
      break;
    case 0x16:
      row("row_xmask");
      break;
    default:
      text += " quad_perm:[";
      for (unsigned i = 0; i < 4; ++i) {
        text += (i ? "," : "") + std::to_string(control >> (2 * i) & 3);
      }
      text += "]";
    }
    text +=
        " row_mask:" + hex(move.rowMask) + " bank_mask:" + hex(move.bankMask);
    text += move.boundZero ? " bound_ctrl:1" : "";
    text += move.fetchesInactive ? " fi:1" : "";
  }

  void printSdwa(unsigned count) {
    constexpr const char *parts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                     "WORD_0", "WORD_1", "DWORD",  "?"};
    constexpr const char *unused[] = {"UNUSED_PAD", "UNUSED_SEXT",
                                      "UNUSED_PRESERVE", "?"};
    if (of.encoding != Encoding::VOPC) {
      text += std::string(" dst_sel:") + parts[of.move.toPart] +
              " dst_unused:" + unused[of.move.toUnused];
    }
    for (unsigned i = 0; i < count && i < 2; ++i) {
      text += " src" + std::to_string(i) + "_sel:" + parts[of.move.part[i]];
    }
  }

  const char *suffix() const {
    bool isAlone = of.name == "v_readfirstlane_b32" ||
                   of.name == "v_accvgpr_mov_b32" || of.name == "v_swap_b32" ||
                   of.name == "v_nop";
    switch (of.variant) {
    case Variant::E32:
      return isAlone ? "" : "_e32";
    case Variant::E64:
      return "_e64";
    case Variant::Dpp:
      return "_dpp";
    case Variant::E64Dpp:
      return "_e64_dpp";
    case Variant::Sdwa:
      return "_sdwa";
    case Variant::Plain:
      return "";
    }
    return "";
  }

  void printVector() {
    text = std::string(of.name) + suffix();
    if (of.semantics->flags & NoOperands) {
      return;
    }
    bool isHidden = of.semantics->flags & WritesExec && !isCdna();
    if (!isHidden) {
      operand(name(of.to));
    }
    if (of.semantics->carry == Type::Mask) {
      operand(name(of.carry));
    }
    unsigned count = std::min(of.fromCount, 3u);
    if (of.semantics->flags & ReadsTo) {
      --count;
    }
    for (unsigned i = 0; i < count; ++i) {
      operand(source(of, i));
    }
    bool isLong = of.encoding == Encoding::VOP3 ||
                  of.encoding == Encoding::VOP3P ||
                  of.variant == Variant::E64 || of.variant == Variant::E64Dpp;
    if (isLong) {
      printSelects(count);
    }
    text += of.clamps ? " clamp" : "";
    text += of.multiply == 1   ? " mul:2"
            : of.multiply == 2 ? " mul:4"
            : of.multiply == 3 ? " div:2"
                               : "";
    if (of.variant == Variant::Dpp || of.variant == Variant::E64Dpp) {
      printDpp();
    } else if (of.variant == Variant::Sdwa) {
      printSdwa(count);
    }
    if (of.semantics->flags & Matrix && isCdna()) {
      text += of.negateHigh ? " cbsz:" + std::to_string(of.negateHigh) : "";
      text += of.select ? " abid:" + std::to_string(of.select) : "";
      text += of.negate ? " blgp:" + std::to_string(of.negate) : "";
    }
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  void printShared() {
    text = of.name;
    if (of.semantics->to != Type::None) {
      operand(name(of.to));
    }
    for (const Operand *one : {&of.vectorAddress, &of.data[0], &of.data[1]}) {
      if (one->kind != Operand::Kind::None) {
        operand(name(*one));
      }
    }
    if (of.semantics->flags & TwoAddresses) {
      for (unsigned i = 0; i < 2; ++i) {
        if (of.offsets[i]) {
          text += " offset" + std::to_string(i) + ":" +
                  std::to_string(of.offsets[i]);
        }
      }
    } else if (of.offset) {
      text += " offset:" + std::to_string(of.offset);
    }
  }

  void printScopes(unsigned scope, unsigned hint, const char *kind) {
    if (hint && of.semantics->flags & Atomic) {
      text += hint & 1 ? " th:TH_ATOMIC_RETURN" : "";
      text += hint & 2 ? " th:TH_ATOMIC_NT" : "";
    } else if (hint) {
      constexpr const char *hints[] = {"RT",    "NT",    "HT",    "LU",
                                       "NT_RT", "RT_NT", "NT_HT", "RES"};
      text += std::string(" th:TH_") + kind + "_" + hints[hint & 7];
    }
    constexpr const char *scopes[] = {"", "SE", "DEV", "SYS"};
    if (scope) {
      text += std::string(" scope:SCOPE_") + scopes[scope];
    }
  }

  void printCache() {
    if (generation == Generation::Rdna4) {
      printScopes(of.cache & 3, of.cache >> 2,
                  of.semantics->flags & Store ? "STORE" : "LOAD");
      return;
    }
    constexpr const char *cdna[] = {" sc0", " nt", " sc1"},
                         *rdna[] = {" glc", " slc", " dlc"};
    for (unsigned i = 0; i < 3; ++i) {
      if (of.cache >> i & 1) {
        text += (isCdna() ? cdna : rdna)[i];
      }
    }
  }

  void printFlat() {
    text = of.name;
    if (!(of.semantics->flags & NoOperands)) {
      if (of.to.kind != Operand::Kind::None) {
        operand(name(of.to));
      }
      bool hasVector = of.vectorAddress.kind != Operand::Kind::None;
      operand(hasVector ? name(of.vectorAddress) : "off");
      if (of.data[0].kind != Operand::Kind::None) {
        operand(name(of.data[0]));
      }
      if (of.encoding != Encoding::FLAT) {
        bool hasScalar = of.scalarAddress.kind != Operand::Kind::None;
        operand(hasScalar ? name(of.scalarAddress) : "off");
      }
      text += of.offset ? " offset:" + std::to_string(of.offset) : "";
    }
    printCache();
  }

  void printBuffer() {
    text = of.name;
    if (!(of.semantics->flags & NoOperands)) {
      operand(
          name(of.data[0].kind != Operand::Kind::None ? of.data[0] : of.to));
      bool hasVector = of.vectorAddress.kind != Operand::Kind::None;
      operand(hasVector ? name(of.vectorAddress) : "off");
      operand(scalar(of.resource));
      operand(name(of.from[0]));
      text += of.hasIndex ? " idxen" : "";
      text += of.hasOffset ? " offen" : "";
      text += of.offset ? " offset:" + std::to_string(of.offset) : "";
    }
    printCache();
  }

  const Instruction &of;
  const Generation generation;
  std::string text;
  bool isFirst = true;
};

} // namespace

std::string textOf(const Instruction &instruction, Generation generation) {
  return Printer(instruction, generation).print();
}

} // namespace nereid::sim::amd
