//===- FenceWaits.cpp - Waits that fences ask for -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/FenceWaits.h"

#include "nereid/Target/AMDGPU/OpcodeNames.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using namespace nereid;
using namespace nereid::amdgpu;

static constexpr llvm::StringRef softSuffix = "_soft";

namespace {

/// Counters of what is on its way, one bit each. Which of them a target has,
/// and what stands in one together, is said by Counting.
enum Counter : unsigned { Loads = 1, Stores = 2, Lds = 4, Scalars = 8 };

/// What instructions of a target add to its counters, and wait for.
class Counting {
public:
  explicit Counting(const llvm::MachineFunction &function)
      : instructions(*function.getSubtarget().getInstrInfo()),
        isCdna(function.getSubtarget().getCPU().starts_with("gfx9")),
        hasOneWait(isCdna ||
                   function.getSubtarget().getCPU().starts_with("gfx11")) {}

  llvm::StringRef name(const llvm::MachineInstr &instruction) const {
    return instructions.getName(instruction.getOpcode());
  }
  bool isWait(const llvm::MachineInstr &instruction) const {
    return name(instruction).starts_with("S_WAIT");
  }
  /// The counters that are 0 after it. A wait for more than 0 leaves
  /// something on its way.
  unsigned zeros(const llvm::MachineInstr &instruction) const;
  /// The counters that it adds to.
  unsigned added(const llvm::MachineInstr &instruction) const;

private:
  /// S_WAITCNT has the counters of vector memory and of LDS with scalar loads.
  unsigned zerosOfOneWait(unsigned fields) const;

  const llvm::TargetInstrInfo &instructions;
  bool isCdna;     ///< stores are counted with the loads
  bool hasOneWait; ///< scalar loads are counted with LDS
};

} // namespace

unsigned Counting::zerosOfOneWait(unsigned fields) const {
  unsigned vectors = isCdna ? (fields & 0xf) | (fields >> 14) : fields >> 10;
  unsigned lds = isCdna ? (fields >> 8) & 0xf : (fields >> 4) & 0x3f;
  return (vectors == 0 ? Loads : 0) | (lds == 0 ? Lds : 0);
}

unsigned Counting::zeros(const llvm::MachineInstr &instruction) const {
  llvm::StringRef name = this->name(instruction);
  if (!name.starts_with("S_WAIT")) {
    return 0;
  }
  name.consume_back(softSuffix);
  if (name == "S_WAITCNT") {
    return zerosOfOneWait(instruction.getOperand(0).getImm());
  }
  if (name == "S_WAITCNT_VSCNT") {
    return instruction.getOperand(1).getImm() == 0 ? Stores : 0;
  }
  constexpr unsigned ofLds = 0x3f, vectorShift = 8;
  for (auto [both, vectors] : {std::pair("S_WAIT_LOADCNT_DSCNT", Loads),
                               std::pair("S_WAIT_STORECNT_DSCNT", Stores)}) {
    if (name == both) {
      unsigned fields = instruction.getOperand(0).getImm();
      return (fields >> vectorShift ? 0 : vectors) | (fields & ofLds ? 0 : Lds);
    }
  }
  for (auto [one, counter] :
       {std::pair("S_WAIT_LOADCNT", Loads), std::pair("S_WAIT_DSCNT", Lds),
        std::pair("S_WAIT_STORECNT", Stores),
        std::pair("S_WAIT_KMCNT", Scalars)}) {
    if (name == one) {
      return instruction.getOperand(0).getImm() == 0 ? counter : 0;
    }
  }
  return 0;
}

unsigned Counting::added(const llvm::MachineInstr &instruction) const {
  llvm::StringRef name = this->name(instruction);
  if (name.starts_with("DS_")) {
    return Lds;
  }
  if (name.starts_with("S_LOAD_") || name.starts_with("S_BUFFER_LOAD_")) {
    return hasOneWait ? Lds : Scalars;
  }
  bool isFlat = name.starts_with("FLAT_");
  bool isVector = isFlat || name.starts_with("GLOBAL_") ||
                  name.starts_with("BUFFER_") || name.starts_with("SCRATCH_");
  // Cache invalidations are counted on gfx12 alone.
  bool isForgotten = name.contains("_INV") && name != "GLOBAL_INV";
  if (!isVector || isForgotten) {
    return 0;
  }
  // Atomics with a result are counted as loads.
  bool stores = instruction.mayStore() || name.contains("_WB");
  bool isStore = stores && instruction.getNumExplicitDefs() == 0;
  return (isStore && !isCdna ? Stores : Loads) | (isFlat ? Lds : 0);
}

/// The waits in front of each instruction, or of the block's end (null), as
/// copies.
struct FenceWaits::Notes {
  using Waits = llvm::SmallVector<llvm::MachineInstr *, 2>;
  llvm::DenseMap<const llvm::MachineInstr *, Waits> before;
  llvm::DenseMap<const llvm::MachineBasicBlock *, Waits> atEnd;
};

namespace {

class NoteWaits : public llvm::MachineFunctionPass {
public:
  static char ID;
  explicit NoteWaits(FenceWaits::Notes &notes)
      : MachineFunctionPass(ID), notes(notes) {}
  llvm::StringRef getPassName() const override { return "Waits of fences"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &function) override;

private:
  FenceWaits::Notes &notes;
};

class RestoreWaits : public llvm::MachineFunctionPass {
public:
  static char ID;
  explicit RestoreWaits(FenceWaits::Notes &notes)
      : MachineFunctionPass(ID), notes(notes) {}
  llvm::StringRef getPassName() const override {
    return "Waits of fences that are missing";
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &function) override;

private:
  using Waits = FenceWaits::Notes::Waits;

  /// What is on its way at the end of a block, if `pending` is at its begin.
  /// With `inserts`, what is missing is put in, and the other notes are freed.
  unsigned walk(llvm::MachineBasicBlock &block, unsigned pending,
                const Counting &counting, bool inserts);
  /// The same for the waits in front of an instruction.
  unsigned ask(llvm::MachineBasicBlock &block,
               llvm::MachineBasicBlock::instr_iterator at, const Waits &waits,
               unsigned pending, const Counting &counting, bool inserts);

  FenceWaits::Notes &notes;
  bool hasChanged = false;
};

char NoteWaits::ID = 0;
char RestoreWaits::ID = 0;

} // namespace

bool NoteWaits::runOnMachineFunction(llvm::MachineFunction &function) {
  notes.before.clear();
  notes.atEnd.clear();
  Counting counting(function);
  for (llvm::MachineBasicBlock &block : function) {
    FenceWaits::Notes::Waits waits;
    for (llvm::MachineInstr &instruction : block.instrs()) {
      if (counting.name(instruction).ends_with(softSuffix)) {
        if (counting.zeros(instruction)) {
          waits.push_back(function.CloneMachineInstr(&instruction));
        }
      } else if (!waits.empty() && !instruction.isMetaInstruction() &&
                 !counting.isWait(instruction)) {
        notes.before[&instruction] = std::move(waits);
        waits.clear();
      }
    }
    if (!waits.empty()) {
      notes.atEnd[&block] = std::move(waits);
    }
  }
  return false;
}

/// As one that LLVM keeps.
static void put(llvm::MachineBasicBlock &block,
                llvm::MachineBasicBlock::instr_iterator at,
                llvm::MachineInstr &wait) {
  const llvm::TargetInstrInfo &instructions =
      *block.getParent()->getSubtarget().getInstrInfo();
  llvm::StringRef name = instructions.getName(wait.getOpcode());
  name.consume_back(softSuffix);
  wait.setDesc(instructions.get(*findOpcode(instructions, name)));
  block.insert(at, &wait);
}

unsigned RestoreWaits::ask(llvm::MachineBasicBlock &block,
                           llvm::MachineBasicBlock::instr_iterator at,
                           const Waits &waits, unsigned pending,
                           const Counting &counting, bool inserts) {
  llvm::MachineFunction &function = *block.getParent();
  for (llvm::MachineInstr *wait : waits) {
    unsigned zeros = counting.zeros(*wait);
    if (inserts) {
      bool isMissing = pending & zeros;
      isMissing ? put(block, at, *wait) : function.deleteMachineInstr(wait);
      hasChanged |= isMissing;
    }
    pending &= ~zeros;
  }
  return pending;
}

unsigned RestoreWaits::walk(llvm::MachineBasicBlock &block, unsigned pending,
                            const Counting &counting, bool inserts) {
  for (auto at = block.instr_begin(); at != block.instr_end(); ++at) {
    if (at->isMetaInstruction() || at->isBundle()) {
      continue;
    }
    if (auto noted = notes.before.find(&*at); noted != notes.before.end()) {
      pending = ask(block, at, noted->second, pending, counting, inserts);
    }
    pending &= ~counting.zeros(*at);
    pending |= counting.added(*at);
  }
  if (auto noted = notes.atEnd.find(&block); noted != notes.atEnd.end()) {
    pending = ask(block, block.instr_end(), noted->second, pending, counting,
                  inserts);
  }
  return pending;
}

bool RestoreWaits::runOnMachineFunction(llvm::MachineFunction &function) {
  hasChanged = false;
  if (notes.before.empty() && notes.atEnd.empty()) {
    return false;
  }
  Counting counting(function);
  // What may be on its way when a block begins.
  llvm::DenseMap<llvm::MachineBasicBlock *, unsigned> begin;
  llvm::SmallVector<llvm::MachineBasicBlock *> left;
  for (llvm::MachineBasicBlock &block : function) {
    left.push_back(&block);
  }
  while (!left.empty()) {
    llvm::MachineBasicBlock *block = left.pop_back_val();
    unsigned end = walk(*block, begin[block], counting, /*inserts=*/false);
    for (llvm::MachineBasicBlock *next : block->successors()) {
      unsigned &pending = begin[next];
      if (end & ~pending) {
        pending |= end;
        left.push_back(next);
      }
    }
  }
  for (llvm::MachineBasicBlock &block : function) {
    walk(block, begin[&block], counting, /*inserts=*/true);
  }
  notes.before.clear();
  notes.atEnd.clear();
  return hasChanged;
}

FenceWaits::FenceWaits() : notes(std::make_unique<Notes>()) {}
FenceWaits::~FenceWaits() = default;

llvm::Pass *FenceWaits::follow(llvm::StringRef title) {
  if (title == "SI Memory Legalizer") {
    return new NoteWaits(*notes);
  }
  if (title == "SI insert wait instructions") {
    return new RestoreWaits(*notes);
  }
  return nullptr;
}
