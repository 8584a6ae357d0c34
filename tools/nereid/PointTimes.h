//===- PointTimes.h - Every provider, timed at one point --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_POINTTIMES_H
#define NEREID_TOOLS_NEREID_POINTTIMES_H

#include "BenchPlan.h"
#include "ExternalProvider.h"

#include "nereid/Bench/Report.h"
#include "nereid/Runtime/Tensor.h"

#include <map>
#include <memory>

namespace nereid {

/// What outlives a point, for making it takes longer than the runs of a short
/// one.
struct BetweenPoints {
  /// What is written before cold runs, by the device's name.
  std::map<std::string, std::shared_ptr<Tensor>> buffers;
  /// Of providers in Python, by their names.
  std::map<std::string, std::unique_ptr<PythonProcess>> processes;
};

/// A row for each provider, without its point and its work. Failures of
/// providers stand in their rows; throws for texts that are wrong.
std::vector<bench::Row>
timePoint(const BenchPlan &plan, const BenchOptions &options,
          const VariableValues &values, BetweenPoints &between,
          const std::function<void(double share)> &progress);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_POINTTIMES_H
