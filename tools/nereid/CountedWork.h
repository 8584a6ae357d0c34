//===- CountedWork.h - What launches have to do ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_COUNTEDWORK_H
#define NEREID_TOOLS_NEREID_COUNTEDWORK_H

#include "BenchPoint.h"

#include "nereid/Bench/Roofline.h"

#include <cstdio>

namespace nereid {

/// Counts for each point the work of the plan's first provider on the simulated
/// GPU (docs/Simulator.md), in a process of its own: this one may want the GPU.
/// To be made before anything asks for cuda devices.
class WorkCounter {
public:
  /// At most so many programs of a grid run, 0 being all.
  WorkCounter(const BenchPlan &plan, const std::vector<VariableValues> &points,
              uint64_t mostPrograms, uint64_t seed);
  ~WorkCounter();
  WorkCounter(const WorkCounter &) = delete;

  /// The work of the next point; or why it could not be counted. Waits.
  Expected<bench::Work> next();

private:
  int child = -1;
  std::FILE *from = nullptr;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_COUNTEDWORK_H
