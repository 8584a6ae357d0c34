//===- ScratchOffsets.cpp - Offsets that no field holds -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/ScratchOffsets.h"

#include "nereid/Target/AMDGPU/OpcodeNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/LiveRegUnits.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nereid;
using namespace nereid::amdgpu;

namespace {

class ScratchOffsets : public llvm::MachineFunctionPass {
public:
  static char ID;
  ScratchOffsets() : MachineFunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Scratch offsets"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &function) override;

private:
  const llvm::MachineOperand *
  offsetBeyondField(const llvm::MachineInstr &instruction) const;
  llvm::MCRegister freeScalar(const llvm::LiveRegUnits &live) const;
  void move(llvm::MachineInstr &access, const llvm::MachineOperand &offset,
            llvm::MCRegister base);

  const llvm::TargetInstrInfo *instructions = nullptr;
  const llvm::TargetRegisterInfo *registers = nullptr;
  const llvm::MachineRegisterInfo *uses = nullptr;
  int64_t most = 0; ///< the largest offset that the field holds, in bytes
};

char ScratchOffsets::ID = 0;

/// The offset is an access's first number, before the cache's bits.
const llvm::MachineOperand *
ScratchOffsets::offsetBeyondField(const llvm::MachineInstr &instruction) const {
  if (!instructions->getName(instruction.getOpcode()).starts_with("SCRATCH_")) {
    return nullptr;
  }
  for (const llvm::MachineOperand &operand : instruction.explicit_operands()) {
    if (operand.isImm()) {
      return operand.getImm() > most ? &operand : nullptr;
    }
  }
  return nullptr;
}

/// Null where every scalar register is in use.
llvm::MCRegister
ScratchOffsets::freeScalar(const llvm::LiveRegUnits &live) const {
  for (unsigned i = 1; i < registers->getNumRegs(); ++i) {
    llvm::StringRef name = registers->getName(i);
    bool isOne = name.consume_front("SGPR") && !name.contains('_');
    if (isOne && live.available(i) && !uses->isReserved(i)) {
      return i;
    }
  }
  return {};
}

void ScratchOffsets::move(llvm::MachineInstr &access,
                          const llvm::MachineOperand &offset,
                          llvm::MCRegister base) {
  // The form without an address becomes that with a scalar one.
  llvm::StringRef name = instructions->getName(access.getOpcode());
  bool hasNoAddress = name.consume_back("_ST");
  auto opcode = findOpcode(*instructions, (name + "_SADDR").str());
  auto copy = findOpcode(*instructions, "S_MOV_B32");
  if (!base || !hasNoAddress || !opcode || !copy) {
    llvm::report_fatal_error("an offset of scratch memory is beyond the "
                             "instruction's field, and no register is free");
  }
  llvm::MachineBasicBlock &block = *access.getParent();
  llvm::MachineFunction &function = *block.getParent();
  const llvm::DebugLoc &line = access.getDebugLoc();
  int64_t rest = offset.getImm() - most - 1;
  llvm::BuildMI(block, access, line, instructions->get(*copy), base)
      .addImm(most + 1);
  llvm::MachineInstr *moved = function.CreateMachineInstr(
      instructions->get(*opcode), line, /*NoImplicit=*/true);
  block.insert(access.getIterator(), moved);
  llvm::MachineInstrBuilder builder(function, moved);
  for (const llvm::MachineOperand &operand : access.explicit_operands()) {
    if (&operand == &offset) {
      builder.addReg(base, llvm::RegState::Kill).addImm(rest);
    } else {
      builder.add(operand);
    }
  }
  builder.copyImplicitOps(access).cloneMemRefs(access);
  access.eraseFromParent();
}

bool ScratchOffsets::runOnMachineFunction(llvm::MachineFunction &function) {
  const llvm::TargetSubtargetInfo &subtarget = function.getSubtarget();
  instructions = subtarget.getInstrInfo();
  registers = subtarget.getRegisterInfo();
  uses = &function.getRegInfo();
  // Fields of 13 and 24 bits with a sign.
  most = subtarget.getCPU().starts_with("gfx12") ? (1 << 23) - 1 : 4095;
  bool hasChanged = false;
  for (llvm::MachineBasicBlock &block : function) {
    if (llvm::none_of(block, [&](const llvm::MachineInstr &instruction) {
          return offsetBeyondField(instruction);
        })) {
      continue;
    }
    llvm::LiveRegUnits live(*registers);
    live.addLiveOuts(block);
    for (llvm::MachineInstr &instruction :
         llvm::make_early_inc_range(llvm::reverse(block))) {
      live.stepBackward(instruction);
      if (const auto *offset = offsetBeyondField(instruction)) {
        move(instruction, *offset, freeScalar(live));
        hasChanged = true;
      }
    }
  }
  return hasChanged;
}

} // namespace

llvm::Pass *amdgpu::createScratchOffsets() { return new ScratchOffsets(); }
