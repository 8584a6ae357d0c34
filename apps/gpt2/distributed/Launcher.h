//===- Launcher.h - Several processes of one command ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_LAUNCHER_H
#define NEREID_APPS_GPT2_DISTRIBUTED_LAUNCHER_H

#include <optional>
#include <string>
#include <vector>

namespace nereid::gpt2 {

/// What a process of several ends with when it stops as it was asked to by
/// `signal`, and has kept what it has: the number that a shell shows.
inline int statusOfSignal(int signal) {
  constexpr int signalBase = 128;
  return signalBase + signal;
}

struct Launch {
  std::string program; ///< path; empty: this program
  std::vector<std::string>
      arguments; ///< without argv[0]; empty: this program's
  int processes = 1;
};

/// Starts the processes, each with its place in the environment, and waits for
/// them; their output is not touched. Signals that ask to stop are passed on;
/// one of the processes may also get one alone, and the others agree to stop
/// with it. When one fails, the others are ended, by SIGTERM and 15 s later by
/// SIGKILL, and a line on stderr says which it was. They also end when this
/// process does. Returns the exit status: 0, that of the first that failed (1
/// for a signal), or `statusOfSignal` where they were asked to stop. Throws
/// IoError where one cannot be started.
int launch(const Launch &launch);

/// Is this process one of a launch, by any starter? Then --gpus and
/// --processes are done already.
bool isLaunched();

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_LAUNCHER_H
