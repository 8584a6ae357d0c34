//===- SimulatedCounts.h - What launches do to memory -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counted on the simulated GPU (docs/Simulator.md), which needs none. It takes
// the place of the process's `cuda` device, and this process may want the real
// one: a process of its own counts, and sends numbers through a pipe.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUTORIALS_SIMULATEDCOUNTS_H
#define NEREID_TUTORIALS_SIMULATEDCOUNTS_H

#include "nereid/Explain/Report.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace lesson {

/// Of all launches together, each of them as if it were alone.
struct Traffic {
  double launches = 0;
  double requests = 0; ///< of warps: one for 32 threads
  double sectors = 0;  ///< of 32 bytes, that the requests ask for
  double moved = 0;    ///< bytes between memory and the chip
  double least = 0;    ///< bytes that are touched, each counted once
};

/// To be made before anything asks for devices.
class SimulatedCounts {
public:
  /// `count` runs in the other process, and calls its argument with each piece
  /// of work that is counted.
  using Counter = std::function<void(const std::function<void()> &work)>;

  explicit SimulatedCounts(
      const std::function<void(const Counter &count)> &everything) {
    int ends[2];
    if (::pipe(ends) != 0 || (child = ::fork()) < 0) {
      nereid::raise({nereid::ErrorCode::Internal,
                     "no process can be started that counts",
                     {}});
    }
    if (child == 0) {
      ::close(ends[0]);
      ::_exit(countInto(ends[1], everything));
    }
    ::close(ends[1]);
    from = ends[0];
  }
  ~SimulatedCounts() {
    ::close(from);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  SimulatedCounts(const SimulatedCounts &) = delete;

  /// Of the next piece of work. Waits.
  Traffic next() {
    Traffic traffic;
    if (::read(from, &traffic, sizeof(traffic)) != sizeof(traffic)) {
      nereid::raise({nereid::ErrorCode::Internal,
                     "the process that counts has ended",
                     {}});
    }
    return traffic;
  }

private:
  static int countInto(int to,
                       const std::function<void(const Counter &)> &everything) {
    using namespace nereid;
    Traffic sum;
    // Of large grids 128 programs run, spread over all of it; numbers are those
    // of the whole grid.
    const explain::Chip chip = *explain::findChip("h200");
    gpu::simulateAndProfile(
        std::string(chip.target), {128},
        [&](const gpu::ProfiledLaunch &launch) {
          explain::Resources resources;
          resources.threads = launch.threads;
          add(sum, explain::makeReport(launch.program, launch.profile,
                                       launch.grid, resources, {}, chip));
        });
    try {
      everything([&](const std::function<void()> &work) {
        sum = {};
        work();
        synchronize(Device::cuda());
        if (::write(to, &sum, sizeof(sum)) != sizeof(sum)) {
          ::_exit(1); // the reader is gone
        }
      });
    } catch (const Error &error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
    return 0;
  }

  static void add(Traffic &sum, const nereid::explain::Report &report) {
    ++sum.launches;
    for (const nereid::explain::AccessCost &access : report.accesses) {
      if (!access.isShared) {
        sum.requests += access.requests;
        sum.sectors += access.units;
      }
    }
    sum.moved += report.movedRead + report.movedWritten;
    sum.least += report.compulsoryRead + report.compulsoryWritten;
  }

  int child = -1, from = -1;
};

} // namespace lesson

#endif // NEREID_TUTORIALS_SIMULATEDCOUNTS_H
