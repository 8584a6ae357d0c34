//===- PointTimes.h - Every provider, timed at one point --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_POINTTIMES_H
#define NEREID_TOOLS_NEREID_POINTTIMES_H

#include "BenchPlan.h"

#include "nereid/Bench/Report.h"

namespace nereid {

/// A row for each provider, without its point and its work. Failures of
/// providers stand in their rows; throws for texts that are wrong.
std::vector<bench::Row>
timePoint(const BenchPlan &plan, const BenchOptions &options,
          const VariableValues &values,
          const std::function<void(double share)> &progress);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_POINTTIMES_H
