//===- LlvmPtx.cpp - Instructions that LLVM can print ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each instruction that the installed LLVM defines for NVPTX: what its
// printer makes of it, and whether the simulated GPU takes that. A line each:
//
//   fma.rn.f32 %r1, %r2, %r3, %r4;<tab>simulated
//   tex.1d... [%rd1, {%r2}];<tab>refused
//
// Definitions do not say which numbers their operands may have: registers come
// from the class that is named, other operands get some numbers in turn, until
// the simulator takes what is printed. The printer may not survive a number
// that means nothing to it, so another process tries them, and after its end
// the next one goes on.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Launch.h"
#include "nereid/Sim/Ptx.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetMC();

namespace {

struct Printer {
  const Target *target;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembler;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCInstPrinter> printer;

  Printer() {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    Triple triple("nvptx64-nvidia-cuda");
    std::string error;
    target = TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    assembler.reset(
        target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(triple, "sm_90a", "+ptx88"));
    printer.reset(target->createMCInstPrinter(triple, 0, *assembler,
                                              *instructions, *registers));
  }

  /// Virtual registers have their class in the upper four bits, by the order of
  /// NVPTXInstPrinter::printRegName: %p, %rs, %r, %rd, ... %rq.
  static unsigned classBits(StringRef name) {
    return name == "B1"     ? 1
           : name == "B16"  ? 2
           : name == "B64"  ? 4
           : name == "B128" ? 7
                            : 3;
  }

  /// `immediate` for operands that are declared as numbers, `flag` for those
  /// that are undeclared: modifiers, parts of addresses.
  std::string print(unsigned opcode, int64_t immediate, int64_t flag) const {
    MCInst instruction;
    instruction.setOpcode(opcode);
    unsigned number = 0;
    for (const MCOperandInfo &operand : instructions->get(opcode).operands()) {
      ++number;
      if (operand.OperandType == MCOI::OPERAND_REGISTER) {
        StringRef name = registers->getRegClassName(
            &registers->getRegClass(operand.RegClass));
        instruction.addOperand(
            MCOperand::createReg(classBits(name) << 28 | number));
      } else {
        bool isNumber = operand.OperandType == MCOI::OPERAND_IMMEDIATE;
        instruction.addOperand(
            MCOperand::createImm(isNumber ? immediate : flag));
      }
    }
    std::string text;
    raw_string_ostream stream(text);
    printer->printInst(&instruction, 0, "", *subtarget, stream);
    return text;
  }
};

} // namespace

/// An address that is a number becomes one in a register; a label, as a number,
/// becomes one of the kernel. The pragma says what is loaded, and does nothing.
static std::string asWritten(std::string text) {
  if (size_t pragma = text.find(".pragma"); pragma != std::string::npos) {
    size_t end = text.find('\n', pragma);
    text.erase(pragma, end == std::string::npos ? end : end - pragma + 1);
  }
  for (size_t at = text.find('['); at != std::string::npos;
       at = text.find('[', at + 1)) {
    size_t end = text.find_first_not_of("0123456789", at + 1);
    if (end != at + 1 && end != std::string::npos) {
      text.replace(at + 1, end - at - 1, "%rd63");
    }
  }
  if (size_t branch = text.find("bra"); branch != std::string::npos) {
    size_t digit = text.find_first_of("0123456789", branch);
    bool isTarget = digit != std::string::npos && text.back() == ';' &&
                    text.find('%', branch) == std::string::npos;
    if (isTarget) {
      text.replace(digit, text.size() - digit, "$L_end;");
    }
  }
  for (char &c : text) {
    c = c == '\n' || c == '\t' ? ' ' : c;
  }
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// A declaration of the registers of this class that the text has.
static std::string declared(const std::string &text, const std::string &type,
                            const std::string &prefix) {
  unsigned count = 1;
  for (size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix, at + 1)) {
    const char *digits = text.c_str() + at + prefix.size();
    count = std::max(count, unsigned(std::strtoul(digits, nullptr, 10)) + 1);
  }
  return ".reg ." + type + " " + prefix + "<" + std::to_string(count) + ">;\n";
}

static bool isSimulated(const std::string &text) {
  std::string ptx = ".version 8.8\n.target sm_90a\n.address_size 64\n"
                    ".visible .entry k()\n{\n" +
                    declared(text, "pred", "%p") +
                    declared(text, "b16", "%rs") + declared(text, "b32", "%r") +
                    declared(text, "b64", "%rd") + text +
                    "\n$L_end:\nret;\n}\n";
  auto module = nereid::sim::parsePtx(ptx);
  return module.ok() &&
         nereid::sim::decode(**module, (*module)->entries[0], /*globals=*/0)
             .ok();
}

static void tell(const std::string &text, bool isTaken) {
  std::printf("%s\t%s\n", text.c_str(), isTaken ? "simulated" : "refused");
  std::fflush(stdout);
}

/// In this process; the last line counts.
static void tryNumbers(const Printer &printer, unsigned opcode) {
  std::string first = asWritten(printer.print(opcode, 0, 0));
  if (first.empty() || first.back() != ';') {
    return; // no instruction, but a part of one or a directive
  }
  tell(first, false);
  std::set<std::string> seen;
  static constexpr int64_t flags[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16};
  static constexpr int64_t numbers[] = {0, 1, 2, 4, 8, 16, 31, 32, 64, 128};
  for (int64_t flag : flags) {
    for (int64_t number : numbers) {
      std::string text = asWritten(printer.print(opcode, number, flag));
      if (seen.insert(text).second && isSimulated(text)) {
        return tell(text, true);
      }
    }
  }
}

/// Tries the instructions from `first` on, in another process, and prints what
/// it said last of each. Returns the first that is left: after the one that
/// the process did not survive.
static unsigned tryFrom(const Printer &printer, unsigned first) {
  int ends[2];
  if (::pipe(ends) != 0) {
    std::perror("pipe");
    std::exit(1);
  }
  std::fflush(stdout);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 2);
    for (unsigned i = first; i < printer.instructions->getNumOpcodes(); ++i) {
      std::printf("#%u\n", i);
      std::fflush(stdout);
      MCInst instruction;
      instruction.setOpcode(i);
      if (printer.printer->getMnemonic(instruction).first) {
        tryNumbers(printer, i);
      }
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::FILE *said = ::fdopen(ends[0], "r");
  std::string last;
  unsigned next = first + 1;
  char *line = nullptr;
  size_t room = 0;
  while (::getline(&line, &room, said) > 0) {
    if (*line == '#') {
      std::fputs(last.c_str(), stdout);
      last.clear();
      next = unsigned(std::strtoul(line + 1, nullptr, 10)) + 1;
    } else {
      last = line;
    }
  }
  std::fputs(last.c_str(), stdout);
  std::free(line);
  std::fclose(said);
  ::waitpid(child, nullptr, 0);
  return next;
}

int main() {
  Printer printer;
  for (unsigned next = 0; next < printer.instructions->getNumOpcodes();) {
    next = tryFrom(printer, next);
  }
  return 0;
}
