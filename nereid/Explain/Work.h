//===- Work.h - What a launch has to do ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_WORK_H
#define NEREID_EXPLAIN_WORK_H

#include "nereid/Sim/Profile.h"

#include <map>
#include <string>

namespace nereid::explain {

/// The work of a whole grid, counted while some or all of it was simulated.
struct Work {
  /// Memory that the launch touches, each byte counted once.
  double bytesRead = 0, bytesWritten = 0;
  /// Additions, multiplications, divisions and functions of floats; a fused
  /// multiplication and addition is two.
  double floatOperations = 0;
  /// Multiplications and additions of matrix instructions, by the operands'
  /// type as PTX has it: "tf32", "bf16", "e4m3", "s8".
  std::map<std::string, double> productOperations;
  bool isSample = false; ///< some blocks did not run
};

Work countWork(const sim::Program &program, const sim::Profile &profile);

/// Without a guard: "@%p1 ld.global.b32 %r1, [%rd1];" is "ld.global.b32".
std::string opcodeOf(const sim::Statement &statement);

/// Operations and operands' type of a matrix instruction of a warp; none of
/// another one.
struct Product {
  double operations = 0;
  std::string type;
  bool isGroup = false; ///< given by several warps together
};
Product productOf(const std::string &opcode);

/// The operations of one thread: "fma.rn.f32" has 2, "add.rn.bf16x2" has 2.
double floatOperationsOf(const std::string &opcode);

/// The unit of a multiprocessor that an instruction of threads keeps busy.
enum class FloatUnit { None, Single, Half, Double, Special };
FloatUnit unitOf(const std::string &opcode);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_WORK_H
