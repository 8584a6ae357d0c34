//===- LeftOut.cpp - Parts of LLVM and lld that no kernel needs -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of static programs. lld refers to its link-time optimiser, and AMDGPU's back
// end to a second instruction selector and to the R600, whether a program uses
// them or not: some 5 MB of archives. These definitions stand in front of the
// archives, so that the linker takes none of that. Classes are declared as far
// as their users see them: where LLVM makes one, it allocates what its own has.
//
//===----------------------------------------------------------------------===//

#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/GlobalISel/InstructionSelector.h"
#include "llvm/LTO/LTO.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Pass.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetMachine.h"

//===----------------------------------------------------------------------===//
// lld's link-time optimiser: what it links are code objects
//===----------------------------------------------------------------------===//

namespace lld::elf {
struct Ctx;
class BitcodeFile;

class BitcodeCompiler {
public:
  explicit BitcodeCompiler(Ctx &);
  ~BitcodeCompiler();
  void add(BitcodeFile &);
  /// Of std::unique_ptr<InputFile>; lld asks also where it has added nothing.
  llvm::SmallVector<void *, 0> compile();
};

BitcodeCompiler::BitcodeCompiler(Ctx &) {}
BitcodeCompiler::~BitcodeCompiler() = default;
void BitcodeCompiler::add(BitcodeFile &) {}
llvm::SmallVector<void *, 0> BitcodeCompiler::compile() { return {}; }
} // namespace lld::elf

namespace llvm::lto {
InputFile::~InputFile() = default;
Expected<std::unique_ptr<InputFile>> InputFile::create(MemoryBufferRef) {
  return createStringError("this program links no bitcode");
}
SmallVector<const char *> LTO::getRuntimeLibcallSymbols(const Triple &) {
  return {};
}
} // namespace llvm::lto

namespace llvm {

//===----------------------------------------------------------------------===//
// GlobalISel for AMDGPU: kernels are selected by SelectionDAG
//===----------------------------------------------------------------------===//

class GCNSubtarget;
class AMDGPURegisterBankInfo;
class AMDGPUTargetMachine;

/// Each subtarget holds one.
class AMDGPUInstructionSelector final : public InstructionSelector {
public:
  AMDGPUInstructionSelector(const GCNSubtarget &,
                            const AMDGPURegisterBankInfo &,
                            const AMDGPUTargetMachine &);
  bool select(MachineInstr &) override;
  void setupGeneratedPerFunctionState(MachineFunction &) override;
};

AMDGPUInstructionSelector::AMDGPUInstructionSelector(
    const GCNSubtarget &, const AMDGPURegisterBankInfo &,
    const AMDGPUTargetMachine &) {}
bool AMDGPUInstructionSelector::select(MachineInstr &) {
  report_fatal_error("AMDGPU: this program has no GlobalISel");
}
void AMDGPUInstructionSelector::setupGeneratedPerFunctionState(
    MachineFunction &) {}

#define NEREID_LEFT_OUT(name)                                                  \
  void initialize##name##Pass(PassRegistry &);                                 \
  void initialize##name##Pass(PassRegistry &) {}
#define NEREID_LEFT_OUT_MAKER(name, ...)                                       \
  FunctionPass *create##name(__VA_ARGS__);                                     \
  FunctionPass *create##name(__VA_ARGS__) {                                    \
    report_fatal_error("AMDGPU: this program has no GlobalISel");              \
  }

NEREID_LEFT_OUT(AMDGPUGlobalISelDivergenceLowering)
NEREID_LEFT_OUT(AMDGPUPostLegalizerCombiner)
NEREID_LEFT_OUT(AMDGPUPreLegalizerCombiner)
NEREID_LEFT_OUT(AMDGPURegBankCombiner)
NEREID_LEFT_OUT(AMDGPURegBankLegalize)
NEREID_LEFT_OUT(AMDGPURegBankSelect)
NEREID_LEFT_OUT_MAKER(AMDGPUGlobalISelDivergenceLoweringPass)
NEREID_LEFT_OUT_MAKER(AMDGPUPostLegalizeCombiner, bool)
NEREID_LEFT_OUT_MAKER(AMDGPUPreLegalizeCombiner, bool)
NEREID_LEFT_OUT_MAKER(AMDGPURegBankCombiner, bool)
NEREID_LEFT_OUT_MAKER(AMDGPURegBankLegalizePass)
NEREID_LEFT_OUT_MAKER(AMDGPURegBankSelectPass)

//===----------------------------------------------------------------------===//
// The R600, AMD's processors of before 2012
//===----------------------------------------------------------------------===//

NEREID_LEFT_OUT(R600ClauseMergePass)
NEREID_LEFT_OUT(R600ControlFlowFinalizer)
NEREID_LEFT_OUT(R600EmitClauseMarkers)
NEREID_LEFT_OUT(R600ExpandSpecialInstrsPass)
NEREID_LEFT_OUT(R600MachineCFGStructurizer)
NEREID_LEFT_OUT(R600Packetizer)
NEREID_LEFT_OUT(R600VectorRegMerger)

[[noreturn]] static void refuseR600() {
  report_fatal_error("AMDGPU: this program has no R600");
}

ModulePass *createR600OpenCLImageTypeLoweringPass();
ModulePass *createR600OpenCLImageTypeLoweringPass() { refuseR600(); }

AsmPrinter *createR600AsmPrinterPass(TargetMachine &,
                                     std::unique_ptr<MCStreamer> &&);
AsmPrinter *createR600AsmPrinterPass(TargetMachine &,
                                     std::unique_ptr<MCStreamer> &&) {
  refuseR600();
}

class R600TargetMachine {
public:
  R600TargetMachine(const Target &, const Triple &, StringRef, StringRef,
                    const TargetOptions &, std::optional<Reloc::Model>,
                    std::optional<CodeModel::Model>, CodeGenOptLevel, bool);
};
R600TargetMachine::R600TargetMachine(const Target &, const Triple &, StringRef,
                                     StringRef, const TargetOptions &,
                                     std::optional<Reloc::Model>,
                                     std::optional<CodeModel::Model>,
                                     CodeGenOptLevel, bool) {
  refuseR600();
}

} // namespace llvm
