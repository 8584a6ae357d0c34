//===- ConstantOperands.cpp - Constants of loops in memory ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ConstantOperands.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// So many constants stay in registers beside what a loop computes.
static constexpr size_t constantsInRegisters = 8;

/// The same in all lanes, and not what a register is cleared or set to.
static bool isNumber(Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  return constant && type && !type->getElementType()->isIntegerTy(1) &&
         !type->getElementType()->isPointerTy() && constant->getSplatValue() &&
         !constant->isNullValue() && !constant->isAllOnesValue() &&
         !isa<UndefValue>(constant);
}

/// The operand of `user` that an instruction takes from memory, if that is a
/// constant; null otherwise.
static Use *memoryOperand(Instruction &user) {
  if (auto *fma = dyn_cast<IntrinsicInst>(&user);
      fma && fma->getIntrinsicID() == Intrinsic::fma) {
    for (unsigned i : {2, 1, 0}) { // of two constants the sum's
      if (isNumber(fma->getArgOperand(i))) {
        return &fma->getArgOperandUse(i);
      }
    }
    return nullptr;
  }
  switch (user.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FMul:
  case Instruction::Add:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::FSub:
  case Instruction::FDiv:
  case Instruction::Sub:
    return isNumber(user.getOperand(1)) ? &user.getOperandUse(1) : nullptr;
  default:
    return nullptr;
  }
}

static void putConstantsInMemory(BasicBlock &loop,
                                 DenseMap<Constant *, GlobalVariable *> &kept) {
  MapVector<Constant *, unsigned> uses;
  for (Instruction &op : loop) {
    if (isa<PHINode, ShuffleVectorInst>(op) || op.isShift()) {
      continue;
    }
    for (Value *operand : op.operand_values()) {
      if (isNumber(operand)) {
        ++uses[cast<Constant>(operand)];
      }
    }
  }
  if (uses.size() <= constantsInRegisters) {
    return;
  }
  Module &module = *loop.getModule();
  for (Instruction &op : make_early_inc_range(loop)) {
    Use *use = memoryOperand(op);
    if (!use || uses.lookup(cast<Constant>(use->get())) != 1) {
      continue;
    }
    auto *constant = cast<Constant>(use->get());
    GlobalVariable *&variable = kept[constant];
    Align align(PowerOf2Ceil(
        module.getDataLayout().getTypeStoreSize(constant->getType())));
    if (!variable) {
      variable = new GlobalVariable(module, constant->getType(),
                                    /*isConstant=*/true,
                                    GlobalValue::InternalLinkage, constant);
      variable->setExternallyInitialized(true); // is not looked into
      variable->setAlignment(align);
    }
    IRBuilder<> builder(&op);
    use->set(builder.CreateAlignedLoad(constant->getType(), variable, align));
  }
}

void nereid::cpu::putConstantsInMemory(Module &module) {
  DenseMap<Constant *, GlobalVariable *> kept;
  for (Function &function : module) {
    for (BasicBlock &block : function) {
      if (is_contained(successors(&block), &block)) {
        ::putConstantsInMemory(block, kept);
      }
    }
  }
}
