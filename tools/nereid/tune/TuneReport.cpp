//===- TuneReport.cpp - What nereid tune shows ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneReport.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nereid {

using namespace tune;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::string number(const char *format, double value) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

/// As many digits as mean something.
static std::string msText(double ms, double spread = 0) {
  constexpr double rough = 0.2, exact = 0.02;
  return number(spread > rough   ? "%.2g"
                : spread > exact ? "%.3g"
                                 : "%.4g",
                ms) +
         " ms";
}

static std::string counted(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

static bool canGoBack() {
  const char *terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && terminal && *terminal &&
         std::strcmp(terminal, "dumb") != 0;
}

static size_t columns() {
  constexpr size_t usual = 80;
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
             ? size.ws_col
             : usual;
}

TuneProgress::TuneProgress() : isShown(canGoBack()) {}

TuneProgress::~TuneProgress() { write(""); }

void TuneProgress::show(const Progress &progress) {
  constexpr size_t width = 24;
  size_t done = progress.known ? width * progress.tried / progress.known : 0;
  std::string counts =
      std::to_string(progress.tried) + "/" + std::to_string(progress.known);
  std::string text = "[" + std::string(done, '#') +
                     std::string(width - done, '.') + "] " + counts;
  if (progress.isMeasuring) {
    text += " measuring";
  }
  if (!progress.best.empty()) {
    text += ", best " + msText(progress.bestMs) + " " + progress.best;
  }
  // A line that is full makes the next one wrap.
  size_t most = columns() - 1;
  write(most < width + counts.size() + 3 ? counts.substr(0, most)
                                         : text.substr(0, most));
}

void TuneProgress::write(const std::string &line) {
  if (isShown) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

/// The line that says what is wrong.
static std::string gist(const std::string &text) {
  size_t error = text.find(": error: ");
  size_t begin = error == std::string::npos ? 0 : text.rfind('\n', error) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// `chosen`: empty, or the configuration that is marked.
static std::string table(const std::vector<TrialRecord> &records,
                         const std::string &chosen, double chosenMs) {
  std::vector<const TrialRecord *> trials;
  for (const TrialRecord &trial : records) {
    trials.push_back(&trial);
  }
  auto isChosen = [&](const TrialRecord *trial) {
    return describe(trial->config) == chosen;
  };
  std::stable_sort(trials.begin(), trials.end(), [&](auto *a, auto *b) {
    return std::tuple(a->state, !isChosen(a), a->ms) <
           std::tuple(b->state, !isChosen(b), b->ms);
  });
  constexpr size_t mostMeasured = 20;
  size_t measured = 0;
  std::string text;
  for (const TrialRecord *trial : trials) {
    bool isMeasured = trial->state == TrialState::Measured;
    if (isMeasured && ++measured > mostMeasured) {
      continue;
    }
    char line[96];
    if (isMeasured) {
      std::string ratio =
          chosenMs > 0 ? number("%6.2f x", trial->ms / chosenMs) : "";
      std::snprintf(line, sizeof(line), "%s %12s +-%5.1f %% %4zu %s %s  ",
                    isChosen(trial) ? "*" : " ",
                    msText(trial->ms, trial->spread).c_str(),
                    50 * trial->spread, trial->samples,
                    trial->samples == 1 ? "sample " : "samples", ratio.c_str());
    } else {
      std::snprintf(line, sizeof(line), "  %-20s ", name(trial->state));
    }
    text += line + describe(trial->config) + "\n";
    if (!trial->message.empty()) {
      text += "      " + gist(trial->message) + "\n";
    }
  }
  if (measured > mostMeasured) {
    text += "  and " + counted(measured - mostMeasured, "slower one") + "\n";
  }
  return text;
}

std::string tuneReport(const WorkerResult &result, const std::string &device,
                       double seconds) {
  const TuningRecord &record = result.record;
  std::string chosen = describe(record.config);
  double spread = 0;
  for (const TrialRecord &trial : record.trials) {
    spread = describe(trial.config) == chosen ? trial.spread : spread;
  }
  std::string text = record.kernel + " on " + device + ": ";
  text += record.doubt.empty() ? chosen + ", " + msText(record.ms, spread)
                               : std::string("no choice");
  std::string certainty;
  if (record.doubt.empty() && record.rivals) {
    certainty = "noisy: choice not certain: " +
                counted(record.rivals, "other configuration") +
                " may be more than 5 % faster; try again with --again while "
                "the machine does less\n";
  }
  if (result.wasFound) {
    return text + "; kept before, found in " +
           number("%.2f ms\n", result.readyMs) + certainty;
  }
  text += "; " + counted(record.trials.size(), "configuration") + " in " +
          number("%.2f s\n", seconds) + certainty;
  if (record.twins) {
    text += counted(record.twins, "other") +
            (record.twins == 1 ? " has" : " have") +
            " the same code as one of these\n";
  }
  if (record.untried) {
    text += counted(record.untried, "other") +
            (record.untried == 1 ? " was" : " were") +
            " not tried before the end\n";
  }
  if (record.candidates == "search" && record.trials.size() == 1) {
    text += "nothing was left to search: the launch gives every tl.constexpr "
            "parameter" +
            std::string(device == "cpu"
                            ? ", and code for the cpu has no warps, stages or "
                              "limits of registers"
                            : "") +
            "\n";
  }
  if (!record.remark.empty()) {
    text += record.remark + "\n";
  }
  return text + table(record.trials, record.doubt.empty() ? chosen : "",
                      record.doubt.empty() ? record.ms : 0);
}

std::string tuneReport(const std::vector<TrialRecord> &trials) {
  return "no choice; measured so far: " +
         counted(trials.size(), "configuration") + "\n" + table(trials, "", 0);
}

} // namespace nereid
