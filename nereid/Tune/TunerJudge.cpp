//===- TunerJudge.cpp - Which configurations compute what they should -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Tune/Tuner.h"

#include <algorithm>

namespace nereid::tune {

/// Of the copies, those that the trials write.
static Results writtenOf(const ReferenceRun &run, const Results &like) {
  std::vector<NamedTensor> written;
  for (const NamedTensor &one : run.tensors) {
    bool isWritten =
        std::any_of(like.begin(), like.end(),
                    [&](const Sample &s) { return s.name == one.name; });
    if (isWritten) {
      written.push_back(one);
    }
  }
  return resultsOf(written);
}

static void addReads(const AccessWatch &watch, Coverage &coverage) {
  for (const AccessWatch::Array &array : watch.arrays) {
    std::vector<bool> read(array.uses.size());
    for (size_t i = 0; i < read.size(); ++i) {
      read[i] = array.uses[i] & AccessWatch::WasRead;
    }
    coverage.read[array.name] = std::move(read);
  }
}

/// The reference executor runs the programs one after the other. What it finds
/// is no other way to compute the same, but a configuration whose result
/// depends on which program runs first, or whose code computes something else.
std::string Tuner::judge(size_t trial, Coverage *coverage) {
  uint64_t budget = std::min(referenceBudget, (uint64_t{1} << 24));
  if (budget < (uint64_t{1} << 16)) {
    return "";
  }
  Expected<ReferenceRun> run = trials.runReference(trial, budget, false);
  if (!run.ok()) {
    return "";
  }
  const AccessWatch &watch = run->watch;
  referenceBudget -= std::min(referenceBudget, watch.spent);
  if (watch.isOutside) {
    return "it leaves its arrays";
  }
  if (watch.loadsMeetStores && !watch.takesTurns) {
    return "it has a race: a program loads what another one stores";
  }
  if (!watch.isWhole) {
    return "";
  }
  // Order and rounding may differ by more than between two devices' sums.
  constexpr double allowance = 32;
  const Results &own = agreement.results(trial);
  Results expected = writtenOf(*run, own);
  if (watch.storesMeet) {
    Expected<ReferenceRun> backward = trials.runReference(trial, budget, true);
    if (backward.ok()) {
      referenceBudget -= std::min(referenceBudget, backward->watch.spent);
    }
    if (backward.ok() && backward->watch.isWhole) {
      std::string text =
          difference(expected, writtenOf(*backward, own), allowance);
      if (!text.empty()) {
        return "it has a race: where the last program runs first, " + text;
      }
    }
  }
  if (std::string text = difference(own, expected, allowance); !text.empty()) {
    return "the reference executor computes something else with it: " + text;
  }
  if (coverage) {
    addReads(watch, *coverage);
  }
  return "";
}

/// What it writes: its floats are filled with a number that no kernel stores,
/// and run over. What it reads, where the reference executor can say.
Status Tuner::explore(size_t trial) {
  constexpr double unlikely = -1.8765432e-7;
  Coverage coverage;
  // The reference executor has a budget of its own: its time is no trial's.
  std::string wrong = judge(trial, &coverage);
  journal.begin(trials.config(trial));
  observer.begin(trials.config(trial));
  Status status = trials.runFilled(
      trial, unlikely, [&](std::span<const NamedTensor> written) {
        for (const NamedTensor &one : written) {
          if (!isFloat(one.tensor.dtype())) {
            continue;
          }
          Tensor filled = empty({1}, one.tensor.dtype(), Device::cpu());
          filled.fill(unlikely);
          double before = filled.toFloat64()[0];
          Results after = resultsOf({&one, 1});
          std::vector<bool> is;
          for (double value : after[0].values) {
            is.push_back(value != before);
          }
          coverage.written[one.name] = std::move(is);
        }
      });
  if (!status.ok() && wrong.empty()) {
    wrong = "it fails on other numbers: " + status.failure().message;
  }
  if (!status.ok() && status.failure().code == ErrorCode::KernelFault) {
    agreement.remove(trial);
    return failed(trial, status.failure());
  }
  journal.end(record(trial));
  observer.end(record(trial));
  if (wrong.empty()) {
    agreement.setCoverage(trial, std::move(coverage));
    return Status::success();
  }
  agreement.remove(trial);
  drop(trial, TrialState::Suspect, wrong);
  entries[trial].failedReference = true;
  return Status::success();
}

/// What more configurations say may take back what fewer said.
Status Tuner::findSuspects() {
  for (auto trials = agreement.unexplored(); !trials.empty();
       trials = agreement.unexplored()) {
    haveDisagreed = true;
    if (Status status = explore(trials[0]); !status.ok()) {
      return status;
    }
  }
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    Entry &entry = entries[trial];
    if (entry.isOut || !entry.contender) {
      continue;
    }
    entry.isSuspect = !agreement.agrees(trial);
    entry.state = entry.isSuspect ? TrialState::Suspect : TrialState::Measured;
    entry.message = agreement.reason(trial);
  }
  return Status::success();
}

/// Two runs of what has a race may differ.
bool Tuner::repeatsItself(size_t trial) {
  if (!agreement.has(trial)) {
    return true; // taken back
  }
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

bool Tuner::isRight(size_t trial) {
  if (verdict_.isStopped || !verdict_.remark.empty()) {
    return true;
  }
  std::string wrong = judge(trial, nullptr);
  if (!wrong.empty()) {
    drop(trial, TrialState::Suspect, wrong);
    entries[trial].failedReference = true;
  }
  return wrong.empty();
}

/// Where the reference executor has something against every configuration, that
/// is no reason to take none: it is so of the kernel.
bool Tuner::takeBack() {
  bool isAny = false;
  for (size_t trial = 0; trial < entries.size(); ++trial) {
    Entry &entry = entries[trial];
    if (entry.failedReference && entry.contender) {
      verdict_.remark = "of every configuration: " + entry.message;
      entry.isOut = false;
      entry.state = TrialState::Measured;
      entry.failedReference = false;
      isAny = true;
    }
  }
  if (isAny && haveDisagreed) {
    verdict_.doubt = "configurations disagree, and " + verdict_.remark;
  }
  return isAny;
}

} // namespace nereid::tune
