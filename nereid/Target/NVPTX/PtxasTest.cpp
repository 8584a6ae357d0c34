//===- PtxasTest.cpp - PTX for the assembler ------------------------------===//
//--------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Ptxas.h"

#include <gtest/gtest.h>

using namespace nereid::nvptx;

TEST(Ptxas, SourceLinesAreRemoved) {
  EXPECT_EQ(removeSourceLines(".entry k(\n"
                              "\t.param .u64 k_param_0\n"
                              ")\n{\n"
                              "\t.loc\t1 6 0\n"
                              "\tmov.u32 \t%r1, %tid.x;\n"
                              "\tret;\n"
                              "}\n"
                              "\t.section\t.debug_macinfo\t{\t}\n"
                              "\t.file\t1 \"/home/somebody/k.py\"\n"),
            ".entry k(\n"
            "\t.param .u64 k_param_0\n"
            ")\n{\n"
            "\tmov.u32 \t%r1, %tid.x;\n"
            "\tret;\n"
            "}\n");
  EXPECT_EQ(removeSourceLines(""), "");
  EXPECT_EQ(removeSourceLines("no end of line"), "no end of line\n");
}
