//===- Tuner.h - The fastest configuration of one launch --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All configurations compile in parallel; of those with equal code one stands
// for all. Each runs once from fresh tensors, which finds those that fault and
// compares results (Agreement.h), and once in a round with the best so far;
// then those that may be the best are measured in rounds (PairedTimes.h), until
// it is known which it is or the time is over. A configuration is never out: it
// is in a round whenever it may be the best by what is known then. On a GPU the
// first are measured while others compile; on the host's own cores that would
// disturb the times. The one that is chosen runs once more, and, where it can,
// on the reference executor.
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
#include "nereid/Tune/PairedTimes.h"
#include "nereid/Tune/Search.h"
#include "nereid/Tune/TuningStore.h"

namespace nereid::tune {

struct Progress {
  size_t tried = 0, known = 0; ///< of all that are known so far
  std::string best;            ///< empty: none yet
  double bestMs = 0;
  bool isMeasuring = false; ///< the last rounds
};

/// Hears what happens, on the launching thread but for `compiling`.
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
  double limitSeconds = 0;  ///< of a list; 0: none
  SearchValues searchValues;
  size_t compileThreads = 0; ///< 0: one a core
  /// In which a choice is measured: fewer choose sooner, and less surely.
  size_t mostRounds = 96;
  /// Measures runs on host devices, and how much of searchSeconds is over.
  SharedClock clock = {};
  Machine machine = thisMachine();
  /// Asked now and then: true ends the work with what there is.
  std::function<bool()> isStopped = nullptr;
};

/// How the choice is to be taken.
struct Verdict {
  /// Configurations compute different things, and nothing says which is right.
  std::string doubt;
  /// What holds of all configurations alike.
  std::string remark;
  /// Others that may be faster by more than a twentieth; the machine is noisy.
  size_t rivals = 0;
  /// Configurations with the code of another one, and ones for which there was
  /// no time.
  size_t twins = 0, untried = 0;
  bool isStopped = false; ///< by the caller
};

class Tuner {
public:
  Tuner(LaunchTrials &trials, TunerOptions options, Journal journal,
        Observer &observer);

  /// The trial that is chosen; the first failure when none can be.
  Expected<size_t> run();
  double milliseconds(size_t trial) const;
  std::vector<TrialRecord> records() const;
  const Verdict &verdict() const { return verdict_; }
  /// By a fault, so that this process can run nothing more.
  bool isDeviceLost() const { return deviceIsLost; }

private:
  struct Entry {
    TrialState state = TrialState::Measured;
    std::string message;
    bool isOut = false, isSuspect = false, isExpanded = false, isTwin = false;
    bool failedReference = false;
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
  bool isTwin(size_t trial);
  Status findSuspects();
  Status explore(size_t trial);
  /// Empty, or what is wrong with it. Its reads go to `coverage`.
  std::string judge(size_t trial, Coverage *coverage);
  bool isRight(size_t trial);
  Expected<size_t> choose();
  bool takeBack();
  double secondsOver() const;
  double secondsLeft() const;
  /// No more is to be begun.
  bool isOver() const;
  std::vector<size_t> standing() const;
  Expected<std::optional<size_t>> measureInRounds();
  Status rounds(size_t count, std::vector<size_t> &of);
  void runRounds(size_t count, const std::vector<size_t> &of);
  std::vector<size_t> contestants(size_t most) const;
  size_t rivalsOf(size_t best) const;
  bool repeatsItself(size_t trial);
  TrialRecord record(size_t trial) const;
  void tell(bool isMeasuring = false);
  size_t compileThreads() const;

  LaunchTrials &trials;
  TunerOptions options;
  Journal journal;
  Observer &observer;
  Journal::History history;
  bench::Measurement measurement;
  PairedTimes times;
  Agreement agreement;
  Verdict verdict_;
  std::set<uint64_t> codes; ///< of those that were tried
  uint64_t referenceBudget;
  Progress shown;
  size_t shownTrial = 0;
  std::vector<Entry> entries;
  std::set<std::string> known; ///< configurations, described
  std::optional<Failure> firstFailure;
  bool deviceIsLost = false, haveDisagreed = false;
  const int64_t startNs;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_TUNER_H
