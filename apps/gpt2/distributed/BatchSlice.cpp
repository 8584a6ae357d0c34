//===- BatchSlice.cpp - What of a step a process computes -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/BatchSlice.h"

#include "apps/gpt2/Options.h"
#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

BatchSlice gpt2::sliceOf(const Options &o, int rank, int size) {
  BatchSlice slice{rank, size, o.gradientAccumulationSteps, o.batchSize, false};
  if (slice.microSteps % size == 0) {
    slice.microSteps /= size;
  } else if (slice.rows % size == 0) {
    slice.rows /= size;
    slice.splitsRows = true;
  } else {
    std::string processes = std::to_string(size) + " processes";
    raise({ErrorCode::InvalidArgument,
           "expected gradient_accumulation_steps or batch_size to divide by " +
               processes + ", got " +
               std::to_string(o.gradientAccumulationSteps) + " and " +
               std::to_string(o.batchSize),
           {}});
  }
  return slice;
}
