//===- Workers.cpp - Seeds dealt to processes -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Workers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::fuzz {

void Progress::fail(const std::string &why) {
  ++failures;
  std::strncpy(message, why.c_str(), sizeof(message) - 1);
}

void Progress::leave(Reason reason) {
  ++undecided;
  ++undecidedFor[unsigned(reason)];
}

void printFailure(const Progress &progress, const std::string &executor) {
  llvm::StringRef message = progress.message;
  llvm::outs() << "seed " << progress.seed << " fails on '" << executor
               << "': " << (message.empty() ? "the process died" : message)
               << "\n";
  llvm::outs().flush();
}

namespace {

/// More than any program takes on a machine that does much else.
constexpr unsigned limitSeconds = 120;

class Workers {
public:
  Workers(const SeedRange &range, const std::function<SeedWork()> &makeWork,
          const std::function<std::string(unsigned)> &nameOf)
      : range(range), makeWork(makeWork), nameOf(nameOf),
        shared(static_cast<Progress *>(
            mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Workers() { munmap(shared, bytes()); }
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  std::vector<Progress> run() {
    std::vector<pid_t> children;
    for (int job = 0; job < range.jobs; ++job) {
      new (&shared[job]) Progress();
      children.push_back(start(range.first + uint64_t(job), shared[job]));
    }
    std::vector<Progress> result;
    for (int job = 0; job < range.jobs; ++job) {
      finish(children[size_t(job)], shared[job]);
      result.push_back(shared[job]);
    }
    return result;
  }

private:
  size_t bytes() const { return sizeof(Progress) * size_t(range.jobs); }

  pid_t start(uint64_t first, Progress &progress) {
    pid_t child = fork();
    if (child == 0) {
      work(first, progress);
      _exit(0);
    }
    return child;
  }

  /// Seeds first, first + jobs, ... up to the first failure or the last seed.
  void work(uint64_t first, Progress &progress) {
    SeedWork one = makeWork();
    for (uint64_t seed = first; seed < range.first + range.count;
         seed += uint64_t(range.jobs)) {
      progress.seed = seed;
      progress.message[0] = 0;
      uint64_t before = progress.failures;
      limitProcessorTime(limitSeconds); // a program that hangs dies of it
      one(seed, progress);
      limitProcessorTime(0);
      if (progress.failures == before) {
        continue;
      }
      if (!range.keepGoing) {
        return;
      }
      printFailure(progress, nameOf(progress.executor));
    }
  }

  /// Waits for a worker; one that dies counts a failure, and with `keepGoing`
  /// another takes its place after the seed it died of.
  void finish(pid_t child, Progress &progress) {
    for (;;) {
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFEXITED(status)) {
        return;
      }
      ++progress.failures;
      if (!range.keepGoing) {
        return;
      }
      printFailure(progress, nameOf(progress.executor));
      child = start(progress.seed + uint64_t(range.jobs), progress);
    }
  }

  const SeedRange &range;
  const std::function<SeedWork()> &makeWork;
  const std::function<std::string(unsigned)> &nameOf;
  Progress *shared;
};

} // namespace

void limitProcessorTime(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(10 * seconds);
}

std::vector<Progress>
runSeeds(const SeedRange &range, const std::function<SeedWork()> &makeWork,
         const std::function<std::string(unsigned)> &nameOf) {
  return Workers(range, makeWork, nameOf).run();
}

bool printSummary(const std::vector<Progress> &workers, double seconds) {
  uint64_t agreed = 0, undecided = 0, failures = 0;
  std::string reasons;
  for (unsigned reason = 0; reason < numReasons; ++reason) {
    uint64_t count = 0;
    for (const Progress &progress : workers) {
      count += progress.undecidedFor[reason];
    }
    if (count) {
      reasons += (reasons.empty() ? "" : ", ") + std::to_string(count) + " " +
                 reasonNames[reason];
    }
  }
  for (const Progress &progress : workers) {
    agreed += progress.agreed;
    undecided += progress.undecided;
    failures += progress.failures;
  }
  llvm::outs() << agreed << " runs agree, " << undecided << " are undecided, "
               << failures << " fail (" << llvm::format("%.1f", seconds)
               << " s)\n";
  if (!reasons.empty()) {
    llvm::outs() << "undecided: " << reasons << "\n";
  }
  return failures == 0;
}

} // namespace nereid::fuzz
