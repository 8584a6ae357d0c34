//===- Tuner.h - The fastest configuration of one launch -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All configurations compile in parallel. Each runs once from fresh tensors,
// which finds those that fault and compares results (Agreement.h), and a few
// times with the clock; then the better ones are measured in rounds, ever fewer
// of them ever longer. On a GPU the first are measured while others compile; on
// the host's own cores that would disturb the times.
//
// A search (TunerOptions::searchSeconds) begins with the list and with guesses,
// and goes on with neighbours of the best: a value doubled or halved, one
// option changed.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_TUNER_H
#define NEREID_TUNE_TUNER_H

#include "nereid/Bench/Measure.h"
#include "nereid/Tune/Agreement.h"
#include "nereid/Tune/KeptResults.h"
#include "nereid/Tune/Search.h"

namespace nereid::tune {

struct Progress {
  size_t tried = 0, known = 0; ///< of all that are known so far
  std::string best;            ///< empty: none yet
  double bestMs = 0;
  bool isMeasuring = false; ///< the last rounds
};

/// Is told what happens, on the launching thread but for `compiling`.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void start(const Journal &journal) {}
  /// Any thread.
  virtual void compiling(const ConfigDescription &config, bool isBegin) {}
  virtual void begin(const ConfigDescription &config) {}
  virtual void end(const TrialRecord &trial) {}
  /// Rounds of so many begin; 0: they are over.
  virtual void measuring(size_t trials) {}
  virtual void progress(const Progress &progress) {}
  /// The device does nothing any more for this process. Need not return.
  virtual void deviceLost(const TrialRecord &trial) {}
};

struct TunerOptions {
  double searchSeconds = 0; ///< 0: the list alone
  SearchValues searchValues;
  size_t compileThreads = 0; ///< 0: one a core
  /// Measures runs on host devices, and how much of searchSeconds is over.
  SharedClock clock = {};
  Machine machine = thisMachine();
};

class Tuner {
public:
  Tuner(LaunchTrials &trials, TunerOptions options, Journal journal,
        Observer &observer);

  /// The trial that is chosen; the first failure when none can be.
  Expected<size_t> run();
  double milliseconds(size_t trial) const;
  std::vector<TrialRecord> records() const;
  /// By a fault, so that this process can run nothing more.
  bool isDeviceLost() const { return deviceIsLost; }

private:
  struct Entry {
    TrialState state = TrialState::Measured;
    std::string message;
    bool isOut = false, isSuspect = false, isExpanded = false;
    std::optional<size_t> contender;
  };

  /// Compiles and tries them; those that the journal knows are taken over.
  Status evaluate(std::vector<size_t> batch);
  bool isKnown(size_t trial);
  Status checkGrids(std::vector<size_t> &batch);
  Status compileAll(const std::vector<size_t> &batch,
                    const std::function<Status(size_t, const Status &)> &done);
  Status compiled(size_t trial, const Status &status);
  Status tryOut(size_t trial);
  Status runFirst(size_t trial);
  Status failed(size_t trial, const Failure &failure);
  void drop(size_t trial, TrialState state, std::string message);
  Status search();
  std::vector<size_t> addNew(std::vector<ConfigDescription> configs);
  void findSuspects();
  std::vector<size_t> standing() const;
  Expected<std::optional<size_t>> measureInRounds();
  Status rounds(size_t count, std::vector<size_t> &of);
  bool repeatsItself(size_t trial);
  double roughMs(size_t trial) const;
  TrialRecord record(size_t trial) const;
  void tell(bool isMeasuring = false);
  size_t compileThreads() const;

  LaunchTrials &trials;
  TunerOptions options;
  Journal journal;
  Observer &observer;
  Journal::History history;
  bench::Measurement measurement;
  Agreement agreement;
  std::vector<Entry> entries;
  std::set<std::string> known; ///< configurations, described
  std::optional<Failure> firstFailure;
  bool deviceIsLost = false;
  const int64_t startNs;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_TUNER_H
