//===- ReserveRegisters.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/ReserveRegisters.h"

#include "nereid/Target/NVPTX/Occupancy.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

#include <algorithm>

/// What ptxas 13.0 takes beside the values that are alive at once, on every
/// architecture from sm_75 to sm_120a.
static constexpr unsigned beside = 3;

void nereid::nvptx::reserveRegisters(llvm::Function &kernel, unsigned count) {
  unsigned threads = 32; // where the kernel does not say
  kernel.getFnAttribute("nvvm.reqntid")
      .getValueAsString()
      .getAsInteger(/*Radix=*/10, threads);
  // With more the assembler would spill what nothing uses.
  count = std::min(count, mostRegisters(threads / 32));
  if (count <= beside) {
    return;
  }
  // Values that are all loaded before the first is stored, in a branch that
  // no program takes: a grid has at least one program in each dimension, which
  // the assembler does not know. Volatile, or it would reorder them.
  unsigned values = count - beside;
  std::string loads, stores;
  for (unsigned i = 0; i < values; ++i) {
    std::string value = "%held" + std::to_string(i);
    std::string place = "[%nowhere+" + std::to_string(4 * i) + "]";
    loads += "\tld.volatile.shared.b32 " + value + ", " + place + ";\n";
    stores += "\tst.volatile.shared.b32 " + place + ", " + value + ";\n";
  }
  std::string text = "{\n\t.reg .pred %always;\n\t.reg .b32 %programs, "
                     "%nowhere, %held<" +
                     std::to_string(values) +
                     ">;\n"
                     "\tmov.u32 %programs, %nctaid.z;\n"
                     "\tsetp.ne.u32 %always, %programs, 0;\n"
                     "\t@%always bra reserved;\n"
                     "\tmov.b32 %nowhere, 0;\n" +
                     loads + stores + "\texit;\nreserved:\n\t}";
  llvm::IRBuilder<> b(&*kernel.getEntryBlock().getFirstInsertionPt());
  b.CreateCall(llvm::InlineAsm::get(
      llvm::FunctionType::get(b.getVoidTy(), /*isVarArg=*/false), text,
      /*Constraints=*/"", /*hasSideEffects=*/true));
}
