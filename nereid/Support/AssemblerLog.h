//===- AssemblerLog.h - What a GPU assembler says ----------------*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's assembler and the program ptxas write the same lines under -v:
//
//   8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
//   Used 32 registers, used 1 barriers, 388 bytes cmem[0]
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SUPPORT_ASSEMBLERLOG_H
#define NEREID_SUPPORT_ASSEMBLERLOG_H

#include <cstdint>
#include <string_view>

namespace nereid {

struct AssemblerLog {
  uint32_t registers = 0;  ///< of a thread
  uint32_t spillBytes = 0; ///< stored and loaded, as they stand in the code
  uint32_t localBytes = 0; ///< of a thread's stack
};

/// The sums over all functions in the log; numbers that it does not have are 0.
AssemblerLog readAssemblerLog(std::string_view log);

} // namespace nereid

#endif // NEREID_SUPPORT_ASSEMBLERLOG_H
