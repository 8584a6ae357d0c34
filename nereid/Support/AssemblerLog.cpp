//===- AssemblerLog.cpp - What the GPU's assembler says of a kernel -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/AssemblerLog.h"

#include <charconv>

namespace nereid {

/// The sum of the numbers that stand before `words`.
static uint32_t sumBefore(std::string_view log, std::string_view words) {
  uint32_t sum = 0;
  for (size_t at = log.find(words); at != std::string_view::npos;
       at = log.find(words, at + 1)) {
    size_t begin = at;
    while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') {
      --begin;
    }
    uint32_t value = 0;
    std::from_chars(log.data() + begin, log.data() + at, value);
    sum += value;
  }
  return sum;
}

AssemblerLog readAssemblerLog(std::string_view log) {
  AssemblerLog result;
  result.registers = sumBefore(log, " registers");
  result.spillBytes = sumBefore(log, " bytes spill stores") +
                      sumBefore(log, " bytes spill loads");
  result.localBytes = sumBefore(log, " bytes stack frame");
  return result;
}

} // namespace nereid
