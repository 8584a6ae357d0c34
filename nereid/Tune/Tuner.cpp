//===- Tuner.cpp - The fastest configuration of one launch ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Tuner.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

namespace nereid::tune {

Tuner::Tuner(LaunchTrials &trials, TunerOptions options, Journal journal,
             Observer &observer)
    : trials(trials), options(std::move(options)), journal(std::move(journal)),
      observer(observer), history(this->journal.read()),
      measurement(trials.key().device, {.clock = this->options.clock,
                                        .machine = this->options.machine}),
      startNs(this->options.clock->now()) {}

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

double Tuner::roughMs(size_t trial) const {
  const Entry &entry = entries[trial];
  if (!entry.contender) {
    return std::numeric_limits<double>::infinity();
  }
  // The least is what an undisturbed run takes, where few are measured.
  constexpr size_t few = 6;
  const std::vector<double> &samples = measurement.samples(*entry.contender);
  if (samples.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  return samples.size() < few
             ? *std::min_element(samples.begin(), samples.end())
             : bench::summarize(samples).median;
}

double Tuner::milliseconds(size_t trial) const {
  return bench::summarize(measurement.samples(*entries[trial].contender))
      .median;
}

TrialRecord Tuner::record(size_t trial) const {
  const Entry &entry = entries[trial];
  TrialRecord record{trials.config(trial), entry.state, 0, 0, 0, entry.message};
  if (entry.contender) {
    bench::Summary summary =
        bench::summarize(measurement.samples(*entry.contender));
    record.samples = summary.samples;
    record.ms = summary.median;
    record.spread = summary.spread();
  }
  return record;
}

std::vector<TrialRecord> Tuner::records() const {
  std::vector<TrialRecord> result;
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    if (entries[trial].isOut || entries[trial].contender) {
      result.push_back(record(trial));
    }
  }
  return result;
}

void Tuner::drop(size_t trial, TrialState state, std::string message) {
  Entry &entry = entries[trial];
  entry.isOut = true;
  entry.state = state;
  entry.message = std::move(message);
}

std::vector<size_t> Tuner::standing() const {
  std::vector<size_t> result;
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    if (!entries[trial].isOut && !entries[trial].isSuspect &&
        entries[trial].contender &&
        !measurement.samples(*entries[trial].contender).empty()) {
      result.push_back(trial);
    }
  }
  std::sort(result.begin(), result.end(),
            [&](size_t a, size_t b) { return roughMs(a) < roughMs(b); });
  return result;
}

void Tuner::tell(bool isMeasuring) {
  Progress progress{0, trials.size(), "", 0, isMeasuring};
  for (const Entry &entry : entries) {
    progress.tried += entry.isOut || entry.contender;
  }
  std::vector<size_t> best = standing();
  if (!best.empty()) {
    progress.best = describe(trials.config(best[0]));
    progress.bestMs = roughMs(best[0]);
  }
  observer.progress(progress);
}

/// A failure of the launch itself is the caller's; one of this configuration
/// takes it out.
Status Tuner::failed(size_t trial, const Failure &failure) {
  bool isFault = failure.code == ErrorCode::KernelFault ||
                 failure.code == ErrorCode::Internal;
  if (!isFault && !isOfConfig(failure)) {
    return failure;
  }
  firstFailure = firstFailure ? firstFailure : failure;
  drop(trial,
       failure.code == ErrorCode::CompileError ? TrialState::NotCompiled
       : isFault                               ? TrialState::Faulted
                                               : TrialState::TooLarge,
       failure.str());
  journal.end(record(trial));
  observer.end(record(trial));
  if (!isFault) {
    return Status::success();
  }
  try {
    synchronize(trials.key().device);
    return Status::success();
  } catch (const Error &) {
    deviceIsLost = true;
    observer.deviceLost(record(trial));
    Failure lost = failure;
    lost.message =
        trials.key().kernel + ": the configuration " +
        describe(trials.config(trial)) +
        " left the device unusable for this process; the next one leaves it "
        "out, and 'nereid tune' goes on after such a failure\n" +
        failure.message;
    return lost;
  }
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

size_t Tuner::compileThreads() const {
  return options.compileThreads ? options.compileThreads
                                : static_cast<size_t>(options.machine.cores);
}

/// `done` is called on this thread, in the order in which they are ready. A
/// failure of it ends everything.
Status
Tuner::compileAll(const std::vector<size_t> &batch,
                  const std::function<Status(size_t, const Status &)> &done) {
  std::mutex mutex;
  std::condition_variable ready;
  std::deque<std::pair<size_t, Status>> results;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < batch.size(); i = next++) {
      observer.compiling(trials.config(batch[i]), true);
      Status status = trials.compile(batch[i]);
      observer.compiling(trials.config(batch[i]), false);
      std::lock_guard lock(mutex);
      results.emplace_back(batch[i], status);
      ready.notify_one();
    }
  };
  std::vector<std::jthread> pool;
  for (size_t i = 0; i < std::min(compileThreads(), batch.size()); ++i) {
    pool.emplace_back(work);
  }
  Status status = Status::success();
  for (size_t left = batch.size(); left && status.ok(); --left) {
    std::unique_lock lock(mutex);
    ready.wait(lock, [&] { return !results.empty(); });
    std::pair<size_t, Status> one = std::move(results.front());
    results.pop_front();
    lock.unlock();
    status = done(one.first, one.second);
  }
  next = batch.size();
  return status;
}

/// From the journal of a process that did not end its work.
bool Tuner::isKnown(size_t trial) {
  std::string text = describe(trials.config(trial));
  auto ended = history.ended.find(text);
  if (ended != history.ended.end() &&
      ended->second.state != TrialState::Measured) {
    drop(trial, ended->second.state, ended->second.message);
    if (!firstFailure) {
      firstFailure = Failure{ErrorCode::KernelFault, ended->second.message, {}};
    }
    return true;
  }
  auto begun = history.begun.find(text);
  if (begun != history.begun.end() && begun->second > 1) {
    drop(trial, TrialState::Faulted, "two processes ended while they ran it");
    return true;
  }
  return false;
}

/// A grid that no configuration can have is an error of the launch, which is
/// told before anything is compiled, and noted nowhere.
Status Tuner::checkGrids(std::vector<size_t> &batch) {
  std::vector<std::pair<size_t, Failure>> failures;
  for (size_t trial : batch) {
    Expected<std::array<int32_t, 3>> grid = trials.grid(trial);
    if (!grid.ok()) {
      failures.emplace_back(trial, grid.failure());
    }
  }
  if (!failures.empty() && failures.size() == entries.size()) {
    return failures[0].second;
  }
  for (const auto &[trial, failure] : failures) {
    drop(trial, TrialState::NoGrid, failure.str());
    observer.end(record(trial));
    std::erase(batch, trial);
  }
  return Status::success();
}

Status Tuner::evaluate(std::vector<size_t> batch) {
  entries.resize(trials.size());
  if (Status status = checkGrids(batch); !status.ok()) {
    return status;
  }
  std::erase_if(batch, [&](size_t trial) { return isKnown(trial); });
  // What ran when a process died is tried when the others are done.
  std::stable_partition(batch.begin(), batch.end(), [&](size_t trial) {
    return !history.begun.contains(describe(trials.config(trial)));
  });
  bool isHost = trials.key().device.isHost();
  std::vector<size_t> ready, last;
  Status status =
      compileAll(batch, [&](size_t trial, const Status &compiled) -> Status {
        if (!compiled.ok()) {
          Status status = failed(trial, compiled.failure());
          tell();
          return status;
        }
        bool isRisky = history.begun.contains(describe(trials.config(trial)));
        if (isHost || isRisky) {
          (isRisky ? last : ready).push_back(trial);
          return Status::success();
        }
        return tryOut(trial);
      });
  std::sort(ready.begin(), ready.end());
  ready.insert(ready.end(), last.begin(), last.end());
  for (size_t trial : ready) {
    status = status.ok() ? tryOut(trial) : status;
  }
  findSuspects();
  return status;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status Tuner::runFirst(size_t trial) {
  return trials.runFresh(trial, [&](std::span<const NamedTensor> written) {
    agreement.add(trial, trials.config(trial), resultsOf(written));
  });
}

Status Tuner::tryOut(size_t trial) {
  const ConfigDescription &config = trials.config(trial);
  journal.begin(config);
  observer.begin(config);
  Status status = runFirst(trial);
  if (status.ok()) {
    bench::Contender contender{describe(config), [this, trial](size_t) {
                                 throwIfFailed(trials.run(trial));
                               }};
    contender.before = [this, trial](size_t) {
      throwIfFailed(trials.before(trial));
    };
    contender.after = [this, trial](size_t) {
      throwIfFailed(trials.after(trial));
    };
    size_t index = measurement.add(std::move(contender));
    entries[trial].contender = index;
    constexpr size_t few = 2;
    for (size_t i = 0; i < few; ++i) {
      measurement.rounds(1, std::span(&index, 1));
      std::vector<size_t> best = standing();
      if (best.empty() || roughMs(trial) > 2 * roughMs(best[0])) {
        break; // hopeless
      }
    }
    if (const auto &failure = measurement.times(index).failure) {
      entries[trial].contender.reset();
      status = *failure;
    }
  }
  if (!status.ok()) {
    status = failed(trial, status.failure());
  } else {
    journal.end(record(trial));
    observer.end(record(trial));
    if (logEnabled(LogTopic::Tune)) {
      logLine(LogTopic::Tune, trials.key().kernel + " " + describe(config) +
                                  ": " + std::to_string(roughMs(trial)) +
                                  " ms");
    }
  }
  tell();
  return status;
}

/// What more configurations say may take back what fewer said.
void Tuner::findSuspects() {
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    Entry &entry = entries[trial];
    if (entry.isOut || !entry.contender) {
      continue;
    }
    entry.isSuspect = !agreement.agrees(trial);
    entry.state = entry.isSuspect ? TrialState::Suspect : TrialState::Measured;
    entry.message = agreement.reason(trial);
  }
}

/// Two runs of what has a race may differ.
bool Tuner::repeatsItself(size_t trial) {
  std::string text;
  Status status =
      trials.runFresh(trial, [&](std::span<const NamedTensor> written) {
        text = difference(resultsOf(written), agreement.results(trial));
      });
  if (!status.ok()) {
    drop(trial, TrialState::Faulted, status.failure().str());
  } else if (!text.empty()) {
    drop(trial, TrialState::Suspect,
         "two of its runs differ: " + text + "; it has a race");
  }
  return !entries[trial].isOut;
}

/// So many, or as many as fit into a third of a second. Takes out of `of` what
/// fails only now.
Status Tuner::rounds(size_t count, std::vector<size_t> &of) {
  double roundMs = 0;
  std::vector<size_t> contenders;
  for (size_t trial : of) {
    roundMs += roughMs(trial);
    contenders.push_back(*entries[trial].contender);
  }
  constexpr double budgetMs = 333;
  auto most = static_cast<size_t>(budgetMs / std::max(roundMs, 1e-3));
  observer.measuring(of.size());
  measurement.rounds(std::clamp<size_t>(most, 1, count), contenders);
  observer.measuring(0);
  Status status = Status::success();
  std::erase_if(of, [&](size_t trial) {
    auto failure = measurement.times(*entries[trial].contender).failure;
    if (failure && status.ok()) {
      status = failed(trial, *failure);
    }
    return failure.has_value();
  });
  return status;
}

/// Successive halving. Returns the best of the last rounds, or none where all
/// have failed.
Expected<std::optional<size_t>> Tuner::measureInRounds() {
  struct Stage {
    size_t rounds, most;
    double within; ///< of the best
  };
  constexpr Stage stages[] = {
      {4, 16, 1.3}, {8, 8, 1.12}, {16, 4, 1.05}, {32, 3, 1.03}, {32, 2, 1.02}};
  std::vector<size_t> left = standing();
  for (const Stage &stage : stages) {
    double best = roughMs(left[0]);
    std::erase_if(left, [&](size_t trial) {
      return roughMs(trial) > stage.within * best;
    });
    left.resize(std::min(left.size(), stage.most));
    // A sole one is measured for its time only.
    Status status = rounds(stage.rounds, left);
    if (!status.ok()) {
      return status;
    }
    tell(true);
    if (left.size() < 2) {
      break;
    }
    std::sort(left.begin(), left.end(), [&](size_t a, size_t b) {
      return milliseconds(a) < milliseconds(b);
    });
  }
  return left.empty() ? std::nullopt : std::optional<size_t>(left[0]);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Those that are new.
std::vector<size_t> Tuner::addNew(std::vector<ConfigDescription> configs) {
  std::vector<size_t> added;
  for (ConfigDescription &config : configs) {
    if (known.insert(describe(config)).second) {
      added.push_back(trials.add(std::move(config)));
    }
  }
  return added;
}

Status Tuner::search() {
  SearchSpace space(trials, options.searchValues);
  // The last rounds take their time, too.
  constexpr double share = 0.85;
  auto isOver = [&] {
    return options.clock->secondsSince(startNs) > share * options.searchSeconds;
  };
  size_t atOnce = 2 * compileThreads();
  auto evaluateInTime = [&](std::vector<size_t> batch) -> Status {
    for (size_t i = 0; i < batch.size() && !isOver(); i += atOnce) {
      auto end = batch.begin() + std::min(i + atOnce, batch.size());
      Status status = evaluate({batch.begin() + i, end});
      if (!status.ok()) {
        return status;
      }
    }
    return Status::success();
  };
  Status status = evaluateInTime(addNew(space.seeds()));
  while (status.ok() && !isOver()) {
    std::vector<ConfigDescription> next;
    std::vector<size_t> best = standing();
    constexpr size_t parents = 3, deepest = 12;
    size_t expanded = 0;
    for (size_t i = 0; i < std::min(best.size(), deepest); ++i) {
      Entry &entry = entries[best[i]];
      if (entry.isExpanded || expanded == parents) {
        continue;
      }
      entry.isExpanded = true;
      ++expanded;
      for (ConfigDescription &one : space.neighbours(trials.config(best[i]))) {
        next.push_back(std::move(one));
      }
      if (i == 0) {
        for (ConfigDescription &one :
             space.registerLimits(trials.config(best[i]))) {
          next.push_back(std::move(one));
        }
      }
    }
    if (!expanded) {
      break; // the best and what is around them is known
    }
    status = evaluateInTime(addNew(std::move(next)));
  }
  return status;
}

Expected<size_t> Tuner::run() {
  std::vector<size_t> list;
  for (size_t trial = 0; trial < trials.size(); ++trial) {
    known.insert(describe(trials.config(trial)));
    list.push_back(trial);
  }
  observer.start(journal);
  tell();
  Status status = evaluate(std::move(list));
  if (status.ok() && options.searchSeconds > 0) {
    status = search();
  }
  if (!status.ok()) {
    return status;
  }
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    if (entries[trial].isSuspect) {
      observer.end(record(trial));
    }
  }
  while (!standing().empty()) {
    Expected<std::optional<size_t>> best = measureInRounds();
    if (!best.ok()) {
      return best.failure();
    }
    if (*best && repeatsItself(**best)) {
      return **best;
    }
  }
  return firstFailure ? *firstFailure
                      : Failure{ErrorCode::Unsupported,
                                trials.key().kernel +
                                    ": no configuration can be chosen: each "
                                    "run of one gives other results",
                                {}};
}

} // namespace nereid::tune
