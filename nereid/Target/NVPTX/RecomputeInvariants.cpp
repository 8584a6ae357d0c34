//===- RecomputeInvariants.cpp --------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/RecomputeInvariants.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Registers of 32 bits. A structure, what assembly returns, is held by the
/// elements that are taken out of it.
static unsigned wordsOf(const Value *value, const DataLayout &layout) {
  Type *type = value->getType();
  return type->isSized() && !type->isStructTy()
             ? divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32)
             : 0;
}

/// One instruction of the processor, or none, without effect and without a
/// trap: index arithmetic and comparisons.
static bool isCheap(const Instruction &instruction) {
  if (instruction.getType()->isVectorTy()) {
    return false;
  }
  switch (instruction.getOpcode()) {
  case Instruction::Mul:
    return instruction.getType()->getIntegerBitWidth() <= 32;
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::ICmp:
  case Instruction::GetElementPtr:
  case Instruction::Trunc:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::AddrSpaceCast:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// What a loop holds
//===----------------------------------------------------------------------===//

namespace {
/// Words of the values that a loop computes and carries, alive at once. What is
/// computed from indices alone counts for nothing: the assembler computes an
/// address right in front of its access.
class LivingValues {
public:
  LivingValues(const Loop &loop, const DataLayout &layout)
      : loop(loop), layout(layout) {}

  unsigned most();

private:
  using Values = DenseSet<const Value *>;

  void findIndices();
  bool isIndex(const Instruction &instruction) const;
  bool lives(const Value *value) const;
  bool visit(const BasicBlock &block);
  Values aliveBehind(const BasicBlock &block);

  const Loop &loop;
  const DataLayout &layout;
  /// In front of a block, without what its phis define.
  DenseMap<const BasicBlock *, Values> alive;
  Values escaping; ///< computed here, used after the loop
  Values indices;  ///< computed from carried integers and invariants
  unsigned found = 0;
};
} // namespace

static bool isIn(const Value *value, const Loop &loop) {
  auto *instruction = dyn_cast<Instruction>(value);
  return instruction && loop.contains(instruction);
}

bool LivingValues::isIndex(const Instruction &instruction) const {
  return isCheap(instruction) && all_of(instruction.operands(), [&](Value *v) {
           return !isIn(v, loop) || indices.contains(v) || isa<PHINode>(v);
         });
}

/// Blocks come in an order in which a value stands before its uses.
void LivingValues::findIndices() {
  for (const BasicBlock *block : loop.blocks()) {
    for (const Instruction &instruction : *block) {
      if (isIndex(instruction)) {
        indices.insert(&instruction);
      }
    }
  }
}

bool LivingValues::lives(const Value *value) const {
  return isIn(value, loop) && !indices.contains(value);
}

LivingValues::Values LivingValues::aliveBehind(const BasicBlock &block) {
  Values values;
  for (const BasicBlock *next : successors(&block)) {
    if (!loop.contains(next)) {
      values.insert(escaping.begin(), escaping.end());
      continue;
    }
    const Values &there = alive[next];
    values.insert(there.begin(), there.end());
    for (const PHINode &phi : next->phis()) {
      const Value *value = phi.getIncomingValueForBlock(&block);
      if (lives(value)) {
        values.insert(value);
      }
    }
  }
  return values;
}

/// Did what is alive in front of the block change?
bool LivingValues::visit(const BasicBlock &block) {
  Values values = aliveBehind(block);
  unsigned words = 0;
  for (const Value *value : values) {
    words += wordsOf(value, layout);
  }
  found = std::max(found, words);
  for (const Instruction &instruction : reverse(block)) {
    if (values.erase(&instruction)) {
      words -= wordsOf(&instruction, layout);
    }
    if (isa<PHINode>(instruction)) {
      continue;
    }
    for (const Value *operand : instruction.operands()) {
      if (lives(operand) && values.insert(operand).second) {
        words += wordsOf(operand, layout);
      }
    }
    found = std::max(found, words);
  }
  Values &before = alive[&block];
  bool changed = before.size() != values.size();
  before = std::move(values);
  return changed;
}

unsigned LivingValues::most() {
  findIndices();
  for (const BasicBlock *block : loop.blocks()) {
    for (const Instruction &instruction : *block) {
      if (!indices.contains(&instruction) &&
          any_of(instruction.users(),
                 [&](const User *user) { return !isIn(user, loop); })) {
        escaping.insert(&instruction);
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock *block : reverse(loop.blocks())) {
      changed |= visit(*block);
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// What can be computed again
//===----------------------------------------------------------------------===//

namespace {
class LoopInvariants {
public:
  LoopInvariants(Loop &loop, const DataLayout &layout);

  /// Words that are held for the loop; `ofSeveral`: without what the assembler
  /// computes again by itself, an invariant of one instruction.
  unsigned words(bool ofSeveral = false) const;
  /// Computes again what costs the fewest instructions for a register. False
  /// where nothing would free any.
  bool recomputeOne();

private:
  /// An invariant, and the operands that are computed only for it.
  struct Recipe {
    SmallVector<Instruction *> instructions; ///< each after its users
    double freed = 0;                        ///< words
    unsigned length = 0;                     ///< instructions of the processor
    double cost = 0;                         ///< the same for all users
  };

  Recipe recipeOf(Instruction *invariant) const;
  double wordsFreedBy(ArrayRef<Instruction *> instructions) const;
  unsigned usersAmongAddresses(const Value *value) const;
  void recompute(Instruction *invariant);
  void hold(Value *value);

  Loop &loop;
  const DataLayout &layout;
  SetVector<Instruction *> held;         ///< in front of the loop for it
  DenseSet<const Instruction *> feeding; ///< `held`, by cheap instructions
};
} // namespace

LoopInvariants::LoopInvariants(Loop &loop, const DataLayout &layout)
    : loop(loop), layout(layout) {
  for (BasicBlock *block : loop.blocks()) {
    for (Instruction &instruction : *block) {
      auto *phi = dyn_cast<PHINode>(&instruction);
      for (Use &use : instruction.operands()) {
        if (!phi || loop.contains(phi->getIncomingBlock(use))) {
          hold(use);
        }
      }
    }
  }
}

void LoopInvariants::hold(Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || loop.contains(instruction) || !held.insert(instruction)) {
    return;
  }
  SmallVector<const Instruction *> work = {instruction};
  while (!work.empty()) {
    const Instruction *next = work.pop_back_val();
    if (isCheap(*next) && feeding.insert(next).second) {
      for (const Value *operand : next->operands()) {
        if (auto *source = dyn_cast<Instruction>(operand)) {
          work.push_back(source);
        }
      }
    }
  }
}

unsigned LoopInvariants::words(bool ofSeveral) const {
  unsigned words = 0;
  for (Instruction *invariant : held) {
    if (!ofSeveral || !isCheap(*invariant) || recipeOf(invariant).length > 1) {
      words += wordsOf(invariant, layout);
    }
  }
  return words;
}

unsigned LoopInvariants::usersAmongAddresses(const Value *value) const {
  return count_if(value->users(), [&](const User *user) {
    auto *instruction = dyn_cast<Instruction>(user);
    return instruction && feeding.contains(instruction);
  });
}

/// An operand that several addresses are computed from is held once for all.
double
LoopInvariants::wordsFreedBy(ArrayRef<Instruction *> instructions) const {
  double freed = wordsOf(instructions.front(), layout);
  SmallPtrSet<const Value *, 4> wanted;
  for (Instruction *instruction : instructions) {
    for (const Value *operand : instruction->operands()) {
      auto *source = dyn_cast<Instruction>(operand);
      if (source && !held.contains(source) &&
          !is_contained(instructions, source) && wanted.insert(source).second) {
        freed -= double(wordsOf(source, layout)) /
                 std::max(usersAmongAddresses(source), 1u);
      }
    }
  }
  return freed;
}

LoopInvariants::Recipe LoopInvariants::recipeOf(Instruction *invariant) const {
  Recipe recipe;
  recipe.instructions = {invariant};
  recipe.freed = wordsFreedBy(recipe.instructions);
  for (unsigned i = 0; i < recipe.instructions.size(); ++i) {
    for (Value *operand : recipe.instructions[i]->operands()) {
      auto *source = dyn_cast<Instruction>(operand);
      if (!source || !isCheap(*source) || held.contains(source) ||
          usersAmongAddresses(source) != 1) {
        continue;
      }
      recipe.instructions.push_back(source);
      double freed = wordsFreedBy(recipe.instructions);
      if (freed < recipe.freed) {
        recipe.instructions.pop_back();
      } else {
        recipe.freed = freed;
      }
    }
  }
  unsigned users = 0;
  for (const Use &use : invariant->uses()) {
    users += isIn(use.getUser(), loop);
  }
  recipe.length = count_if(recipe.instructions,
                           [](const Instruction *i) { return !i->isCast(); });
  recipe.cost = double(users) * std::max(recipe.length, 1u);
  return recipe;
}

bool LoopInvariants::recomputeOne() {
  Recipe best;
  for (Instruction *invariant : held) {
    if (!isCheap(*invariant)) {
      continue;
    }
    Recipe recipe = recipeOf(invariant);
    if (recipe.freed > 0 &&
        (best.instructions.empty() ||
         recipe.cost * best.freed < best.cost * recipe.freed)) {
      best = std::move(recipe);
    }
  }
  for (Instruction *instruction : best.instructions) {
    recompute(instruction);
  }
  return !best.instructions.empty();
}

/// Each user in the loop gets a copy right in front of it, so that no register
/// holds it for longer.
void LoopInvariants::recompute(Instruction *invariant) {
  held.remove(invariant);
  DenseMap<Instruction *, Instruction *> copies; // by the place
  for (Use &use : make_early_inc_range(invariant->uses())) {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    if (!loop.contains(user) ||
        (phi && !loop.contains(phi->getIncomingBlock(use)))) {
      continue;
    }
    Instruction *place =
        phi ? phi->getIncomingBlock(use)->getTerminator() : user;
    Instruction *&copy = copies[place];
    if (!copy) {
      copy = invariant->clone();
      copy->insertBefore(place->getIterator());
    }
    use.set(copy);
  }
  for (Value *operand : invariant->operands()) {
    hold(operand);
  }
  if (invariant->use_empty()) {
    feeding.erase(invariant);
    invariant->eraseFromParent();
  }
}

//===----------------------------------------------------------------------===//

/// What ptxas works with besides: an address and its mask for some accesses
/// ahead. With 12 the masked product of 128x256x64 spills nothing, with 8 it
/// does (docs/decisions/Registers.md).
static constexpr unsigned spare = 20;

bool nereid::nvptx::recomputeInvariants(Function &function,
                                        unsigned registers) {
  if (function.isDeclaration()) {
    return false;
  }
  const DataLayout &layout = function.getDataLayout();
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) {
      continue;
    }
    unsigned own = LivingValues(*loop, layout).most();
    LoopInvariants invariants(*loop, layout);
    bool fits = own + invariants.words(/*ofSeveral=*/true) <= registers;
    if (own > registers || fits) {
      continue;
    }
    while (own + invariants.words() + spare > registers &&
           invariants.recomputeOne()) {
      changed = true;
    }
  }
  return changed;
}
