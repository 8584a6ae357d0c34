//===- Workers.h - Seeds dealt to processes ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every worker is a process, so that a crash is one more way to fail.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_WORKERS_H
#define NEREID_TEST_FUZZ_WORKERS_H

#include "test/fuzz/Reason.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid::fuzz {

/// What a worker tells, in memory that outlives it.
struct Progress {
  uint64_t seed = 0;     ///< being worked on
  unsigned executor = 0; ///< and on which
  uint64_t agreed = 0, undecided = 0, failures = 0;
  uint64_t undecidedFor[numReasons] = {}; ///< parts of `undecided`
  /// For the caller to count with.
  uint64_t counters[256] = {};
  char message[4096] = {}; ///< why the seed fails; empty: the process died

  void fail(const std::string &why);
  void leave(Reason reason);
};

/// "seed 7 fails on 'cpu': why".
void printFailure(const Progress &progress, const std::string &executor);

/// Ends this process by SIGPROF when its threads have used so many seconds of
/// processors, which a busy machine does not shorten; by SIGALRM when it waits
/// ten times as long, as for a lock that nothing opens. 0: no limit.
void limitProcessorTime(unsigned seconds);

struct SeedRange {
  uint64_t first = 1, count = 1;
  int jobs = 1;
  /// Prints a line a failure, to the end; otherwise a worker stops at its
  /// first.
  bool keepGoing = false;
};

/// What a process does with each of its seeds.
using SeedWork = std::function<void(uint64_t seed, Progress &)>;

/// Runs all seeds and returns what the workers reported, one for each job.
/// `makeWork` is called in every process that starts; `nameOf` says what an
/// executor is called.
std::vector<Progress>
runSeeds(const SeedRange &range, const std::function<SeedWork()> &makeWork,
         const std::function<std::string(unsigned)> &nameOf);

/// "N runs agree, ..." with the time since `runSeeds` began, and a line with
/// the reasons for those that are undecided; true if none fails.
bool printSummary(const std::vector<Progress> &workers, double seconds);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_WORKERS_H
