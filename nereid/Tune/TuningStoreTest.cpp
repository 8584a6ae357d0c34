//===- TuningStoreTest.cpp - Choices kept between processes ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/TuningStore.h"

#include "nereid/Support/Files.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::tune;
using testing::HasSubstr;

namespace {
class TuningStoreTest : public testing::Test {
protected:
  TuningStoreTest() {
    char name[] = "/tmp/nereid-kept-XXXXXX";
    root = ::mkdtemp(name);
    record.kernel = "k/../e r";
    record.file = "file.py";
    record.sourceHash = "abc";
    record.device = "a device";
    record.values = {{"n", 5},
                     {"flag", true},
                     {"mode", "fast"},
                     {"none", StaticValue()},
                     {"type", DType::BFloat16},
                     {"big", uint64_t{1} << 63},
                     {"x", 1.5}};
    record.dtypes = {{"p", DType::Float16}};
    record.candidates = "1234";
    record.config = config(64);
    record.ms = 0.25;
    record.trials = {{config(64), TrialState::Measured, 0.25, 0.01, 12, ""},
                     {config(128), TrialState::Hung, 0, 0, 0, "too long"}};
  }
  ~TuningStoreTest() override { std::filesystem::remove_all(root); }

  static ConfigDescription config(int block) {
    ConfigDescription config;
    config.values["BLOCK"] = block;
    config.options.numWarps = 8;
    config.options.maxRegisters = 128;
    return config;
  }

  std::string root;
  TuningRecord record;
  TuningStore kept() const { return TuningStore(root + "/tuned"); }
};
} // namespace

TEST_F(TuningStoreTest, EveryFieldComesBack) {
  ASSERT_TRUE(kept().keep(record).ok());
  auto found = kept().find(record);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, record.values);
  EXPECT_EQ(found->dtypes, record.dtypes);
  EXPECT_EQ(found->config.values, record.config.values);
  EXPECT_EQ(found->config.options, record.config.options);
  ASSERT_EQ(found->trials.size(), 2u);
  EXPECT_EQ(found->trials[1].state, TrialState::Hung);
  EXPECT_EQ(found->trials[1].message, "too long");
  EXPECT_EQ(fileText({&record, 1}), fileText({&*found, 1}));
}

TEST_F(TuningStoreTest, EachPartOfTheKeyCounts) {
  ASSERT_TRUE(kept().keep(record).ok());
  auto isOther = [&](auto change) {
    TuningRecord other = record;
    change(other);
    return !kept().find(other);
  };
  EXPECT_TRUE(isOther([](auto &r) { r.sourceHash = "abd"; }));
  EXPECT_TRUE(isOther([](auto &r) { r.device = "another"; }));
  EXPECT_TRUE(isOther([](auto &r) { r.driver = "CUDA 13.0"; }));
  EXPECT_TRUE(isOther([](auto &r) { r.values["n"] = 6; }));
  EXPECT_TRUE(isOther([](auto &r) { r.values["n"] = "5"; }));
  EXPECT_TRUE(isOther([](auto &r) { r.dtypes["p"] = DType::Float32; }));
  EXPECT_FALSE(isOther([](auto &r) { r.file = "moved.py"; }));
}

TEST_F(TuningStoreTest, TheJournalOutlivesItsProcess) {
  Journal journal = kept().journal(record);
  pid_t child = ::fork();
  if (child == 0) {
    journal.begin(config(1));
    journal.end({config(1), TrialState::TooLarge, 0, 0, 0, "no"});
    journal.begin(config(2));
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  // What a process wrote as it died.
  std::string torn = *readFile(journal.path()) + "{\"begin\": {\"BLO";
  ASSERT_TRUE(replaceFile(journal.path(), torn).ok());
  Journal::History history = journal.read();
  ASSERT_EQ(history.ended.size(), 1u);
  EXPECT_EQ(history.ended.at(describe(config(1))).state, TrialState::TooLarge);
  EXPECT_EQ(history.begun,
            (std::map<std::string, int>{{describe(config(2)), 1}}));
  ASSERT_TRUE(kept().keep(record).ok());
  EXPECT_FALSE(std::filesystem::exists(journal.path()));
}

TEST_F(TuningStoreTest, AFailureMayQuoteAnyBytes) {
  TrialRecord failed{config(1), TrialState::TooLarge, 0, 0, 0, "tool: \xff"};
  Journal journal = kept().journal(record);
  journal.end(failed);
  Journal::History history = journal.read();
  ASSERT_EQ(history.ended.size(), 1u);
  EXPECT_EQ(history.ended.at(describe(config(1))).message,
            "tool: \xef\xbf\xbd");
  record.trials.push_back(failed);
  EXPECT_TRUE(kept().keep(record).ok());
}

TEST_F(TuningStoreTest, AJournalIsOfOneLaunch) {
  Journal journal = kept().journal(record);
  journal.claim("n=5");
  journal.begin(config(1));
  journal.claim("n=5");
  EXPECT_EQ(journal.read().begun.size(), 1u);
  journal.claim("n=6");
  EXPECT_TRUE(journal.read().begun.empty());
  journal.forget();
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tuned"));
}

TEST_F(TuningStoreTest, TheLockDiesWithItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    TuningStore::Lock lock(kept(), record);
    (void)!::write(ready[1], "x", 1);
    ::pause();
  }
  char x;
  ASSERT_EQ(::read(ready[0], &x, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  {
    TuningStore::Lock lock(kept(), record);
  } // would wait for ever
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tuned"));
}

TEST_F(TuningStoreTest, WithoutAFolderNothingIsKept) {
  TuningStore none("");
  EXPECT_FALSE(none.isUsable());
  EXPECT_TRUE(none.keep(record).ok());
  EXPECT_FALSE(none.find(record));
  EXPECT_TRUE(none.journal(record).path().empty());
}
