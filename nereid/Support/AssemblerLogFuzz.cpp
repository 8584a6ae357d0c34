//===- AssemblerLogFuzz.cpp - Whatever an assembler says ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text comes from a program that the user names. The reader takes any text,
// and what stands after a whole log changes nothing of what was read before.
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/AssemblerLog.h"

#include <cstdlib>
#include <string>

using namespace nereid;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  AssemblerLog log = readAssemblerLog(text);
  // A copy of its own, so that a read past the end is seen.
  AssemblerLog again = readAssemblerLog(std::string(text + "\n"));
  if (log.registers != again.registers) {
    std::abort();
  }
  return 0;
}
