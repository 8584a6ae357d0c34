//===- Supervisor.cpp - Tuning in a process that may end ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Supervisor.h"

#include "nereid/Support/Files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::tune {

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// The worker's side
//===----------------------------------------------------------------------===//

/// What failed may quote the bytes of a tool.
static std::string textOf(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void WorkerObserver::send(const std::string &line) {
  std::lock_guard lock(mutex);
  // Without a supervisor there is no one to tell.
  (void)writeDescriptor(pipe, line + "\n", "the supervisor").ok();
}

void WorkerObserver::compiling(const ConfigDescription &config, bool isBegin) {
  send(Json{{isBegin ? "compiling" : "compiled", toJson(config)}}.dump());
}

void WorkerObserver::start(const Journal &journal) {
  send(Json{{"journal", journal.path()}}.dump());
}

void WorkerObserver::begin(const ConfigDescription &config) {
  send(Json{{"begin", toJson(config)}}.dump());
}

void WorkerObserver::end(const TrialRecord &trial) {
  send(textOf(Json{{"end", toJson(trial)}}));
}

void WorkerObserver::measuring(size_t trials) {
  send(Json{{"measuring", trials}}.dump());
}

void WorkerObserver::progress(const Progress &progress) {
  send(Json{{"tried", progress.tried},
            {"known", progress.known},
            {"best", progress.best},
            {"best_ms", progress.bestMs},
            {"last", progress.isMeasuring}}
           .dump());
}

void WorkerObserver::deviceLost(const TrialRecord &trial) {
  send(textOf(Json{{"lost", toJson(trial)}}));
  ::_exit(0); // the driver's own end would wait for the device
}

void WorkerObserver::finish(const WorkerResult &result) {
  send(textOf(Json{{"result", toJson(result.record)},
                   {"found", result.wasFound},
                   {"ready_ms", result.readyMs}}));
}

//===----------------------------------------------------------------------===//
// The supervisor's side
//===----------------------------------------------------------------------===//

namespace {

class Worker {
public:
  Worker(const SupervisorOptions &options, bool compilesOneByOne)
      : options(options), compilesOneByOne(compilesOneByOne) {}
  ~Worker() {
    if (pipe >= 0) {
      ::close(pipe);
    }
    if (process > 0) {
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
  }
  Worker(const Worker &) = delete;

  Status start();
  /// Until it ends, or has to be ended.
  void watch();

  std::optional<WorkerResult> result;
  bool isLost = false, isHung = false; ///< it has to be started again
  int status = 0;                      ///< of waitpid
  std::optional<ConfigDescription> running;
  std::map<std::string, ConfigDescription> compiling;
  std::string journal;
  size_t measuring = 0; ///< configurations of the rounds that are running
  std::map<std::string, TrialRecord> ended;
  int signal = 0; ///< it was asked to end

private:
  bool isTimeToEnd();
  void take(const std::string &line);
  double secondsLeft() const;
  const SupervisorOptions &options;
  bool compilesOneByOne;
  pid_t process = -1;
  int pipe = -1;
  int64_t sinceNs = 0; ///< when the trial or the rounds began
  int64_t askedNs = 0; ///< when it was asked to end
};

Status Worker::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return {ErrorCode::IoError,
            std::string("cannot make a pipe: ") + std::strerror(errno)};
  }
  std::vector<std::string> words = options.command;
  words.insert(words.end(), {"--worker", std::to_string(ends[1])});
  if (compilesOneByOne) {
    words.emplace_back("--worker-compiles-one-by-one");
  }
  std::vector<char *> argv;
  for (std::string &word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t parent = ::getpid();
  process = ::fork();
  if (process == 0) {
    // Only calls that are safe between fork and exec.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      ::_exit(0); // the supervisor has ended in between
    }
    ::fcntl(ends[1], F_SETFD, 0);
    ::execv(options.program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe = ends[0];
  return process > 0 ? Status::success()
                     : Status{ErrorCode::IoError,
                              std::string("cannot start a process: ") +
                                  std::strerror(errno)};
}

void Worker::take(const std::string &line) {
  Json json = Json::parse(line);
  if (json.contains("compiling")) {
    ConfigDescription config = configOf(json.at("compiling"));
    compiling[describe(config)] = config;
  } else if (json.contains("compiled")) {
    compiling.erase(describe(configOf(json.at("compiled"))));
  } else if (json.contains("begin")) {
    running = configOf(json.at("begin"));
    sinceNs = options.clock->now();
  } else if (json.contains("journal")) {
    journal = json.at("journal");
  } else if (json.contains("end")) {
    running.reset();
    TrialRecord trial = trialOf(json.at("end"));
    ended[describe(trial.config)] = std::move(trial);
  } else if (json.contains("measuring")) {
    measuring = json.at("measuring");
    sinceNs = options.clock->now();
  } else if (json.contains("lost")) {
    isLost = true;
  } else if (json.contains("result")) {
    result = {tuningOf(json.at("result")), json.at("found"),
              json.at("ready_ms")};
  } else if (options.progress) {
    options.progress({json.at("tried"), json.at("known"), json.at("best"),
                      json.at("best_ms"), json.at("last")});
  }
}

/// What is left of the time of the trial or the rounds that are running.
double Worker::secondsLeft() const {
  // A round runs each of its configurations once.
  double limit =
      options.limitSeconds * static_cast<double>(running ? 1 : measuring);
  return limit - options.clock->secondsSince(sinceNs);
}

/// Passes a signal on. True: it has had the time to heed it.
bool Worker::isTimeToEnd() {
  if (!signal && options.signal && *options.signal) {
    signal = *options.signal;
    askedNs = options.clock->now();
    ::kill(process, SIGTERM);
  }
  return signal && options.clock->secondsSince(askedNs) > options.secondsToStop;
}

void Worker::watch() {
  std::string text;
  while (true) {
    int waitMs = -1;
    if (running || measuring) {
      constexpr double mostSeconds = 1e5; // fits an int of milliseconds
      double left = std::clamp(secondsLeft(), 0.0, mostSeconds);
      waitMs = left > 0 ? static_cast<int>(left * 1e3) + 1 : 0;
    }
    // A signal may come at any moment, also right before poll.
    constexpr int mostMs = 100;
    if (options.signal) {
      waitMs = waitMs < 0 ? mostMs : std::min(waitMs, mostMs);
    }
    pollfd ready{pipe, POLLIN, 0};
    int count = ::poll(&ready, 1, waitMs);
    if (isTimeToEnd()) {
      ::kill(process, SIGKILL);
      break;
    }
    if (count == 0) {
      if (!(running || measuring) || secondsLeft() > 0) {
        continue;
      }
      isHung = true;
      ::kill(process, SIGKILL);
      break;
    }
    char buffer[4096];
    ssize_t bytes = count < 0 ? -1 : ::read(pipe, buffer, sizeof(buffer));
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) {
      break;
    }
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
    for (size_t end; (end = text.find('\n')) != std::string::npos;) {
      take(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  process = -1;
}

} // namespace

static std::string endText(int status) {
  if (WIFSIGNALED(status)) {
    return "signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  }
  return "status " + std::to_string(WEXITSTATUS(status));
}

static SupervisedTuning
stopped(int signal, std::optional<WorkerResult> result,
        const std::map<std::string, TrialRecord> &ended) {
  constexpr int ofSignal = 128;
  SupervisedTuning tuning{ofSignal + signal, std::move(result), {}, signal};
  for (const auto &[text, trial] : ended) {
    tuning.trials.push_back(trial);
  }
  return tuning;
}

Expected<SupervisedTuning> superviseTuning(const SupervisorOptions &options) {
  constexpr int mostAttempts = 1000;
  bool compilesOneByOne = false;
  int accidents = 0; // ends that no trial explains
  std::map<std::string, TrialRecord> ended;
  for (int attempt = 0; attempt < mostAttempts; ++attempt) {
    Worker worker(options, compilesOneByOne);
    Status started = worker.start();
    if (!started.ok()) {
      return started.failure();
    }
    worker.watch();
    for (auto &[text, trial] : worker.ended) {
      ended[text] = std::move(trial);
    }
    if (worker.signal) {
      return stopped(worker.signal, std::move(worker.result), ended);
    }
    if (worker.result || (WIFEXITED(worker.status) && !worker.isLost)) {
      return SupervisedTuning{WEXITSTATUS(worker.status), worker.result, {}, 0};
    }
    if (worker.isLost) {
      continue; // it has noted why
    }
    char limit[32];
    std::snprintf(limit, sizeof(limit), "%g", options.limitSeconds);
    Journal journal(worker.journal);
    if (worker.running) {
      TrialRecord trial{
          *worker.running,
          worker.isHung ? TrialState::Hung : TrialState::Faulted,
          0,
          0,
          0,
          worker.isHung
              ? "it did not end within " + std::string(limit) + " s (--limit)"
              : "it ended its process by " + endText(worker.status)};
      journal.end(trial);
      ended[describe(trial.config)] = std::move(trial);
      continue;
    }
    if (compilesOneByOne && worker.compiling.size() == 1 &&
        !worker.journal.empty()) {
      journal.end({worker.compiling.begin()->second, TrialState::NotCompiled, 0,
                   0, 0, "it ended the compiler by " + endText(worker.status)});
      continue;
    }
    compilesOneByOne = true;
    constexpr int mostAccidents = 3;
    if (++accidents > mostAccidents) {
      journal.forget();
      return {ErrorCode::Internal, "the process that tunes ends by " +
                                       endText(worker.status) +
                                       " again and again"};
    }
  }
  return {ErrorCode::Internal, "too many configurations end their process"};
}

} // namespace nereid::tune
