//===- Tuner.cpp - The fastest configuration of one launch ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Tuner.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

namespace nereid::tune {

/// Elements of operations on the reference executor: a number, and not a time,
/// so that what is judged depends on no machine (docs/Tune.md).
static constexpr uint64_t wholeReferenceBudget = uint64_t{1} << 26;

Tuner::Tuner(LaunchTrials &trials, TunerOptions options, Journal journal,
             Observer &observer)
    : trials(trials), options(std::move(options)), journal(std::move(journal)),
      observer(observer), history(this->journal.read()),
      measurement(trials.key().device, {.clock = this->options.clock,
                                        .machine = this->options.machine}),
      referenceBudget(wholeReferenceBudget),
      startNs(this->options.clock->now()) {}

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

double Tuner::milliseconds(size_t trial) const { return times.ms(trial); }

TrialRecord Tuner::record(size_t trial) const {
  const Entry &entry = entries[trial];
  TrialRecord record{trials.config(trial), entry.state, 0, 0, 0, entry.message};
  if (entry.contender && times.samples(trial)) {
    record.samples = times.samples(trial);
    record.ms = times.ms(trial);
    record.spread = bench::summarize(times.all(trial)).spread();
  }
  return record;
}

std::vector<TrialRecord> Tuner::records() const {
  std::vector<TrialRecord> result;
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    if (!entries[trial].isTwin &&
        (entries[trial].isOut || entries[trial].contender)) {
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
        entries[trial].contender && times.samples(trial)) {
      result.push_back(trial);
    }
  }
  std::sort(result.begin(), result.end(),
            [&](size_t a, size_t b) { return times.ms(a) < times.ms(b); });
  return result;
}

/// The best time that is shown only falls, unless its configuration is out.
void Tuner::tell(bool isMeasuring) {
  shown.tried = 0;
  shown.known = trials.size();
  shown.isMeasuring = isMeasuring;
  for (const Entry &entry : entries) {
    shown.tried += entry.isOut || entry.contender || entry.isTwin;
  }
  std::vector<size_t> best = standing();
  bool isGone = std::find(best.begin(), best.end(), shownTrial) == best.end();
  if (best.empty()) {
    shown.best.clear();
  } else if (shown.best.empty() || isGone || times.ms(best[0]) < shown.bestMs) {
    shownTrial = best[0];
    shown.best = describe(trials.config(best[0]));
    shown.bestMs = times.ms(best[0]);
  }
  observer.progress(shown);
}

double Tuner::secondsOver() const {
  return options.clock->secondsSince(startNs);
}

double Tuner::secondsLeft() const {
  double limit =
      options.searchSeconds > 0 ? options.searchSeconds : options.limitSeconds;
  return limit > 0 ? limit - secondsOver()
                   : std::numeric_limits<double>::infinity();
}

/// The last rounds and judgements take their time, too.
bool Tuner::isOver() const {
  constexpr double share = 0.15;
  double limit =
      options.searchSeconds > 0 ? options.searchSeconds : options.limitSeconds;
  return (options.isStopped && options.isStopped()) ||
         secondsLeft() < share * limit;
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
  std::deque<std::pair<size_t, std::optional<Status>>> results;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < batch.size(); i = next++) {
      if (i && isOver()) {
        std::lock_guard lock(mutex);
        results.emplace_back(batch[i], std::nullopt);
        ready.notify_one();
        continue;
      }
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
    auto one = std::move(results.front());
    results.pop_front();
    lock.unlock();
    if (one.second) {
      status = done(one.first, *one.second);
    } else {
      ++verdict_.untried;
    }
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
/// reported before anything is compiled, and noted nowhere.
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
    if (isOver() && !standing().empty()) {
      ++verdict_.untried;
    } else {
      status = status.ok() ? tryOut(trial) : status;
    }
  }
  Status judged = findSuspects();
  return status.ok() ? judged : status;
}

/// What was tried already, under another name: on the CPU options of a GPU
/// change no code.
bool Tuner::isTwin(size_t trial) {
  uint64_t code = trials.codeOf(trial);
  Entry &entry = entries[trial];
  entry.isTwin = code && !codes.insert(code).second;
  verdict_.twins += entry.isTwin;
  return entry.isTwin;
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
  if (isTwin(trial)) {
    tell();
    return Status::success();
  }
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
    // With the best, which says what the machine is like at this moment.
    std::vector<size_t> pair = standing();
    pair.resize(std::min<size_t>(pair.size(), 1));
    pair.push_back(trial);
    entries[trial].contender = index;
    runRounds(1, pair);
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
                                  ": " + std::to_string(times.ms(trial)) +
                                  " ms");
    }
  }
  tell();
  return status;
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
  size_t atOnce = 2 * compileThreads();
  auto evaluateInTime = [&](std::vector<size_t> batch) -> Status {
    size_t i = 0;
    for (; i < batch.size() && !isOver(); i += atOnce) {
      auto end = batch.begin() + std::min(i + atOnce, batch.size());
      Status status = evaluate({batch.begin() + i, end});
      if (!status.ok()) {
        return status;
      }
    }
    verdict_.untried += batch.size() - std::min(i, batch.size());
    return Status::success();
  };
  Status status = evaluateInTime(addNew(space.seeds()));
  while (status.ok() && !isOver()) {
    std::vector<ConfigDescription> next;
    std::vector<size_t> best = standing();
    if (agreement.isUndecided()) {
      // Those that touch the most, and ones that may touch more, may decide;
      // which of them is fast is a later question.
      const std::set<size_t> &likeliest = agreement.likeliest();
      std::erase_if(best, [&](size_t trial) {
        return !likeliest.contains(trial) || entries[trial].isExpanded;
      });
      best.resize(std::min<size_t>(best.size(), 1));
      for (size_t trial : best) {
        next = space.wider(trials.config(trial));
      }
    }
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
  verdict_.isStopped = options.isStopped && options.isStopped();
  if (agreement.isUndecided()) {
    verdict_.doubt = agreement.doubt();
    const std::set<size_t> &likeliest = agreement.likeliest();
    for (size_t trial : standing()) {
      if (likeliest.contains(trial)) {
        return trial;
      }
    }
  }
  return choose();
}

Expected<size_t> Tuner::choose() {
  do {
    while (!standing().empty()) {
      Expected<std::optional<size_t>> best = measureInRounds();
      if (!best.ok()) {
        return best.failure();
      }
      if (*best && repeatsItself(**best) && isRight(**best)) {
        verdict_.rivals = rivalsOf(**best);
        TraceRange range("choice: " + describe(trials.config(**best)));
        return **best;
      }
    }
  } while (takeBack());
  return firstFailure ? *firstFailure
                      : Failure{ErrorCode::Unsupported,
                                trials.key().kernel +
                                    ": no configuration can be chosen: each "
                                    "run of one gives other results",
                                {}};
}

} // namespace nereid::tune
