//===- Processes.cpp - Which of how many this process is ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the variables' meaning: the manuals of torchrun, of Open MPI 4.1
// (mpirun: "OMPI_COMM_WORLD_..."), of MPICH's Hydra, and of Slurm (srun:
// "OUTPUT ENVIRONMENT VARIABLES").
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Processes.h"

#include "apps/gpt2/distributed/Socket.h"

#include "nereid/Runtime/Error.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

/// The names under which one starter gives what is needed.
struct Starter {
  const char *rank, *size, *localRank, *localSize, *job;
};

constexpr Starter starters[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_MCA_ess_base_jobid"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr,
     "SLURM_JOB_ID"},
};

class Reader {
public:
  explicit Reader(const GetVariable &get) : get(get) {}

  std::string text(const char *name) const {
    const char *value = name ? get(name) : nullptr;
    return value ? value : "";
  }
  bool has(const char *name) const { return !text(name).empty(); }

  int number(const char *name, int64_t least, int64_t most) const {
    std::string value = text(name);
    int64_t result = 0;
    auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() ||
        result < least || result > most) {
      fail(std::string("environment variable ") + name +
           ": expected a number from " + std::to_string(least) + " to " +
           std::to_string(most) + ", got '" + value + "'");
    }
    return static_cast<int>(result);
  }
  int numberOr(const char *name, int otherwise, int64_t most) const {
    return name && has(name) ? number(name, 0, most) : otherwise;
  }

  [[noreturn]] static void fail(std::string message) {
    raise({ErrorCode::InvalidArgument, std::move(message), {}});
  }

private:
  const GetVariable &get;
};

} // namespace

static constexpr int mostProcesses = 65536, torchPort = 29500;

/// A step of srun: a script that sbatch runs sees variables of the job, too,
/// but is one process.
static bool isSlurmStep(const Reader &read) {
  std::string step = read.text("SLURM_STEP_ID");
  return !step.empty() && step.size() < 9 &&
         step.find_first_not_of("0123456789") == std::string::npos &&
         read.has("SLURM_STEP_NUM_TASKS");
}

/// node[03-10,12],other -> node03
static std::string firstNode(const std::string &list) {
  size_t end = list.find_first_of(",[");
  std::string name = list.substr(0, end);
  if (end != std::string::npos && list[end] == '[') {
    size_t number = list.find_first_of(",-]", end);
    name += list.substr(end + 1, number - end - 1);
  }
  return name;
}

static std::string textOf(pid_t process, const char *name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of /proc/PID/stat, counted from the name.
static std::string fieldOf(pid_t process, int field) {
  std::string text = textOf(process, "stat");
  size_t at = text.rfind(')'); // the name may hold anything
  for (int i = 0; i < field && at != std::string::npos; ++i) {
    at = text.find(' ', at + 1);
  }
  return at == std::string::npos
             ? ""
             : text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

/// Does a process have these variables too, as a script has that the starter
/// runs in place of this program?
static bool hasSamePlace(pid_t process, const Reader &read,
                         const Starter &starter) {
  std::string all = '\0' + textOf(process, "environ");
  for (const char *name : {starter.rank, starter.size, starter.localRank,
                           starter.localSize, "PMI_FD", "PMI_PORT"}) {
    std::string one = std::string(name) + "=" + read.text(name) + '\0';
    if (read.has(name) && all.find('\0' + one) == std::string::npos) {
      return false;
    }
  }
  return true;
}

/// A name that the processes of one job agree on, and no others: by the job's
/// number, or by the nearest process above each that is above all of them.
static std::string meetingFileOf(const Reader &read, const Starter &starter) {
  std::string key = read.text(starter.job);
  if (key.empty()) {
    constexpr int parent = 2, start = 20;
    pid_t process = getppid();
    while (process > 1 && hasSamePlace(process, read, starter)) {
      process = std::atoi(fieldOf(process, parent).c_str());
    }
    // With the time of its start, in ticks, it is unique since boot.
    key = std::to_string(process) + "-" + fieldOf(process, start);
  }
  const char *folder = std::getenv("TMPDIR");
  return std::string(folder && *folder ? folder : "/tmp") + "/nereid-gpt2-" +
         std::to_string(getuid()) + "-" + key;
}

/// Where process 0 listens.
static void setMeeting(const Reader &read, const Starter &starter,
                       Processes &all) {
  constexpr int mostPort = 65535;
  bool isTorch = starter.rank == starters[0].rank;
  bool isSlurm = starter.rank == std::string("SLURM_PROCID");
  all.host = read.text("MASTER_ADDR");
  all.port = read.numberOr("MASTER_PORT", torchPort, mostPort);
  all.listeningSocket = read.numberOr("RENDEZVOUS_SOCKET", -1, 1 << 20);
  if (all.listeningSocket >= 0 && all.rank != 0) {
    all.listeningSocket = -1;
  }
  all.secret = read.text("RENDEZVOUS_SECRET");
  constexpr size_t leastSecret = 16;
  if (!all.secret.empty() && all.secret.size() < leastSecret) {
    Reader::fail("environment variable RENDEZVOUS_SECRET: expected " +
                 std::to_string(leastSecret) +
                 " characters or more that no one can guess, got " +
                 std::to_string(all.secret.size()) +
                 "; hint: openssl rand -hex 32");
  }
  int nodes = isSlurm ? read.numberOr("SLURM_STEP_NUM_NODES", 0, all.size) : 1;
  all.isOneMachine = all.localSize == all.size && nodes <= 1;
  if (isTorch && read.text("TORCHELASTIC_USE_AGENT_STORE") == "True") {
    ++all.port; // torchrun itself listens on the one that it names
  }
  if (!all.host.empty()) {
    // A name is of one machine as far as somebody says so.
    all.isOneMachine &= !isTorch || read.has(starter.localSize) ||
                        all.host == "localhost" || isLoopback(all.host);
    return;
  }
  if (isTorch) {
    all.host = "127.0.0.1";
  } else if (isSlurm) {
    std::string list = read.text("SLURM_STEP_NODELIST");
    if (list.empty()) {
      list = read.text("SLURM_JOB_NODELIST");
    }
    bool isOneNode =
        nodes == 1 || list.find_first_of(",[") == std::string::npos;
    all.isOneMachine = isOneNode;
    all.host = isOneNode ? "127.0.0.1" : firstNode(list);
    if (!read.has("MASTER_PORT")) {
      constexpr int firstPort = 20000, ports = 10000, stepsApart = 37;
      std::string job = read.text("SLURM_JOB_ID");
      int64_t number = std::strtoll(job.c_str(), nullptr, 10);
      all.port =
          firstPort + int((number + read.number("SLURM_STEP_ID", 0, 99999999) *
                                        int64_t{stepsApart}) %
                          ports);
    }
  } else if (all.localSize == all.size) {
    all.meetingFile = meetingFileOf(read, starter);
  } else {
    Reader::fail(
        std::string(starter.size) + "=" + std::to_string(all.size) + ", " +
        std::to_string(all.localSize) +
        " of them on this machine: expected MASTER_ADDR, the name of the "
        "machine of process 0, got none; hint: mpirun -x "
        "MASTER_ADDR=HOST (Open MPI), -genv MASTER_ADDR HOST (MPICH)");
  }
}

Processes gpt2::processesFromEnvironment(const GetVariable &get) {
  Reader read(get);
  for (const Starter &starter : starters) {
    bool hasRank = read.has(starter.rank), hasSize = read.has(starter.size);
    bool isSlurm = starter.rank == std::string("SLURM_PROCID");
    if (isSlurm ? !isSlurmStep(read) || !hasRank : !hasRank && !hasSize) {
      continue;
    }
    // srun --mpi=pmi2 sets these two as well, but no ranks within a machine.
    bool isPmi = starter.rank == std::string("PMI_RANK");
    if (isPmi && !read.has(starter.localRank) && isSlurmStep(read)) {
      continue;
    }
    if (hasRank != hasSize) {
      Reader::fail(std::string("environment variables ") + starter.rank +
                   " and " + starter.size + ": expected both, got " +
                   (hasRank ? starter.rank : starter.size) + " alone");
    }
    Processes all;
    all.source = starter.rank;
    all.size = read.number(starter.size, 1, mostProcesses);
    all.rank = read.number(starter.rank, 0, all.size - 1);
    all.localSize = all.size;
    if (starter.localSize && read.has(starter.localSize)) {
      all.localSize = read.number(starter.localSize, 1, all.size);
    }
    all.localRank = read.numberOr(starter.localRank, all.rank, all.size - 1);
    setMeeting(read, starter, all);
    return all;
  }
  return {};
}

Processes gpt2::processesFromEnvironment() {
  constexpr const char *secretName = "RENDEZVOUS_SECRET";
  static std::string secret;
  if (const char *given = std::getenv(secretName)) {
    secret = given;
    unsetenv(secretName);
  }
  return processesFromEnvironment([](const char *name) {
    return name == std::string_view(secretName) ? secret.c_str()
                                                : std::getenv(name);
  });
}
