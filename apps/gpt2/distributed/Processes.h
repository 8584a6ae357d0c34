//===- Processes.h - Which of how many this process is ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of several processes is started by --gpus=N or --processes=N
// (Launcher.h), by torchrun, by mpirun of Open MPI or MPICH, or by srun. All of
// them tell a process its place by the environment; nothing of MPI is linked or
// loaded.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_PROCESSES_H
#define NEREID_APPS_GPT2_DISTRIBUTED_PROCESSES_H

#include <cstdint>
#include <functional>
#include <string>

namespace nereid::gpt2 {

struct Processes {
  int rank = 0, size = 1;
  int localRank = 0, localSize = 1; ///< on this machine: the GPU's number
  /// What said so: "RANK", "OMPI_COMM_WORLD_RANK"; empty for one process.
  std::string source;
  /// Where process 0 listens. No host: all run on this machine, and process 0
  /// writes its port into `meetingFile`.
  std::string host;
  int port = 0;
  std::string meetingFile;
  /// What they know of each other, and no stranger does; empty: nothing, or
  /// what is in `meetingFile`.
  std::string secret;
  bool isOneMachine = true; ///< as far as the environment says
  /// A socket that process 0 has inherited and that listens already; -1: none.
  int listeningSocket = -1;

  double meetSeconds = 120;   ///< for all to arrive
  double silenceSeconds = 20; ///< of a process that counts as hung
  double pauseSeconds = 5;    ///< of this one, after which it waits again
};

/// Null for a variable that is not set.
using GetVariable = std::function<const char *(const char *)>;

/// One process where the environment names none. Throws InvalidArgument where
/// it contradicts itself: the message names the variable.
Processes processesFromEnvironment(const GetVariable &get);
/// Takes the secret out of the environment, which programs that this one starts
/// inherit: first while there is one thread.
Processes processesFromEnvironment();

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_PROCESSES_H
