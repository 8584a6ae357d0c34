//===- Log.h - What a run says of itself ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// log.jsonl has a line for each interval and each evaluation:
//   {"iter":100,"loss":2.51,"lr":0.001,"grad_norm":0.7,"tokens_per_second":...,
//    "mfu":0.41,"memory_bytes":...,"ms":...}
//   {"iter":250,"train_loss":2.1,"val_loss":2.2}
// and with --multiple_choice "choice_acc", "choice_acc_norm" (by character) and
// "choice_acc_token" in a line of an evaluation.
// mfu is absent where the device's peak is not known, as a CPU's for 16 bits;
// "flops" are those of the model a second, on a CPU. "loss_scale" is a model's
// in fp16; "skipped" counts steps, where outliers are skipped. log.csv has a
// column for each key, and an empty cell where a line has none; a file of
// events has the same curves. Memory: what tensors of a GPU take, or what the
// process has at most had of the host's.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_LOG_H
#define NEREID_APPS_GPT2_TRAIN_LOG_H

#include "apps/gpt2/train/EventFile.h"
#include "apps/gpt2/train/MultipleChoice.h"
#include "nereid/Runtime/Device.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace nereid::gpt2 {

struct StepLine {
  int64_t iter = 0;
  double loss = 0, learningRate = 0, gradientNorm = 0, tokensPerSecond = 0;
  std::optional<double> mfu;
  std::optional<double> flops; ///< a second
  int64_t memoryBytes = 0;
  double milliseconds = 0; ///< a step, on average since the last line
  /// Until the run's end, as far as one knows.
  std::optional<double> secondsLeft;
  std::optional<double> lossScale; ///< of a model in fp16
  /// Steps of the run that outliers have had skipped, and those among them
  /// since the last line; nothing where none may be.
  std::optional<int64_t> skipped;
  int64_t newlySkipped = 0;
};

struct EvaluationLine {
  int64_t iter = 0;
  double trainLoss = 0, validationLoss = 0;
  std::optional<ChoiceScore> choices;
};

/// Files beside log.jsonl.
struct LogFormats {
  bool csv = false, events = false;
};

/// Lines go to standard output, and to files, where there are some.
class Log {
public:
  /// Appends where the run goes on, and begins again otherwise; "" for no file.
  Log(const std::string &path, bool appends, LogFormats formats = {});

  void write(const StepLine &line);
  void write(const EvaluationLine &line);

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  File open(const std::string &name, bool appends);
  static void put(File &file, const std::string &path, const std::string &line);
  void put(const nlohmann::ordered_json &line);
  std::string path, csvPath;
  File file, csv;
  std::optional<EventFile> events;
};

/// Keeps the lines of steps before `step`: a run that goes on writes the others
/// again. They are written to the file `to`. Throws Error.
void cutLog(const std::string &path, int64_t step, const std::string &to);

int64_t memoryBytes(Device device);

/// The curves of a log as SVG: losses, learning rate, norm of the gradients.
/// Throws Error for a log that cannot be read.
void writePlot(const std::string &svgPath, const std::string &logPath,
               const std::string &title);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_LOG_H
