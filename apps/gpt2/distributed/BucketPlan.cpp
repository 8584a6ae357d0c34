//===- BucketPlan.cpp - Where parameters lie in buckets -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/BucketPlan.h"

using namespace nereid;
using namespace nereid::gpt2;

static int64_t roundedUp(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

std::vector<BucketPlan> gpt2::planBuckets(std::span<const PlannedParameter> all,
                                          int64_t bytes, int processes) {
  constexpr int64_t unit = 64;
  std::vector<BucketPlan> plans;
  for (size_t i = all.size(); i-- > 0;) {
    const PlannedParameter &one = all[i];
    auto element = int64_t(byteSize(one.dtype));
    if (plans.empty() || plans.back().dtype != one.dtype ||
        (plans.back().count + one.count) * element > bytes) {
      plans.push_back({one.dtype, {}, 0});
    }
    BucketPlan &plan = plans.back();
    plan.places.push_back({i, plan.count, one.count});
    plan.count += roundedUp(one.count, unit);
  }
  for (BucketPlan &plan : plans) {
    plan.count = roundedUp(plan.count, unit * processes);
  }
  return plans;
}
