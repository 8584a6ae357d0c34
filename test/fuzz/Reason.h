//===- Reason.h - Why a run is left undecided -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_REASON_H
#define NEREID_TEST_FUZZ_REASON_H

namespace nereid::fuzz {

enum class Reason {
  Rounding,  ///< a branch or an index depends on how something is rounded
  NotRun,    ///< compiled, but more than a block of the processor holds
  FreeOrder, ///< atomic sums of floats, which may be made in any order
  TooLong,   ///< more steps than the reference executor makes
};
inline constexpr const char *reasonNames[] = {"rounding", "too large", "order",
                                              "too long"};
inline constexpr unsigned numReasons = 4;

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_REASON_H
