//===- Launcher.cpp - Several processes of one command --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Launcher.h"

#include "apps/gpt2/distributed/Processes.h"
#include "apps/gpt2/distributed/Secret.h"
#include "apps/gpt2/distributed/Socket.h"
#include "apps/gpt2/train/Interrupt.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;

extern char **environ;

bool gpt2::isLaunched() { return !processesFromEnvironment().source.empty(); }

/// Of this process, without its name.
static std::vector<std::string> ownArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) {
    arguments.push_back(one);
  }
  if (!arguments.empty()) {
    arguments.erase(arguments.begin());
  }
  return arguments;
}

/// This environment, with the place of process `rank` in it. The processes of
/// one machine share its cores, unless the user has said how.
static std::vector<std::string> environmentOf(int rank, int size, int port,
                                              int socket,
                                              const std::string &secret) {
  std::vector<std::pair<std::string, std::string>> set = {
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(size)},
      {"LOCAL_RANK", std::to_string(rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(size)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", std::to_string(port)},
      {"TORCHELASTIC_USE_AGENT_STORE", ""},
      {"RENDEZVOUS_SECRET", secret},
      {"RENDEZVOUS_SOCKET", rank == 0 ? std::to_string(socket) : ""}};
  if (!std::getenv("NEREID_NUM_THREADS")) {
    set.emplace_back("NEREID_NUM_THREADS",
                     std::to_string(std::max(1, thisMachine().cores / size)));
  }
  std::vector<std::string> all;
  for (char **one = environ; *one; ++one) {
    std::string text = *one;
    if (std::ranges::none_of(set, [&](const auto &pair) {
          return text.starts_with(pair.first + "=");
        })) {
      all.push_back(text);
    }
  }
  for (const auto &[name, value] : set) {
    if (!value.empty()) {
      all.push_back(name + "=" + value);
    }
  }
  return all;
}

static std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

static volatile std::sig_atomic_t received = 0, receivedSignal = 0;
static void noteSignal(int signal) {
  receivedSignal = signal;
  received = received + 1;
}

namespace {

class Children {
public:
  explicit Children(int size) : ids(size_t(size), 0) {}
  ~Children() { sendAll(SIGKILL); }

  void start(const std::string &program, std::vector<std::string> arguments,
             std::vector<std::string> environment, int rank, int socket);
  /// Returns the exit status of the launch.
  int wait();

private:
  void sendAll(int signal) const {
    for (pid_t id : ids) {
      if (id > 0) {
        kill(id, signal);
        kill(id, SIGCONT); // a stopped one would not hear of it
      }
    }
  }
  int statusOf(size_t rank, pid_t id, int status) const;
  /// Has a child that `waitpid` gives this status of done what it should, or
  /// stopped as somebody has asked it to?
  static bool isOrderly(int status);

  std::vector<pid_t> ids; ///< 0: has ended
};

} // namespace

void Children::start(const std::string &program,
                     std::vector<std::string> arguments,
                     std::vector<std::string> environment, int rank,
                     int socket) {
  std::vector<char *> argv = pointersTo(arguments),
                      envp = pointersTo(environment);
  pid_t parent = getpid();
  // A signal between fork and exec would end in this process's handler, which
  // the child is about to lose.
  sigset_t stops, before;
  sigemptyset(&stops);
  for (int signal : stopSignals) {
    sigaddset(&stops, signal);
  }
  sigprocmask(SIG_BLOCK, &stops, &before);
  pid_t id = fork();
  if (id != 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  if (id < 0) {
    raise({ErrorCode::IoError,
           "cannot start process " + std::to_string(rank) + ": " +
               std::strerror(errno),
           {}});
  }
  if (id == 0) {
    // Only what is safe between fork and exec.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(1);
    }
    if (rank == 0) {
      fcntl(socket, F_SETFD, 0);
    }
    for (int stop : stopSignals) {
      struct sigaction present = {};
      if (sigaction(stop, nullptr, &present) == 0 &&
          present.sa_handler != SIG_IGN) {
        signal(stop, SIG_DFL);
      }
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    execve(program.c_str(), argv.data(), envp.data());
    constexpr int cannotExecute = 126;
    _exit(cannotExecute);
  }
  ids[size_t(rank)] = id;
}

/// Says on stderr what a child that failed did.
int Children::statusOf(size_t rank, pid_t id, int status) const {
  std::string how =
      WIFSIGNALED(status)
          ? "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                strsignal(WTERMSIG(status)) + ")"
          : "ended with exit status " + std::to_string(WEXITSTATUS(status));
  std::fprintf(stderr,
               "error: process %zu of %zu (%d) %s; the others are ended\n",
               rank, ids.size(), int(id), how.c_str());
  return WIFSIGNALED(status) ? 1 : WEXITSTATUS(status);
}

bool Children::isOrderly(int status) {
  return WIFEXITED(status) &&
         (WEXITSTATUS(status) == 0 ||
          std::ranges::any_of(stopSignals, [&](int signal) {
            return WEXITSTATUS(status) == statusOfSignal(signal);
          }));
}

int Children::wait() {
  int result = 0, passedOn = 0;
  // One wish may come twice, as from a terminal and from a scheduler.
  std::optional<Deadline> firstWish;
  constexpr double secondsOfOneWish = 1;
  // A process that was asked to stop before it took note of signals is gone,
  // and the others cannot go on without it.
  bool hasFailed = false, hasGone = false, kills = false;
  // From then on those that live are killed. A process that is asked to stop
  // ends its step and writes a checkpoint, for which there is no limit.
  std::optional<Deadline> grace;
  constexpr double secondsToEnd = 15, secondsAfterSecondWish = 5;
  while (std::ranges::any_of(ids, [](pid_t id) { return id > 0; })) {
    int status = 0;
    pid_t id = waitpid(-1, &status, WNOHANG);
    auto child = std::ranges::find(ids, id);
    if (id > 0 && child != ids.end()) {
      *child = 0;
      if (isOrderly(status)) {
        // The others have agreed to stop with it.
        result = result ? result : WEXITSTATUS(status);
        continue;
      }
      bool isAsked =
          firstWish && WIFSIGNALED(status) &&
          (kills || std::ranges::count(stopSignals, WTERMSIG(status)) > 0);
      if (isAsked && !hasFailed) {
        result = statusOfSignal(receivedSignal);
        hasGone = true;
      } else if (!hasFailed && !hasGone) {
        hasFailed = true;
        result = statusOf(size_t(child - ids.begin()), id, status);
        grace = secondsFromNow(secondsToEnd);
        // Those that notice by themselves say so; that takes a moment.
        usleep(300'000);
        sendAll(SIGTERM);
      }
      continue;
    }
    if (int wishes = received; wishes != passedOn) {
      passedOn = wishes;
      sendAll(receivedSignal);
      bool isSecond = firstWish && millisecondsUntil(*firstWish) == 0;
      if (isSecond || hasFailed) {
        grace = secondsFromNow(secondsAfterSecondWish);
      }
      if (!firstWish) {
        firstWish = secondsFromNow(secondsOfOneWish);
      }
    }
    if (grace && !kills && millisecondsUntil(*grace) == 0) {
      kills = true;
      sendAll(SIGKILL);
    }
    usleep(10'000);
  }
  return result;
}

int gpt2::launch(const Launch &launch) {
  if (launch.processes < 1) {
    raise({ErrorCode::InvalidArgument,
           "expected one process or more, got " +
               std::to_string(launch.processes),
           {}});
  }
  std::string program =
      launch.program.empty() ? "/proc/self/exe" : launch.program;
  std::vector<std::string> arguments =
      launch.arguments.empty() ? ownArguments() : launch.arguments;
  arguments.insert(arguments.begin(), program);
  if (launch.program.empty()) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    if (length > 0) {
      program = arguments[0] = std::string(path, size_t(length));
    }
  }
  // The socket is made here, so that no other program can take its port.
  Socket listener = listenAt("127.0.0.1", 0);
  std::string secret = makeSecret();
  received = 0;
  struct sigaction note = {};
  note.sa_handler = noteSignal;
  std::vector<std::pair<int, struct sigaction>> before;
  for (int signal : stopSignals) {
    struct sigaction old = {};
    // What nohup has made ignored stays so.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaction(signal, &note, nullptr);
      before.emplace_back(signal, old);
    }
  }
  // Where the starter has made it ignored, no process could be waited for.
  struct sigaction ends = {}, endsBefore = {};
  ends.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &ends, &endsBefore);
  before.emplace_back(SIGCHLD, endsBefore);
  int result = 0;
  {
    Children children(launch.processes);
    for (int rank = 0; rank < launch.processes; ++rank) {
      children.start(program, arguments,
                     environmentOf(rank, launch.processes, listener.localPort(),
                                   listener.get(), secret),
                     rank, listener.get());
    }
    listener = Socket();
    result = children.wait();
  }
  for (const auto &[signal, old] : before) {
    sigaction(signal, &old, nullptr);
  }
  return result;
}
