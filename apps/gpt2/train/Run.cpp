//===- Run.cpp --------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Run.h"

#include "apps/gpt2/distributed/Placement.h"
#include "apps/gpt2/train/Batches.h"
#include "apps/gpt2/train/Epochs.h"
#include "apps/gpt2/train/Interrupt.h"
#include "apps/gpt2/train/Log.h"
#include "apps/gpt2/train/Memory.h"
#include "apps/gpt2/train/Meter.h"
#include "apps/gpt2/train/Peak.h"
#include "apps/gpt2/train/Report.h"
#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/RunData.h"
#include "apps/gpt2/train/SampledText.h"
#include "apps/gpt2/train/Schedule.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/AtomicFile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

using namespace nereid;
using namespace nereid::gpt2;

/// Before the run takes anything.
static StepFit checkedFit(const GptConfig &config, const Options &options,
                          Device device) {
  StepFit fit{config, options.batchSize, options.blockSize, options.recompute,
              device, freeBytes(device)};
  fit.check();
  return fit;
}

namespace {

/// A run between its checkpoints.
class Run {
public:
  Run(const Options &given, const std::vector<std::string> &notes);
  /// The signal that ended it early, or 0.
  int train();

private:
  using Clock = std::chrono::steady_clock;

  /// What it begins with, and whether that goes with the data.
  void begin();
  void checkData();
  void openQuestions();
  void openFolder();
  /// Of the writer's thread, after the first checkpoint.
  void replaceFiles();
  void announce() const;
  /// Returns as `train`.
  int steps();
  void checkLoss(double loss, int64_t step) const;
  /// That has been sent to one of the processes, or 0. Collective: all stop
  /// after the same step.
  int signalToStop();
  /// Before a step; to ask the others is to wait for them, so that not every
  /// step asks.
  int signalBefore(int64_t step);
  /// After a signal: what has been done is kept. Collective.
  void stop(int64_t step, int signal);
  /// Writes a checkpoint where one is due. A signal that ends it early, or 0.
  int evaluate(int64_t step);
  void save(int64_t step, std::optional<double> validationLoss, bool isBest);
  void logStep(int64_t step);
  /// Have the last evaluations all been worse than an earlier one? Said.
  bool hasLostPatience(int64_t step) const;
  /// Of the model as it is.
  void writeText(int64_t step) const;
  void summarize(int64_t step) const;

  /// One process speaks and writes for all.
  bool isRoot() const { return all->rank() == 0; }

  Options options;
  std::vector<std::string> notes;
  Processes processes;
  Device device;
  /// Made first: from then on the others notice where this process fails.
  std::unique_ptr<Communicator> all;
  Start start;
  Batches data;
  GptConfig config;
  StepFit fit;
  Model model;
  /// Before the trainer, with which all processes meet: when one speaks, all
  /// take note of signals.
  Interrupt interrupt;
  Trainer trainer;
  Meter meter;
  std::optional<CheckpointWriter> writer;
  std::optional<Log> log;
  std::string logPath;
  /// What the folder has of another run, or of steps that are trained again,
  /// stays until the first checkpoint: till then lines of the log go to a file
  /// of their own.
  std::string newLogPath;
  bool isFolderReplaced = false, isNewRun = false;
  int64_t first = 0;
  /// Is the checkpoint of the first step one that was evaluated there?
  bool isFirstSaved = true;
  bool isTakenOver = false; ///< from nanoGPT
  double best = std::numeric_limits<double>::infinity();
  uint64_t bestStep = 0;
  std::optional<Questions> questions;
  nlohmann::json record;     ///< of the data
  int64_t skippedBefore = 0; ///< steps, at the last line
  bool decayFollowsEpochs = false;
  /// When the others were asked, after how many steps; how long a step has
  /// taken on average of all processes, and when they are asked next.
  std::optional<Clock::time_point> asked;
  int64_t askedAt = 0, nextQuestion = 0;
  double ownMilliseconds = 0, agreedMilliseconds = 0;
  Clock::time_point begun = Clock::now();
};

} // namespace

/// What all processes of a run must have alike: collective calls follow from
/// it.
static std::string agreementOf(const Options &options, const Start &start) {
  nlohmann::json all = toJson(options);
  // Of each process alone, or of the one that writes.
  for (const char *own :
       {"out_dir", "dataset", "init_from", "device", "plot", "trace", "gpus",
        "processes", "threads", "overwrite", "keep"}) {
    all.erase(own);
  }
  return all.dump() + " after step " +
         std::to_string(start.checkpoint ? start.checkpoint->state.step : 0);
}

static Options checked(const Options &options) {
  checkOptions(options);
  return options;
}

/// With the context that the weights have, which batches follow.
static const Options &limited(Options &options, const Start &start) {
  // A longer one that was asked for is refused with the rest of the model.
  if (!options.given.contains("block_size")) {
    options.blockSize = std::min(options.blockSize, contextOf(start));
  }
  return options;
}

Run::Run(const Options &given, const std::vector<std::string> &notes)
    : options(checked(given)), notes(notes), processes(processesOf(options)),
      device(deviceOf(options, processes)),
      all(makeCommunicator(processes, device)), start(startOf(options)),
      data(limited(options, start), sliceOf(options, all->rank(), all->size())),
      config(configOf(timed(options, data, start), start, data.vocabulary(),
                      device)),
      fit(checkedFit(config, options, device)),
      model(config, uint64_t(options.seed), device),
      trainer(model, options, *all, agreementOf(options, start)),
      // One process speaks of it.
      meter(config, options, device,
            all->rank() > 0 || options.evalOnly
                ? 0
                : peakOf(config, device, processes)),
      logPath(options.outDir + "/log.jsonl"), newLogPath(logPath + ".new") {
  checkData();
  openQuestions();
  begin();
  if (isRoot()) {
    openFolder();
  }
  decayFollowsEpochs = followsEpochs(options, start);
  start = {};
}

void Run::checkData() {
  std::string name = "dataset " + options.dataset;
  const Dataset &set = data.dataset();
  if (data.vocabulary() > config.vocabulary) {
    raise({ErrorCode::InvalidArgument,
           name + ": expected at most " + std::to_string(config.vocabulary) +
               " tokens, as the model has, got " +
               std::to_string(data.vocabulary()),
           {}});
  }
  if (options.sampleEvery &&
      std::string_view(set.tokenizer->kind()) == "unknown") {
    raise({ErrorCode::NotFound,
           "--sample_every: expected a tokenizer beside the tokens of " +
               set.folder + ", got none",
           {}});
  }
  if (start.imported) {
    if (!start.imported->choice.empty()) {
      notes.push_back(start.path + ": " + start.imported->choice);
    }
    try {
      checkTokenizer(start.imported->data, *set.tokenizer, name, start.path);
    } catch (const Error &error) {
      notes.push_back(error.message());
    }
  }
  if (!start.checkpoint) {
    return;
  }
  const nlohmann::json &before = start.checkpoint->state.data;
  checkTokenizer(before, *set.tokenizer, name, start.path);
  if (!hasTokensOf(before, set)) {
    std::string what = name + ": expected the tokens that the run in '" +
                       start.path + "' has been trained on, got others";
    if (!options.given.contains("dataset")) {
      raise({ErrorCode::IoError,
             what + "; --dataset=" + options.dataset + " goes on with them",
             {}});
    }
    notes.push_back(what);
  }
}

void Run::openQuestions() {
  if (options.multipleChoice.empty()) {
    return;
  }
  try {
    questions.emplace(options.multipleChoice, *data.dataset().tokenizer,
                      config.context);
  } catch (const Error &error) {
    bool isOfRun = !options.given.contains("multiple_choice");
    raise({error.code(),
           error.message() + (isOfRun ? "; hint: it is the run's own file; "
                                        "--multiple_choice=FILE names another, "
                                        "--multiple_choice= leaves it out"
                                      : ""),
           {}});
  }
}

void Run::begin() {
  if (start.checkpoint) {
    DType was = start.checkpoint->weights.empty()
                    ? config.dtype
                    : start.checkpoint->weights[0].tensor.dtype();
    if (was != config.dtype) {
      notes.push_back("weights were " + std::string(shortName(was)) + ", are " +
                      std::string(shortName(config.dtype)));
    }
    convert(*start.checkpoint, weightsOf(model));
  }
  setWeights(model, start);
  model.setRecomputes(options.recompute);
  if (!start.checkpoint) {
    trainer.optimiser().weightsChanged();
    return;
  }
  const TrainingState &state = start.checkpoint->state;
  trainer.optimiser().loadOptimizerState(start.checkpoint->optimizer,
                                         start.path);
  if (auto found = state.schedule.find(stabilityKey);
      found != state.schedule.end()) {
    trainer.loadStabilityState(*found, start.path + "/state.json");
    skippedBefore = trainer.skipped();
  }
  first = int64_t(state.step);
  isFirstSaved = state.loss.has_value();
  isTakenOver = start.checkpoint->isTakenOver;
  best = state.bestLoss;
  bestStep = state.bestStep;
}

void Run::openFolder() {
  if (!options.plot.empty()) {
    AtomicFile(options.plot, 0); // can it be written?
  }
  if (options.evalOnly) {
    log.emplace("", false);
    return;
  }
  writer.emplace(options.outDir, [this](const std::string &weights,
                                        const TrainingState &,
                                        const SaveOptions &saved) {
    replaceFiles();
    std::printf("saved %s: %s\n", weights.c_str(), saved.said.c_str());
    std::fflush(stdout);
  });
  bool goesOn = start.checkpoint.has_value();
  isNewRun = !goesOn;
  bool replaces = isNewRun && hasCheckpoint(options.outDir);
  if (goesOn) {
    std::string behind;
    for (uint64_t step : stepsBehind(options.outDir, uint64_t(first))) {
      behind += (behind.empty() ? "" : ", ") + std::to_string(step);
    }
    replaces = loadTrainingState(options.outDir).step > uint64_t(first);
    if (!behind.empty()) {
      notes.push_back("the next checkpoint replaces those after step " +
                      std::to_string(first) + ", of step " + behind +
                      "; a copy of " + options.outDir +
                      " under another name keeps them");
    }
  }
  std::error_code error;
  std::filesystem::remove(newLogPath, error);
  isFolderReplaced = !replaces;
  const std::string &lines = replaces ? newLogPath : logPath;
  if (goesOn) {
    cutLog(logPath, first, lines);
  }
  log.emplace(lines, goesOn, LogFormats{options.csv, options.tensorboard});
  if (!replaces) {
    saveTokenizer(*data.dataset().tokenizer, options.outDir);
  }
  record = dataRecord(data.dataset(), options.outDir);
}

void Run::replaceFiles() {
  if (isFolderReplaced) {
    return;
  }
  saveTokenizer(*data.dataset().tokenizer, options.outDir);
  std::error_code error;
  std::filesystem::rename(newLogPath, logPath, error);
  if (error) {
    raise({ErrorCode::IoError,
           "cannot write to " + logPath + ": " + error.message(),
           {}});
  }
  isFolderReplaced = true;
}

void Run::announce() const {
  if (!isRoot()) {
    return;
  }
  for (const std::string &note : notes) {
    std::fputs(noteText(note).c_str(), stderr);
  }
  if (!options.evalOnly && first >= options.maxIters) {
    std::fprintf(stderr,
                 "note: step %lld of max_iters %lld: nothing is left to train; "
                 "--max_iters=N goes on\n",
                 static_cast<long long>(first),
                 static_cast<long long>(options.maxIters));
  }
  if (!options.evalOnly) {
    std::fputs(settingsTable(options).c_str(), stdout);
  }
  std::string others = all->size() > 1 ? ", " + all->describe() : "";
  std::printf(
      "%s%s, %s, %.2fM parameters, vocabulary %lld, %lld tokens a step\n"
      "%s\n",
      device.str().c_str(), others.c_str(),
      std::string(shortName(config.dtype)).c_str(),
      double(parameterCount(config)) / 1e6,
      static_cast<long long>(config.vocabulary),
      static_cast<long long>(options.gradientAccumulationSteps *
                             options.batchSize * options.blockSize),
      describeKernels(config, device, trainer.isCaptured()).c_str());
  if (first > 0) {
    std::printf("resumed after step %lld\n", static_cast<long long>(first));
  }
  std::fflush(stdout);
}

void Run::checkLoss(double loss, int64_t step) const {
  if (!std::isfinite(loss)) {
    bool isKept = !options.evalOnly && hasCheckpoint(options.outDir);
    raise({ErrorCode::KernelFault,
           "the loss of step " + std::to_string(step) + " is " +
               (std::isnan(loss) ? "not a number" : "infinite") +
               (isKept ? "; the last checkpoint is kept" : "") +
               "; hint: lower --learning_rate, raise --warmup_iters, or set "
               "--grad_clip",
           {}});
  }
}

int Run::evaluate(int64_t step) {
  int signal = 0;
  auto lossOf = [&](Split split) {
    if (signal != 0) {
      return 0.0;
    }
    return trainer
        .evaluate(
            [&](int64_t i) { return data.evaluation(split, uint64_t(i)); },
            options.evalIters,
            [&] {
              signal = signalToStop();
              return signal != 0;
            })
        .value_or(0);
  };
  EvaluationLine line{step, lossOf(Split::Train), lossOf(Split::Validation)};
  if (questions && signal == 0) {
    line.choices = questions->score(model, options.batchSize, *all, [&] {
      signal = signalToStop();
      return signal != 0;
    });
  }
  if (signal != 0) {
    return signal;
  }
  if (isRoot()) {
    log->write(line);
  }
  checkLoss(line.trainLoss, step);
  double loss = line.validationLoss;
  bool isSaved = step == first && isFirstSaved, isBest = loss < best;
  if (options.evalOnly || isSaved ||
      !(options.alwaysSaveCheckpoint || isBest)) {
    return 0;
  }
  if (isBest) {
    best = loss;
    bestStep = uint64_t(step);
  }
  save(step, loss, isBest);
  return 0;
}

void Run::save(int64_t step, std::optional<double> validationLoss,
               bool isBest) {
  Checkpoint checkpoint;
  trainer.completeWeights();
  checkpoint.optimizer = trainer.optimiser().optimizerState();
  if (!isRoot()) {
    return;
  }
  checkpoint.weights = weightsOf(model);
  TrainingState &state = checkpoint.state;
  state.step = uint64_t(step);
  state.dataStep = uint64_t(step * options.gradientAccumulationSteps);
  state.seed = uint64_t(options.seed);
  state.loss = validationLoss;
  state.bestLoss = best;
  state.bestStep = bestStep;
  state.options = toJson(options);
  state.model = toJson(config);
  state.data = record;
  state.schedule = {{followsEpochsKey, decayFollowsEpochs},
                    {stabilityKey, trainer.stabilityState()}};
  std::optional<double> trained;
  if (!validationLoss) {
    trained = trainer.loss();
  }
  writer->save(checkpoint,
               {isBest, options.keep,
                saidOfCheckpoint(step, validationLoss, trained, isBest),
                isNewRun});
  isNewRun = false;
}

void Run::logStep(int64_t step) {
  StepLine line;
  line.iter = step;
  line.loss = trainer.loss();
  line.learningRate = learningRateAt(options, step);
  line.gradientNorm = trainer.gradientNorm();
  line.lossScale = trainer.lossScale();
  if (options.skipUpdateLossZ > 0 || options.skipUpdateGradZ > 0) {
    line.skipped = trainer.skipped();
    line.newlySkipped = *line.skipped - skippedBefore;
    skippedBefore = *line.skipped;
  }
  meter.finish(line, options.maxIters - step - 1);
  if (isRoot()) {
    log->write(line);
  }
  if (!trainer.skipsSteps()) {
    checkLoss(line.loss, step);
  }
}

int Run::signalBefore(int64_t step) {
  if (all->size() > 1 && step < nextQuestion) {
    return 0;
  }
  bool isTimed = asked && step > askedAt;
  if (isTimed) {
    std::chrono::duration<double, std::milli> since = Clock::now() - *asked;
    ownMilliseconds = since.count() / double(step - askedAt);
  }
  int signal = signalToStop();
  asked = Clock::now();
  askedAt = step;
  nextQuestion =
      step + (isTimed ? stepsBetweenQuestions(options.gradientAccumulationSteps,
                                              agreedMilliseconds)
                      : 1);
  return signal;
}

int Run::signalToStop() {
  int own = interrupt.signal();
  if (all->size() == 1) {
    return own;
  }
  std::vector<int32_t> told;
  for (int signal : stopSignals) {
    told.push_back(signal == own);
  }
  constexpr double longest = 10000; // the sum of all fits
  told.push_back(int32_t(std::min(ownMilliseconds, longest)));
  Tensor counts = Tensor::fromVector(told).to(device);
  all->allReduce(counts);
  all->join();
  Tensor host = counts.onHost();
  all->check();
  agreedMilliseconds =
      double(host.at({int64_t(stopSignals.size())})) / double(all->size());
  for (size_t i = 0; i < stopSignals.size(); ++i) {
    if (host.at({int64_t(i)}) > 0) {
      return stopSignals[i];
    }
  }
  return 0;
}

void Run::stop(int64_t step, int signal) {
  bool isKept = step > first;
  if (isKept) {
    if (!trainer.skipsSteps()) {
      checkLoss(trainer.loss() + trainer.gradientNorm(), step - 1);
    }
    save(step, std::nullopt, /*isBest=*/false);
    if (writer) {
      writer->wait();
    }
    // The end of one process would end the others.
    all->barrier();
  }
  if (isRoot()) {
    std::fprintf(stderr, "stopped by %s after step %lld%s\n",
                 nameOfStop(signal), static_cast<long long>(step),
                 isKept ? "; --init_from=resume goes on" : "");
  }
}

bool Run::hasLostPatience(int64_t step) const {
  if (!options.patience || step % options.evalInterval != 0 ||
      !std::isfinite(best) ||
      (step - int64_t(bestStep)) / options.evalInterval < options.patience) {
    return false;
  }
  if (isRoot()) {
    std::printf("stopped at step %lld: no validation loss below %.4f, that of "
                "step %llu, in %lld evaluations\n",
                static_cast<long long>(step), best,
                static_cast<unsigned long long>(bestStep),
                static_cast<long long>(options.patience));
  }
  return true;
}

void Run::writeText(int64_t step) const {
  if (!isRoot()) {
    return;
  }
  std::string text;
  // Training goes on without it.
  try {
    text = sampledText(model, *data.dataset().tokenizer, options.seed);
  } catch (const Error &error) {
    std::fputs(noteText("no sample of step " + std::to_string(step) + ": " +
                        error.message())
                   .c_str(),
               stderr);
    return;
  }
  std::printf("sample of step %lld:\n%s\n---------------\n",
              static_cast<long long>(step), text.c_str());
  std::fflush(stdout);
}

void Run::summarize(int64_t step) const {
  if (!isRoot() || options.evalOnly) {
    return;
  }
  std::chrono::duration<double> elapsed = Clock::now() - begun;
  RunEnd end{options.outDir,
             first,
             step,
             elapsed.count(),
             {},
             bestStep,
             hasCheckpoint(options.outDir),
             trainer.skipped()};
  if (std::isfinite(best)) {
    end.bestLoss = best;
  }
  std::fputs(summaryOf(end).c_str(), stdout);
  std::fflush(stdout);
}

int Run::train() {
  announce();
  try {
    return steps();
  } catch (const Error &error) {
    if (error.code() != ErrorCode::OutOfMemory) {
      throw;
    }
    Failure failure = fit.failure();
    failure.message += " (" + error.message() + ")";
    raise(std::move(failure));
  }
}

int Run::steps() {
  std::optional<TraceFile> trace;
  if (isRoot() && !options.trace.empty()) {
    trace.emplace(options.trace);
  }
  auto micro = uint64_t(options.gradientAccumulationSteps);
  const BatchSlice &slice = trainer.slice();
  std::vector<Batch> batches(size_t(slice.microSteps));
  int signal = 0;
  int64_t step = first;
  if (isTakenOver && !options.evalOnly) {
    // What has the best loss of the run stays, whatever follows.
    save(first, best, /*isBest=*/true);
  }
  meter.begin();
  for (;; ++step) {
    bool isLast = step >= options.maxIters;
    if (!isLast && !options.evalOnly) {
      signal = signalBefore(step);
    }
    bool isDue = step % options.evalInterval == 0 || isLast || options.evalOnly;
    if (signal == 0 && isDue) {
      signal = evaluate(step);
      meter.begin();
    }
    if (signal != 0) {
      stop(step, signal);
      break;
    }
    if (isLast || options.evalOnly || hasLostPatience(step)) {
      break;
    }
    if (options.sampleEvery && step % options.sampleEvery == 0 &&
        step > first) {
      trainer.completeWeights();
      writeText(step);
      meter.begin();
    }
    for (size_t i = 0; i < batches.size(); ++i) {
      batches[i] = data.training(uint64_t(step) * micro +
                                 uint64_t(slice.microStep(int64_t(i))));
    }
    trainer.step(step, batches);
    meter.count();
    if (step % options.logInterval == 0) {
      logStep(step);
    }
  }
  if (writer) {
    writer->wait();
  }
  if (trace) {
    trace->finish();
  }
  if (isRoot() && !options.plot.empty()) {
    writePlot(options.plot,
              options.evalOnly || isFolderReplaced ? logPath : newLogPath,
              "Training of " + options.outDir);
  }
  summarize(step);
  return signal;
}

int gpt2::train(const Options &options, const std::vector<std::string> &notes) {
  setNumThreads(int(options.threads));
  return Run(options, notes).train();
}
