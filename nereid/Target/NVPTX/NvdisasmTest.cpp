//===- NvdisasmTest.cpp - What the disassembler prints --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Nvdisasm.h"

#include <gtest/gtest.h>

using namespace nereid::nvptx;

TEST(Nvdisasm, InstructionsHaveTheLineInFrontOfThem) {
  EXPECT_EQ(parseDisassembly(R"(	.target	sm_90a
	.section	.text.add,"ax",@progbits
        .global         add
add:
.text.add:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/tmp/a, b.py", line 8
        /*0010*/              @!P0 LDG.E R6, desc[UR4][R2.64] ;
.L_x_1:
	//## File "/tmp/k.py", line 10 inlined at "/tmp/k.py", line 3
        /*0020*/                   EXIT ;
.L_x_0:

	.section	.debug_line,"",@progbits
        /*0000*/ 	.byte	0x5d
)"),
            (std::vector<MachineLine>{
                {"LDC R1, c[0x0][0x28]", false, "", 0},
                {"@!P0 LDG.E R6, desc[UR4][R2.64]", false, "/tmp/a, b.py", 8},
                {".L_x_1:", true, "/tmp/a, b.py", 8},
                {"EXIT", false, "/tmp/k.py", 10}}));
}

TEST(Nvdisasm, WhatIsNoDisassemblyHasNoInstructions) {
  EXPECT_TRUE(parseDisassembly("").empty());
  EXPECT_TRUE(parseDisassembly("nvdisasm fatal : no file\n/*").empty());
  EXPECT_TRUE(parseDisassembly(".text.f:\n//## File \"x\n/*\n/*0*/ ;").empty());
}
