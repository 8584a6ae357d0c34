//===- Meeting.h - How the processes of a run find each other ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Process 0 listens at the address that it is given, and there alone, until all
// have come. To each process that connects it sends a random number; the other
// side sends another one, what it is, and a tag of all this under the run's
// secret; only then process 0 answers, with a tag of its own. So neither side
// tells a stranger anything, and nothing that was overheard opens another
// connection. All connections are served at once, and none for longer than a
// few seconds.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_MEETING_H
#define NEREID_APPS_GPT2_DISTRIBUTED_MEETING_H

#include "apps/gpt2/distributed/Processes.h"
#include "apps/gpt2/distributed/Socket.h"

#include <vector>

namespace nereid::gpt2 {

struct Met {
  /// By rank, that of this process being closed; in other processes than 0,
  /// that to process 0 alone.
  std::vector<Socket> sockets;
  /// Random bytes that all processes of the run know, and no others.
  std::string token;
};

/// At process 0's door.
struct MeetingLimits {
  size_t guests = 256; ///< of whom is not known whether they are of the run
  /// Where they are as many, the oldest goes; but it has had time to answer.
  double leastSeconds = 0.05;
  double mostSeconds = 5; ///< on either side
};

/// Throws IoError where the others cannot be reached in time, InvalidArgument
/// where they are not of one run.
Met meet(const Processes &processes, const MeetingLimits &limits = {});

/// "process 1 of 4".
std::string nameOf(int rank, const Processes &processes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_MEETING_H
