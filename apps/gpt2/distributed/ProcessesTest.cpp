//===- ProcessesTest.cpp --------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Processes.h"
#include "apps/gpt2/distributed/BucketPlan.h"
#include "apps/gpt2/distributed/Launcher.h"

#include "nereid/Runtime/Error.h"

#include <csignal>
#include <gmock/gmock.h>

#include <map>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

static Processes from(const Variables &variables) {
  return processesFromEnvironment([&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

static std::string errorOf(const Variables &variables) {
  try {
    from(variables);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.what();
  }
  return "none";
}

TEST(Processes, oneWhereNothingSaysOtherwise) {
  Processes all = from({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(all.size, 1);
  EXPECT_EQ(all.source, "");
}

TEST(Processes, ofTorchrun) {
  Processes all = from({{"RANK", "5"},
                        {"WORLD_SIZE", "8"},
                        {"LOCAL_RANK", "1"},
                        {"LOCAL_WORLD_SIZE", "4"},
                        {"MASTER_ADDR", "node7"},
                        {"MASTER_PORT", "1234"},
                        {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(all.rank, 5);
  EXPECT_EQ(all.size, 8);
  EXPECT_EQ(all.localRank, 1);
  EXPECT_EQ(all.localSize, 4);
  EXPECT_EQ(all.host, "node7");
  EXPECT_EQ(all.port, 1235); // torchrun listens at its own
}

TEST(Processes, ofOpenMpiMeetByAFile) {
  Processes all = from({{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                        {"OMPI_MCA_ess_base_jobid", "77"}});
  EXPECT_EQ(all.rank, 1);
  EXPECT_EQ(all.host, "");
  EXPECT_THAT(all.meetingFile, HasSubstr("-77"));
}

TEST(Processes, ofMpichMeetByTheirParent) {
  Variables variables = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  EXPECT_EQ(from(variables).size, 2);
  EXPECT_NE(from(variables).meetingFile, "");
  EXPECT_EQ(from(variables).meetingFile, from(variables).meetingFile);
}

/// srun --mpi=pmi2 sets MPICH's variables, too, without ranks of a machine.
TEST(Processes, ofSlurmWithPmi2AreSlurms) {
  Processes all = from({{"PMI_RANK", "9"},
                        {"PMI_SIZE", "16"},
                        {"SLURM_PROCID", "9"},
                        {"SLURM_STEP_NUM_TASKS", "16"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_JOB_ID", "123456"},
                        {"SLURM_STEP_ID", "0"},
                        {"SLURM_STEP_NODELIST", "gpu[07-08]"}});
  EXPECT_EQ(all.localRank, 1);
  EXPECT_EQ(all.host, "gpu07");
}

TEST(Processes, ofSlurmMeetAtTheFirstNode) {
  Processes all = from({{"SLURM_PROCID", "3"},
                        {"SLURM_STEP_NUM_TASKS", "4"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_JOB_ID", "123456"},
                        {"SLURM_STEP_ID", "0"},
                        {"SLURM_STEP_NODELIST", "gpu[07-09,12],cpu3"}});
  EXPECT_EQ(all.rank, 3);
  EXPECT_EQ(all.localRank, 1);
  EXPECT_EQ(all.host, "gpu07");
  EXPECT_EQ(all.port, 23456);
}

TEST(Processes, ofSlurmOnOneNodeMeetOnIt) {
  Variables variables = {
      {"SLURM_PROCID", "1"},  {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_LOCALID", "1"}, {"SLURM_JOB_ID", "123456"},
      {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NODELIST", "gpu07"}};
  EXPECT_EQ(from(variables).host, "127.0.0.1");
  EXPECT_TRUE(from(variables).isOneMachine);
  variables["SLURM_STEP_NODELIST"] = "gpu[07-08]";
  EXPECT_FALSE(from(variables).isOneMachine);
  variables["SLURM_STEP_NUM_NODES"] = "1";
  EXPECT_EQ(from(variables).host, "127.0.0.1");
}

TEST(Processes, aSecretIsLong) {
  Variables variables = {{"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"RENDEZVOUS_SECRET", "0123456789abcdef"}};
  EXPECT_EQ(from(variables).secret, "0123456789abcdef");
  variables["RENDEZVOUS_SECRET"] = "0123456789abcde";
  EXPECT_THAT(errorOf(variables),
              HasSubstr("RENDEZVOUS_SECRET: expected 16 characters or more "
                        "that no one can guess, got 15"));
}

TEST(Processes, contradictionsAreNamed) {
  EXPECT_THAT(errorOf({{"RANK", "0"}}),
              HasSubstr("environment variables RANK and WORLD_SIZE: expected "
                        "both, got RANK alone"));
  EXPECT_THAT(errorOf({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("RANK: expected a number from 0 to 1, got '2'"));
  EXPECT_THAT(errorOf({{"RANK", "x"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("got 'x'"));
  EXPECT_THAT(
      errorOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "99999"}}),
      HasSubstr("MASTER_PORT: expected a number from 0 to 65535"));
  EXPECT_THAT(errorOf({{"OMPI_COMM_WORLD_RANK", "0"},
                       {"OMPI_COMM_WORLD_SIZE", "8"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
              HasSubstr("OMPI_COMM_WORLD_SIZE=8, 4 of them on this "
                        "machine: expected MASTER_ADDR"));
}

TEST(BucketPlan, goesFromTheLastParameterToTheFirst) {
  std::vector<PlannedParameter> all = {{DType::Float32, 1000},
                                       {DType::Float32, 10},
                                       {DType::Float32, 100},
                                       {DType::BFloat16, 5}};
  std::vector<BucketPlan> plans = planBuckets(all, 1024, 3);
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].dtype, DType::BFloat16);
  EXPECT_EQ(plans[0].count, 64 * 3);
  ASSERT_EQ(plans[1].places.size(), 2u);
  EXPECT_EQ(plans[1].places[0].parameter, 2u);
  EXPECT_EQ(plans[1].places[1].parameter, 1u);
  EXPECT_EQ(plans[1].places[1].begin, 128); // 100, and what aligns
  EXPECT_EQ(plans[2].places[0].count, 1000);
  EXPECT_EQ(plans[2].count % (64 * 3), 0);
}

static int sh(const std::string &script, int processes) {
  return launch({"/bin/sh", {"-c", script}, processes});
}

/// By hand on two machines: nothing else says that there are two.
TEST(Processes, aNameIsOfOneMachineWhereThatIsSaid) {
  std::map<std::string, std::string> variables = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node7"}};
  EXPECT_FALSE(from(variables).isOneMachine);
  variables["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_TRUE(from(variables).isOneMachine);
  variables.erase("LOCAL_WORLD_SIZE");
  for (const char *host : {"localhost", "127.0.0.1", "::1"}) {
    variables["MASTER_ADDR"] = host;
    EXPECT_TRUE(from(variables).isOneMachine) << host;
  }
}

TEST(Processes, theSecretStaysWithThem) {
  std::string secret = "0123456789abcdef";
  std::map<std::string, std::string> variables = {
      {"RANK", "0"}, {"WORLD_SIZE", "1"}, {"RENDEZVOUS_SECRET", secret}};
  for (const auto &[name, value] : variables) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::string first = processesFromEnvironment().secret;
  bool isThere = std::getenv("RENDEZVOUS_SECRET") != nullptr;
  std::string again = processesFromEnvironment().secret;
  for (const auto &[name, value] : variables) {
    unsetenv(name.c_str());
  }
  EXPECT_EQ(first, secret);
  EXPECT_FALSE(isThere);
  EXPECT_EQ(again, secret);
}

TEST(Launcher, tellsEachItsPlace) {
  EXPECT_EQ(sh("test $WORLD_SIZE = 3 && test $RANK = $LOCAL_RANK && "
               "test -n \"$MASTER_PORT\" && test -n \"$NEREID_NUM_THREADS\" "
               "&& test ${#RENDEZVOUS_SECRET} = 64",
               3),
            0);
}

TEST(Launcher, listensAtThisMachineAlone) {
  EXPECT_EQ(sh("test $RANK = 1 || { s=$(readlink "
               "/proc/$$/fd/$RENDEZVOUS_SOCKET); s=${s#socket:[}; "
               "grep \" ${s%]} \" /proc/net/tcp | grep -q ' 0100007F:'; }",
               2),
            0);
}

TEST(Launcher, oneThatFailsEndsTheOthers) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(sh("test $RANK = 1 && exit 3; exec tail -f /dev/null", 3), 3);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("ended with exit status 3; the others are ended"));
}

TEST(Launcher, oneThatIsKilledEndsTheOthers) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(sh("test $RANK = 0 && kill -9 $$; exec tail -f /dev/null", 2), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("error: process 0 of 2"));
}

TEST(Launcher, endsWithTheSignalThatTheyAreAskedToStopBy) {
  testing::internal::CaptureStderr();
  // Of the launcher, which passes it on.
  EXPECT_EQ(sh("test $RANK = 1 && kill -HUP $PPID; exec tail -f /dev/null", 3),
            statusOfSignal(SIGHUP));
  EXPECT_EQ(sh("test $RANK = 1 && kill -INT $PPID; exec tail -f /dev/null", 2),
            statusOfSignal(SIGINT));
  // Of one of them, with which the others agree.
  EXPECT_EQ(sh("test $RANK = 1 && exit 143; exit 0", 3),
            statusOfSignal(SIGTERM));
  // It is done all the same.
  EXPECT_EQ(sh("trap '' TERM; kill -TERM $PPID; exit 0", 1), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// As a starter may pass it on: then nothing is left to wait for.
TEST(Launcher, waitsWhereEndsOfChildrenAreIgnored) {
  auto before = std::signal(SIGCHLD, SIG_IGN);
  testing::internal::CaptureStderr();
  int status = sh("exit 3", 1);
  auto after = std::signal(SIGCHLD, before);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("ended with exit status 3"));
  EXPECT_EQ(status, 3);
  EXPECT_EQ(after, SIG_IGN);
}

TEST(Launcher, refusesNoProcesses) {
  EXPECT_THROW(launch({"/bin/sh", {}, 0}), Error);
}
