//===- Supervisor.h - Tuning in a process that may end ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A configuration may hang, kill its process, or take the GPU's context with
// it. So a worker process tunes, and tells by lines of JSON on a pipe what it
// is doing; the supervisor never touches the device. When the worker ends
// during a trial, or a trial does not end in time, the supervisor writes into
// the journal what became of it and starts the next worker, which goes on.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_SUPERVISOR_H
#define NEREID_TUNE_SUPERVISOR_H

#include "nereid/Tune/Tuner.h"

#include <atomic>
#include <mutex>

namespace nereid::tune {

/// What the worker has to say at the end.
struct WorkerResult {
  TuningRecord record;
  bool wasFound = false; ///< kept by an earlier process
  double readyMs = 0;    ///< until the choice was known
};

/// The worker's side.
class WorkerObserver : public Observer {
public:
  explicit WorkerObserver(int pipe) : pipe(pipe) {}
  void start(const Journal &journal) override;
  void compiling(const ConfigDescription &config, bool isBegin) override;
  void begin(const ConfigDescription &config) override;
  void end(const TrialRecord &trial) override;
  void measuring(size_t trials) override;
  void progress(const Progress &progress) override;
  [[noreturn]] void deviceLost(const TrialRecord &trial) override;
  void finish(const WorkerResult &result);

private:
  void send(const std::string &line);
  int pipe;
  std::mutex mutex;
};

struct SupervisorOptions {
  /// Program and arguments. "--worker", the pipe's descriptor, and what a
  /// further attempt needs are added.
  std::vector<std::string> command;
  double limitSeconds = 10; ///< of one trial
  std::function<void(const Progress &)> progress;
  /// The file that is executed: this program itself.
  std::string program = "/proc/self/exe";
  /// Says when a trial has had its time. While it stands still, nothing has.
  SharedClock clock = {};
  /// The number of the signal that is to end the tuning; null: none is. The
  /// worker is asked for what it has, and has some seconds for that.
  const std::atomic<int> *signal = nullptr;
  double secondsToStop = 3;
};

struct SupervisedTuning {
  int exitCode = 0; ///< of the worker; it has said why
  std::optional<WorkerResult> result;
  /// What became of each trial, as far as workers have said: for where they
  /// have no result.
  std::vector<TrialRecord> trials;
  int signal = 0; ///< that ended it
};

/// Fails where no worker can be started, or where it ends again and again.
Expected<SupervisedTuning> superviseTuning(const SupervisorOptions &options);

} // namespace nereid::tune

#endif // NEREID_TUNE_SUPERVISOR_H
