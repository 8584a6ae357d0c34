//===- BatchSlice.h - What of a step a process computes ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step's micro-steps are dealt out to the processes in turn. Where their
// number does not allow it, each process takes a part of the rows of every
// micro-step. Either way all processes together see the tokens that one would.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_BATCHSLICE_H
#define NEREID_APPS_GPT2_DISTRIBUTED_BATCHSLICE_H

#include <cstdint>

namespace nereid::gpt2 {

struct Options;

struct BatchSlice {
  int rank = 0, size = 1;
  int64_t microSteps = 1; ///< of a step, in this process
  int64_t rows = 1;       ///< of a micro-step, in this process
  bool splitsRows = false;

  /// The number, among those of all processes, of this process's i-th.
  int64_t microStep(int64_t i) const {
    return splitsRows ? i : i * size + rank;
  }
  /// What each process computes at once, numbered over all of a step.
  int64_t unit(int64_t i) const { return i * size + rank; }
  /// The micro-steps of a step, in all processes.
  int64_t units() const { return microSteps * size; }
};

/// Throws InvalidArgument where neither micro-steps nor rows divide.
BatchSlice sliceOf(const Options &options, int rank, int size);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_BATCHSLICE_H
