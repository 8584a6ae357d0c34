//===- ProductWaits.cpp - Results of products that are not there ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/ProductWaits.h"

#include "nereid/Target/AMDGPU/OpcodeNames.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineInstrBundle.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSchedule.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

#include <algorithm>
#include <optional>

using namespace nereid;
using namespace nereid::amdgpu;

namespace {

class ProductWaits : public llvm::MachineFunctionPass {
public:
  static char ID;
  ProductWaits() : MachineFunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Waits for products"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &function) override;

private:
  using Iterator = llvm::MachineBasicBlock::instr_iterator;

  bool isProduct(const llvm::MachineInstr &instruction) const {
    return instructions->getName(instruction.getOpcode()).starts_with("V_MFMA");
  }
  bool touches(const llvm::MachineInstr &instruction,
               llvm::Register result) const;
  unsigned states(const llvm::MachineInstr &instruction) const;
  unsigned wanted(const llvm::MachineInstr &product) const;
  void insert(llvm::MachineInstr &before, unsigned count);
  void follow(llvm::MachineInstr &product);

  const llvm::TargetInstrInfo *instructions = nullptr;
  const llvm::TargetRegisterInfo *registers = nullptr;
  llvm::TargetSchedModel model;
  unsigned nop = 0; ///< the opcode
  bool hasChanged = false;
};

char ProductWaits::ID = 0;

/// A product that adds to the whole result takes it as it comes.
bool ProductWaits::touches(const llvm::MachineInstr &instruction,
                           llvm::Register result) const {
  constexpr unsigned to = 0, sums = 3;
  bool adds = isProduct(instruction);
  for (const llvm::MachineOperand &operand : instruction.explicit_operands()) {
    if (!operand.isReg() || !operand.getReg().isPhysical() ||
        !registers->regsOverlap(operand.getReg(), result)) {
      continue;
    }
    unsigned number = operand.getOperandNo();
    if (!adds || (number != to && number != sums) ||
        operand.getReg() != result) {
      return true;
    }
  }
  return false;
}

unsigned ProductWaits::states(const llvm::MachineInstr &instruction) const {
  if (instruction.isMetaInstruction() || instruction.isInlineAsm() ||
      instruction.isBundle()) {
    return 0;
  }
  return instruction.getOpcode() == nop
             ? unsigned(instruction.getOperand(0).getImm()) + 1
             : 1;
}

/// Wait states until its result may be touched: the rows of gfx90a, gfx942 and
/// gfx950 in LLVM's GCNHazardRecognizer. A product of f32 by the plain unit is
/// there one earlier, but for gfx90a.
unsigned ProductWaits::wanted(const llvm::MachineInstr &product) const {
  unsigned passes = model.computeInstrLatency(&product);
  llvm::StringRef name = instructions->getName(product.getOpcode());
  llvm::StringRef target = product.getMF()->getSubtarget().getCPU();
  size_t at = name.find("F32_", name.find('X'));
  bool isPlain = at != llvm::StringRef::npos && llvm::isDigit(name[at - 1]);
  if (target == "gfx90a") {
    return passes + 3;
  }
  if (isPlain) {
    return passes + 2;
  }
  return passes + (target == "gfx950" && passes > 2 ? 4 : 3);
}

void ProductWaits::insert(llvm::MachineInstr &before, unsigned count) {
  constexpr unsigned most = 8;
  auto at = llvm::getBundleStart(before.getIterator());
  while (count) {
    unsigned some = std::min(count, most);
    llvm::BuildMI(*before.getParent(), at, llvm::DebugLoc(),
                  instructions->get(nop))
        .addImm(some - 1);
    count -= some;
  }
  hasChanged = true;
}

void ProductWaits::follow(llvm::MachineInstr &product) {
  unsigned wanted = this->wanted(product);
  llvm::Register result = product.getOperand(0).getReg();
  // How few wait states there were since the product when a block begins.
  llvm::DenseMap<llvm::MachineBasicBlock *, unsigned> least;
  llvm::SmallVector<llvm::MachineBasicBlock *> left;
  auto walk = [&](llvm::MachineBasicBlock &block, Iterator at, unsigned have) {
    for (; at != block.instr_end(); ++at) {
      if (!at->isMetaInstruction() && !at->isBundle() && touches(*at, result)) {
        // Within a block LLVM has counted, and knows the smaller number.
        if (&block != product.getParent() || least.contains(&block)) {
          insert(*at, wanted - have);
        }
        return;
      }
      have += states(*at);
      if (have >= wanted) {
        return;
      }
    }
    for (llvm::MachineBasicBlock *next : block.successors()) {
      auto [found, isNew] = least.try_emplace(next, have);
      if (isNew || have < found->second) {
        found->second = have;
        left.push_back(next);
      }
    }
  };
  walk(*product.getParent(), std::next(Iterator(product)), 0);
  while (!left.empty()) {
    llvm::MachineBasicBlock *block = left.pop_back_val();
    walk(*block, block->instr_begin(), least.at(block));
  }
}

bool ProductWaits::runOnMachineFunction(llvm::MachineFunction &function) {
  const llvm::TargetSubtargetInfo &subtarget = function.getSubtarget();
  instructions = subtarget.getInstrInfo();
  registers = subtarget.getRegisterInfo();
  llvm::SmallVector<llvm::MachineInstr *> products;
  for (llvm::MachineBasicBlock &block : function) {
    for (llvm::MachineInstr &instruction : block.instrs()) {
      if (isProduct(instruction)) {
        products.push_back(&instruction);
      }
    }
  }
  auto found =
      products.empty() ? std::nullopt : findOpcode(*instructions, "S_NOP");
  if (!found) {
    return false;
  }
  nop = *found;
  model.init(&subtarget);
  hasChanged = false;
  // The last of a block first: what it waits is enough for those before.
  for (llvm::MachineInstr *product : llvm::reverse(products)) {
    follow(*product);
  }
  return hasChanged;
}

} // namespace

llvm::Pass *amdgpu::createProductWaits() { return new ProductWaits(); }
