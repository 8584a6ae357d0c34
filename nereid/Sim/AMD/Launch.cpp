//===- Launch.cpp - The workgroups of a grid ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Workgroup.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace nereid::sim::amd {

static const char *kindText(Fault::Kind kind) {
  switch (kind) {
  case Fault::Kind::IllegalAddress:
    return "illegal memory access";
  case Fault::Kind::Misaligned:
    return "misaligned address";
  case Fault::Kind::Illegal:
    return "illegal instruction";
  case Fault::Kind::Barrier:
    return "misused barrier";
  case Fault::Kind::Trap:
    return "trap";
  case Fault::Kind::Deadlock:
    return "deadlock";
  case Fault::Kind::Race:
    return "race";
  }
  return "";
}

static Status check(const LaunchRequest &request) {
  auto invalid = [](const std::string &text) {
    return Status(ErrorCode::InvalidArgument, text);
  };
  const Kernel &kernel = request.kernel;
  uint64_t threads = 1;
  for (uint32_t size : request.threads) {
    threads *= size;
  }
  constexpr uint64_t mostThreads = 1024;
  if (threads == 0 ||
      threads > std::min<uint64_t>(kernel.mostThreads, mostThreads)) {
    return invalid(kernel.name + ": expected 1 to " +
                   std::to_string(kernel.mostThreads) +
                   " threads a workgroup, got " + std::to_string(threads));
  }
  for (uint32_t size : request.grid) {
    if (size == 0) {
      return invalid(kernel.name + ": expected a grid of at least 1, got 0");
    }
  }
  uint64_t mostShared =
      request.program.target == "gfx950" ? 160 * 1024 : 64 * 1024;
  uint64_t shared = uint64_t(kernel.sharedBytes) + request.dynamicSharedBytes;
  if (shared > mostShared) {
    return invalid(kernel.name + ": expected at most " +
                   std::to_string(mostShared) + " bytes of LDS, got " +
                   std::to_string(shared));
  }
  if (!request.program.byAddress.contains(kernel.entry)) {
    return invalid(kernel.name + ": its entry is no instruction");
  }
  size_t wanted = 0;
  for (const KernelArgument &one : kernel.arguments) {
    if (!one.isHidden()) {
      wanted = std::max<size_t>(wanted, one.offset + one.bytes);
    }
  }
  if (request.arguments.size() < wanted) {
    return invalid(kernel.name + ": expected " + std::to_string(wanted) +
                   " bytes of arguments, got " +
                   std::to_string(request.arguments.size()));
  }
  return Status::success();
}

namespace {

/// What a workgroup costs the simulator: instructions of waves.
uint64_t simulationCost(const LaunchRequest &request) {
  LaunchRequest alone = request;
  alone.profile = nullptr;
  Workgroup group(alone);
  group.begin({request.grid[0] / 2, request.grid[1] / 2, request.grid[2] / 2},
              0);
  // One that takes longer than all may is only looked at so far.
  constexpr uint64_t mostTurns = 16;
  try {
    for (uint64_t turn = 0; turn < mostTurns && group.advance(); ++turn) {
    }
  } catch (const Fault &) {
    // It is reported when the grid runs.
  }
  return std::max<uint64_t>(group.executed(), 1);
}

/// The grid, and the first thing that went wrong in it.
class Grid {
public:
  explicit Grid(const LaunchRequest &request)
      : request(request),
        all(uint64_t(request.grid[0]) * request.grid[1] * request.grid[2]),
        count(sampleSize(request.sample, all,
                         [&] { return simulationCost(request); })) {
    if (request.profile) {
      request.profile->begin(request.program, request.memory.ranges());
      request.profile->gridBlocks = all;
    }
  }

  /// In order: one may wait for those in front of it, not for others.
  void run() {
    Workgroup group(request);
    for (uint64_t i = next++; i < count && !hasEnded; i = next++) {
      begin(group, i);
      while (!hasEnded && advance(group)) {
        if (!goesOn()) {
          hasEnded = true; // never taken back: another worker may have set it
        }
      }
      if (!hasEnded) {
        merge(group);
      }
      ++ended;
    }
  }

  /// All of them in turns.
  void runTogether() {
    std::vector<std::unique_ptr<Workgroup>> groups;
    std::vector<bool> hasFinished(count);
    for (uint64_t i = 0; i < count; ++i) {
      groups.push_back(std::make_unique<Workgroup>(request));
      begin(*groups.back(), i);
    }
    for (bool isLeft = true; isLeft && !hasEnded;) {
      isLeft = false;
      for (uint64_t i = 0; i < count && !hasEnded; ++i) {
        hasFinished[i] = hasFinished[i] || !advance(*groups[i]);
        isLeft |= !hasFinished[i];
      }
      if (isLeft && !goesOn()) {
        hasEnded = true;
      }
    }
    for (auto &group : groups) {
      if (!hasEnded) {
        merge(*group);
      }
    }
  }

  Status status() const {
    return hasFailed ? Status(ErrorCode::KernelFault,
                              request.kernel.name + ": " + failure)
                     : Status::success();
  }
  const uint64_t &size() const { return count; }

private:
  void begin(Workgroup &group, uint64_t i) const {
    group.begin(sampledPlace(request.grid, count, i), sampledNumber(i));
  }

  bool goesOn() {
    return !request.sample.goesOn || request.sample.goesOn(ended, count);
  }

  /// Adds what the workgroup has counted, which then begins at 0.
  void merge(Workgroup &group) {
    if (request.profile) {
      std::lock_guard lock(mutex);
      request.profile->merge(group.counter->counts);
      std::ranges::fill(group.counter->counts, Counts());
    }
  }

  bool advance(Workgroup &group) {
    try {
      return group.advance();
    } catch (const Fault &fault) {
      std::lock_guard lock(mutex);
      if (!hasFailed) {
        failure = std::string(kindText(fault.kind)) + ": " + fault.message;
      }
      hasFailed = true;
      hasEnded = true;
      return false;
    }
  }

  const LaunchRequest &request;
  const uint64_t all, count;
  std::atomic<uint64_t> next = 0, ended = 0;
  std::atomic<bool> hasFailed = false, hasEnded = false;
  std::mutex mutex;
  std::string failure;
};

} // namespace

Status launch(const LaunchRequest &request) {
  Status status = check(request);
  if (!status.ok()) {
    return status;
  }
  Grid grid(request);
  if (request.isCooperative) {
    grid.runTogether();
    return grid.status();
  }
  auto workers = unsigned(std::min<uint64_t>(request.workers, grid.size()));
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < workers; ++i) {
    threads.emplace_back([&grid] { grid.run(); });
  }
  grid.run();
  threads.clear();
  return grid.status();
}

} // namespace nereid::sim::amd
