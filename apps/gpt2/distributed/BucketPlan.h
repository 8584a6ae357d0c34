//===- BucketPlan.h - Where parameters lie in buckets ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_BUCKETPLAN_H
#define NEREID_APPS_GPT2_DISTRIBUTED_BUCKETPLAN_H

#include "nereid/ABI/DType.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nereid::gpt2 {

struct BucketPlan {
  struct Place {
    size_t parameter;
    int64_t begin, count; ///< elements of the bucket
  };
  DType dtype = DType::Float32;
  std::vector<Place> places;
  int64_t count = 0; ///< elements: one part a process, all of one size
};

struct PlannedParameter {
  DType dtype;
  int64_t count;
};

/// Parameters from the last to the first, as gradients become complete. A
/// bucket holds one type, and is closed when it has `bytes` of it. Parameters
/// begin at multiples of 64 elements, parts too.
std::vector<BucketPlan> planBuckets(std::span<const PlannedParameter> all,
                                    int64_t bytes, int processes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_BUCKETPLAN_H
