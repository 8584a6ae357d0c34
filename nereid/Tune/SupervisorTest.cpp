//===- SupervisorTest.cpp - Tuning in a process that may end --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workers are shell scripts that say what a worker says. How long a trial
// takes is what the test's clock says: it moves when the supervisor reports
// progress, which a script makes it do.
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Supervisor.h"

#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Support/Files.h"

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace nereid;
using namespace nereid::tune;
using testing::HasSubstr;

namespace {

class Supervised : public testing::Test {
protected:
  Supervised() {
    char name[] = "/tmp/nereid-supervisor-XXXXXX";
    root = ::mkdtemp(name);
    options.program = "/bin/sh";
    options.limitSeconds = 10;
    options.clock = clock;
    options.progress = [this](const Progress &) {
      clock->advanceSeconds(secondsPerProgress);
    };
    config.values["BLOCK"] = 64;
  }
  ~Supervised() override { std::filesystem::remove_all(root); }

  std::string journalPath() const { return root + "/journal"; }
  /// A line of the worker, as a command of the shell. The pipe is $1.
  static std::string say(const nlohmann::ordered_json &line) {
    return "echo '" + line.dump() + "' > /proc/self/fd/$1\n";
  }
  std::string begin() const {
    return say({{"journal", journalPath()}}) + say({{"begin", toJson(config)}});
  }
  static std::string progress() {
    return say({{"tried", 1},
                {"known", 2},
                {"best", ""},
                {"best_ms", 0},
                {"last", false}});
  }
  std::string end() const {
    TrialRecord trial;
    trial.config = config;
    return say({{"end", toJson(trial)}});
  }
  std::string result() const {
    TuningRecord record;
    record.kernel = "k";
    record.config = config;
    return say({{"result", toJson(record)}, {"found", false}, {"ready_ms", 7}});
  }
  /// What the first worker does; later ones have a result at once.
  SupervisedTuning supervise(const std::string &first) {
    std::string script = "if [ -e " + root + "/first ]; then\n" + result() +
                         "exit 0\nfi\ntouch " + root + "/first\n" + first;
    options.command = {"sh", "-c", script};
    Expected<SupervisedTuning> tuning = superviseTuning(options);
    EXPECT_TRUE(tuning.ok());
    return tuning.ok() ? *tuning : SupervisedTuning();
  }
  std::optional<TrialRecord> ended() const {
    Journal::History history = Journal(journalPath()).read();
    auto found = history.ended.find(describe(config));
    return found == history.ended.end() ? std::nullopt
                                        : std::optional(found->second);
  }

  std::string root;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  double secondsPerProgress = 0;
  ConfigDescription config;
  SupervisorOptions options;
};

} // namespace

TEST_F(Supervised, ATrialThatTakesItsTimeIsLeftAlone) {
  secondsPerProgress = 9.9;
  SupervisedTuning tuning =
      supervise(begin() + progress() + end() + progress() + result());
  EXPECT_EQ(tuning.exitCode, 0);
  ASSERT_TRUE(tuning.result);
  EXPECT_EQ(tuning.result->record.kernel, "k");
  EXPECT_EQ(tuning.result->readyMs, 7);
  EXPECT_FALSE(ended());
}

TEST_F(Supervised, ATrialBeyondItsTimeIsEndedAndTheNextWorkerGoesOn) {
  secondsPerProgress = 10.1;
  SupervisedTuning tuning =
      supervise(begin() + progress() + "exec tail -f /dev/null\n");
  ASSERT_TRUE(tuning.result);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->state, TrialState::Hung);
  EXPECT_EQ(ended()->message, "it did not end within 10 s (--limit)");
}

TEST_F(Supervised, ARoundHasTimeForEachOfItsTrials) {
  secondsPerProgress = 29.9;
  SupervisedTuning tuning = supervise(say({{"measuring", 3}}) + progress() +
                                      say({{"measuring", 0}}) + result());
  EXPECT_TRUE(tuning.result);
  std::filesystem::remove(root + "/first");
  secondsPerProgress = 30.1;
  tuning = supervise(say({{"measuring", 3}}) + progress() +
                     "exec tail -f /dev/null\n");
  EXPECT_TRUE(tuning.result) << "the next worker's";
}

TEST_F(Supervised, ATrialThatEndsItsProcessIsNotedWithItsSignal) {
  SupervisedTuning tuning = supervise(begin() + "kill -SEGV $$\n");
  ASSERT_TRUE(tuning.result);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->state, TrialState::Faulted);
  EXPECT_THAT(ended()->message, HasSubstr("ended its process by signal 11"));
}

TEST_F(Supervised, AWorkerThatEndsByItselfHasSaidWhy) {
  SupervisedTuning tuning = supervise("exit 3\n");
  EXPECT_EQ(tuning.exitCode, 3);
  EXPECT_FALSE(tuning.result);
}

TEST_F(Supervised, WhatCannotBeExecutedIsTold) {
  options.program = root + "/none";
  SupervisedTuning tuning = supervise("");
  EXPECT_EQ(tuning.exitCode, 127);
  EXPECT_FALSE(tuning.result);
}

//===----------------------------------------------------------------------===//
// A signal that ends the tuning
//===----------------------------------------------------------------------===//

namespace {
class Signalled : public Supervised {
protected:
  Signalled() {
    options.signal = &signal;
    options.progress = [this](const Progress &) {
      signal = SIGINT;
      clock->advanceSeconds(secondsPerProgress);
    };
  }
  std::atomic<int> signal = 0;
};
} // namespace

TEST_F(Signalled, TheWorkerIsAskedForWhatItHas) {
  SupervisedTuning tuning =
      supervise("finish() {\n" + result() + "kill $!\nexit 0\n}\n" +
                "trap \"finish $1\" TERM\ntail -f /dev/null &\n" + begin() +
                end() + progress() + "wait\n");
  EXPECT_EQ(tuning.exitCode, 130);
  EXPECT_EQ(tuning.signal, SIGINT);
  ASSERT_TRUE(tuning.result);
  EXPECT_EQ(tuning.result->record.kernel, "k");
}

TEST_F(Signalled, OneThatDoesNotAnswerIsEndedAndWhatItToldIsLeft) {
  secondsPerProgress = options.secondsToStop + 1;
  SupervisedTuning tuning = supervise("trap '' TERM\n" + begin() + end() +
                                      "while :; do\n" + progress() + "done\n");
  EXPECT_EQ(tuning.exitCode, 130);
  EXPECT_FALSE(tuning.result);
  ASSERT_EQ(tuning.trials.size(), 1u);
  EXPECT_EQ(describe(tuning.trials[0].config), describe(config));
}
