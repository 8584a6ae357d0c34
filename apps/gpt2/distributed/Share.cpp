//===- Share.cpp - What of a step a process computes ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Share.h"

#include "apps/gpt2/Options.h"
#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

Share gpt2::shareOf(const Options &o, int rank, int size) {
  Share share{rank, size, o.gradientAccumulationSteps, o.batchSize, false};
  if (share.microSteps % size == 0) {
    share.microSteps /= size;
  } else if (share.rows % size == 0) {
    share.rows /= size;
    share.splitsRows = true;
  } else {
    std::string processes = std::to_string(size) + " processes";
    raise({ErrorCode::InvalidArgument,
           "expected gradient_accumulation_steps or batch_size to divide by " +
               processes + ", got " +
               std::to_string(o.gradientAccumulationSteps) + " and " +
               std::to_string(o.batchSize),
           {}});
  }
  return share;
}
