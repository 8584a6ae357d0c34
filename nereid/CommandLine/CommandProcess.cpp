//===- CommandProcess.cpp - The process around a command ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/CommandProcess.h"

#include "nereid/CommandLine/ExitStatus.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/FaultHandler.h"
#include "nereid/Runtime/fault/OutOfMemory.h"
#include "nereid/Runtime/launch/LaunchErrors.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace nereid {

void printError(const std::string &text) {
  std::string line = printable(text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void printDiagnostic(const Diagnostic &diagnostic) {
  printError(render(diagnostic));
}

static constexpr const char *standardOutput = "standard output";

void writeOutput(std::string_view text) {
  // What printf still holds comes first.
  if (std::fflush(stdout) != 0) {
    raise({ErrorCode::IoError,
           std::string("cannot write to ") + standardOutput + ": " +
               std::strerror(errno),
           {}});
  }
  Status status = writeDescriptor(STDOUT_FILENO, text, standardOutput);
  if (!status.ok()) {
    const std::string &message = status.failure().message;
    raise({ErrorCode::IoError,
           std::string("cannot write to ") + standardOutput +
               message.substr(message.rfind(": ")),
           {}});
  }
}

void writeResult(const std::string &path, std::string_view content) {
  if (path.empty() || path == "-") {
    writeOutput(content);
  } else {
    throwIfFailed(writeFileAtomically(path, content));
  }
}

//===----------------------------------------------------------------------===//
// Memory that runs out
//===----------------------------------------------------------------------===//

void endWithoutMemory() {
  [[maybe_unused]] ssize_t put =
      ::write(STDERR_FILENO, outOfMemoryText, sizeof(outOfMemoryText) - 1);
  ::_exit(ExitFailure);
}

/// Memory can run out where no exception may pass.
static void onTerminate() {
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
      endWithoutMemory();
    } catch (...) {
    }
  }
  std::abort();
}

/// What the compiler's recursions over types, loops and expressions are made
/// for; the usual limit.
static constexpr size_t stackBytes = size_t{8} << 20;

/// Threads that are begun from now on have such a stack, and so has this one,
/// unless its limit cannot be raised: then false.
static bool raiseStackLimit() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stackBytes);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= stackBytes) {
    return true;
  }
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, stackBytes);
  ::setrlimit(RLIMIT_STACK, &limit);
  return limit.rlim_cur >= stackBytes;
}

static void prepareProcess() {
  // A file that is opened under the number of a closed standard stream would
  // get what is printed. Read-only, so that printing still fails.
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(onTerminate);
  setHintStyle(HintStyle::Command);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static int tell(const Error &error) {
  std::string text = error.what();
  // What is said with a position starts with file:line:col: error.
  bool located = !error.diagnostics().empty() &&
                 error.diagnostics()[0].message == error.message();
  bool isBug = error.code() == ErrorCode::Internal;
  printError((located ? ""
              : isBug ? "internal error: "
                      : "error: ") +
             text + (text.ends_with('\n') ? "" : "\n"));
  return exitStatusOf(error.code());
}

static int runHere(const std::function<int()> &command) {
  installFaultHandler(); // has a stack of its own on each thread
  int status = ExitBug;
  try {
    status = command();
  } catch (const Error &error) {
    status = tell(error);
  } catch (const std::bad_alloc &) {
    printError(outOfMemoryText);
    status = ExitFailure;
  } catch (const std::length_error &) {
    printError(outOfMemoryText);
    status = ExitFailure;
  } catch (const std::exception &error) {
    printError(std::string("internal error: ") + error.what() + "\n");
  }
  errno = 0;
  std::cout.flush();
  bool isFlushed = std::fflush(stdout) == 0;
  int reason = errno;
  if (!isFlushed || std::ferror(stdout) || !std::cout) {
    printError(std::string("error: cannot write to ") + standardOutput +
               (reason ? std::string(": ") + std::strerror(reason) : "") +
               "\n");
    status = status ? status : ExitFailure;
  }
  return status;
}

int runCommand(const std::function<int()> &command) {
  prepareProcess();
  if (raiseStackLimit()) {
    return runHere(command);
  }
  std::optional<int> status;
  try {
    std::thread([&] { status = runHere(command); }).join();
  } catch (const std::system_error &) {
    return runHere(command); // no other thread, either
  }
  return *status;
}

//===----------------------------------------------------------------------===//
// How a result came about
//===----------------------------------------------------------------------===//

static std::string &keptCommandLine() {
  static std::string line;
  return line;
}

static std::string quotedForShell(const std::string &word) {
  constexpr const char *plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

void keepCommandLine(int argc, const char *const *argv) {
  std::string line = "nereid";
  for (int i = 1; i < argc; ++i) {
    line += " " + quotedForShell(argv[i]);
  }
  keptCommandLine() = line;
}

const std::string &commandLine() { return keptCommandLine(); }

std::string dateText() {
  std::time_t now = std::time(nullptr);
  if (const char *fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    now = std::time_t(std::strtoll(fixed, nullptr, 10));
  }
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

} // namespace nereid
