//===- ScratchOffsetsTest.cpp ---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/ScratchOffsets.h"

#include "llvm-c/Target.h"
#include "llvm/CodeGen/MIRParser/MIRParser.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include "gtest/gtest.h"

#include <string>

using namespace nereid;

/// A kernel's instructions after the pass, one a line, without what is implied.
static std::string moved(const std::string &target,
                         const std::string &instructions) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  std::string error;
  llvm::Triple triple("amdgcn-amd-amdhsa");
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target, "", llvm::TargetOptions(), std::nullopt));
  std::string text = "--- |\n"
                     "  target triple = \"amdgcn-amd-amdhsa\"\n"
                     "  define amdgpu_kernel void @k() { ret void }\n"
                     "...\n---\n"
                     "name: k\n"
                     "tracksRegLiveness: true\n"
                     "body: |\n"
                     "  bb.0:\n"
                     "    liveins: $sgpr0, $vgpr0_vgpr1\n" +
                     instructions +
                     "    S_ENDPGM 0, implicit $sgpr0\n"
                     "...\n";
  llvm::LLVMContext context;
  auto parser = llvm::createMIRParser(
      llvm::MemoryBuffer::getMemBufferCopy(text, "k.mir"), context);
  std::unique_ptr<llvm::Module> module = parser->parseIRModule();
  module->setDataLayout(machine->createDataLayout());
  auto *functions = new llvm::MachineModuleInfoWrapperPass(machine.get());
  EXPECT_FALSE(parser->parseMachineFunctions(*module, functions->getMMI()));
  llvm::legacy::PassManager passes;
  passes.add(functions);
  passes.add(amdgpu::createScratchOffsets());
  std::string result;
  llvm::raw_string_ostream stream(result);
  passes.add(llvm::createMachineFunctionPrinterPass(stream));
  passes.run(*module);
  return result;
}

/// A store of two registers at an offset.
static std::string storeAt(const char *offset) {
  return std::string("    SCRATCH_STORE_DWORDX2_ST $vgpr0_vgpr1, ") + offset +
         ", 0, implicit $exec, implicit $flat_scr\n";
}

static bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

TEST(ScratchOffsets, theLastOffsetThatFitsStays) {
  std::string found = moved("gfx1100", storeAt("4095"));
  EXPECT_TRUE(has(found, "_ST $vgpr0_vgpr1, 4095, 0")) << found;
  EXPECT_FALSE(has(found, "S_MOV_B32")) << found;
}

TEST(ScratchOffsets, whatIsTooMuchIsInAScalarRegister) {
  std::string found = moved("gfx942", storeAt("4100"));
  EXPECT_TRUE(has(found, "$sgpr1 = S_MOV_B32 4096")) << found;
  EXPECT_TRUE(has(found, "SCRATCH_STORE_DWORDX2_SADDR $vgpr0_vgpr1, "
                         "killed $sgpr1, 4, 0, implicit $exec, "
                         "implicit $flat_scr"))
      << found;
  EXPECT_FALSE(has(found, "4100")) << found;
}

TEST(ScratchOffsets, aLoadKeepsItsOtherOperands) {
  std::string found =
      moved("gfx1100", "    $vgpr2_vgpr3 = SCRATCH_LOAD_DWORDX2_ST 4096, 1, "
                       "implicit $exec, implicit $flat_scr\n");
  EXPECT_TRUE(has(found, "$vgpr2_vgpr3 = SCRATCH_LOAD_DWORDX2_SADDR "
                         "killed $sgpr1, 0, 1, implicit $exec"))
      << found;
}

TEST(ScratchOffsets, aRegisterInUseIsLeftAlone) {
  std::string found =
      moved("gfx1100", "    $sgpr1 = S_MOV_B32 7\n" + storeAt("4100") +
                           "    $sgpr3 = S_MOV_B32 $sgpr1\n");
  EXPECT_TRUE(has(found, "$sgpr2 = S_MOV_B32 4096")) << found;
}

TEST(ScratchOffsets, fieldsOf24BitsHoldMore) {
  std::string found = moved("gfx1201", storeAt("8388607"));
  EXPECT_FALSE(has(found, "S_MOV_B32")) << found;
  found = moved("gfx1201", storeAt("8388608"));
  EXPECT_TRUE(has(found, "S_MOV_B32 8388608")) << found;
}
