//===- Run.cpp --------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Run.h"

#include "apps/gpt2/distributed/Placement.h"
#include "apps/gpt2/train/Batches.h"
#include "apps/gpt2/train/Interrupt.h"
#include "apps/gpt2/train/Log.h"
#include "apps/gpt2/train/Memory.h"
#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/Schedule.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

using namespace nereid;
using namespace nereid::gpt2;

Device gpt2::deviceOf(const std::string &name) {
  Expected<Device> device = Device::tryParse(name);
  if (device.ok()) {
    return *device;
  }
  bool wantsGpu = name == "cuda" || name.starts_with("cuda:");
  std::vector<Device> all = Device::available();
  if (!wantsGpu || !all.front().isHost()) {
    raise(device.failure());
  }
  std::fprintf(stderr, "note: there is no GPU (%s); the CPU is used\n",
               device.failure().message.c_str());
  return Device::cpu();
}

DType gpt2::dtypeOf(const Options &options, Device device) {
  if (options.dtype == "auto") {
    return device.isHost() ? f32 : bf16;
  }
  return options.dtype == "float32" ? f32 : bf16;
}

GptConfig gpt2::configOf(const Options &o, int64_t vocabulary, Device device) {
  GptConfig config;
  config.layers = o.layers;
  config.heads = o.heads;
  config.width = o.width;
  config.context = o.blockSize;
  // Products of whole blocks are faster; characters are few enough as they are.
  config.vocabulary = o.vocabulary        ? o.vocabulary
                      : vocabulary > 1000 ? (vocabulary + 63) / 64 * 64
                                          : vocabulary;
  config.bias = o.bias;
  config.tanhGelu = o.tanhGelu;
  config.dropout = o.dropout;
  config.dtype = dtypeOf(o, device);
  return config;
}

std::string gpt2::describeKernels(const GptConfig &config, Device device,
                                  bool isCaptured) {
  std::string text =
      "layer norm: one kernel with residual sum" +
      std::string(config.dropout > 0 ? " and dropout" : "") +
      "; attention: blocks of keys with online softmax, no matrix of scores; ";
  text += device.isHost() ? "kernels compiled for this processor"
          : isCaptured    ? "the step is one CUDA graph"
                          : "kernels are launched one by one";
  return text;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Averages over the steps since the last line.
class Meter {
public:
  Meter(const GptConfig &config, const Options &options, Device device,
        int processes)
      : device(device), tokens(double(options.gradientAccumulationSteps *
                                      options.batchSize * options.blockSize)),
        operations(operationsPerToken(config, options.blockSize)),
        peak(peakOperations(properties(device).name, config.dtype) *
             processes) {}

  void begin() {
    start = Clock::now();
    steps = 0;
  }
  void count() { ++steps; }
  /// The device has finished all steps.
  void finish(StepLine &line) {
    std::chrono::duration<double> elapsed = Clock::now() - start;
    double seconds = elapsed.count() / double(std::max<int64_t>(steps, 1));
    line.milliseconds = seconds * 1e3;
    line.tokensPerSecond = tokens / seconds;
    if (peak > 0) {
      line.mfu = line.tokensPerSecond * operations / peak;
    }
    line.memoryBytes = memoryBytes(device);
    begin();
  }

private:
  Device device;
  double tokens, operations, peak;
  Clock::time_point start;
  int64_t steps = 0;
};

} // namespace

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
  explicit Run(const Options &given);
  /// The signal that ended it early, or 0.
  int train();

private:
  void announce() const;
  void steps();
  void checkLoss(double loss, int64_t step) const;
  /// Has one of the processes been sent a signal? Collective: all stop behind
  /// the same step.
  bool isAskedToStop(int64_t step) const;
  /// After a signal: what has been done is kept. Collective.
  void stop(int64_t step);
  double evaluate(int64_t step);
  void save(int64_t step);
  void logStep(int64_t step);

  /// One process speaks and writes for all.
  bool isRoot() const { return all->rank() == 0; }

  Options options;
  Processes processes;
  Device device;
  /// Made first: from then on the others notice where this process fails.
  std::unique_ptr<Communicator> all;
  Start start;
  Batches data;
  GptConfig config;
  StepFit fit;
  Model model;
  Trainer trainer;
  Meter meter;
  std::optional<CheckpointWriter> writer;
  std::optional<Log> log;
  std::string logPath;
  Interrupt interrupt;
  int64_t first = 0;
  double best = std::numeric_limits<double>::infinity();
};

} // namespace

/// What all processes of a run must have alike: collective calls follow from
/// it.
static std::string agreementOf(const Options &options, const Start &start) {
  nlohmann::json all = toJson(options);
  // Of each process alone, or of the one that writes.
  for (const char *own : {"out_dir", "dataset", "init_from", "device", "plot",
                          "trace", "gpus", "processes"}) {
    all.erase(own);
  }
  return all.dump() + " behind step " +
         std::to_string(start.checkpoint ? start.checkpoint->state.step : 0);
}

static Options checked(const Options &options) {
  checkOptions(options);
  return options;
}

/// With the context that the weights have, which batches follow.
static const Options &limited(Options &options, const Start &start) {
  options.blockSize = std::min(options.blockSize, contextOf(start));
  return options;
}

Run::Run(const Options &given)
    : options(checked(given)), processes(processesOf(options)),
      device(deviceOf(options, processes)),
      all(makeCommunicator(processes, device)), start(startOf(options)),
      data(limited(options, start), shareOf(options, all->rank(), all->size())),
      config(configOf(options, start, data.vocabulary(), device)),
      fit(checkedFit(config, options, device)),
      model(config, uint64_t(options.seed), device),
      trainer(model, options, *all, agreementOf(options, start)),
      meter(config, options, device, all->size()),
      logPath(options.outDir + "/log.jsonl") {
  if (data.vocabulary() > config.vocabulary) {
    raise({ErrorCode::InvalidArgument,
           "dataset " + options.dataset + ": expected at most " +
               std::to_string(config.vocabulary) +
               " tokens, as the model has, got " +
               std::to_string(data.vocabulary()),
           {}});
  }
  setWeights(model, start);
  model.setRecomputes(options.recompute);
  if (start.checkpoint) {
    trainer.optimiser().loadOptimizerState(start.checkpoint->optimizer,
                                           start.path);
    first = int64_t(start.checkpoint->state.step);
    best = start.checkpoint->state.bestLoss;
  } else {
    trainer.optimiser().weightsChanged();
  }
  if (!isRoot()) {
    start = {};
    return;
  }
  if (!options.evalOnly) {
    writer.emplace(options.outDir);
    bool goesOn = start.checkpoint.has_value();
    if (goesOn) {
      cutLog(logPath, first);
    }
    log.emplace(logPath, goesOn);
  } else {
    log.emplace("", false);
  }
  start = {};
}

void Run::announce() const {
  if (!isRoot()) {
    return;
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
    std::printf("resumed behind step %lld\n", static_cast<long long>(first));
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

double Run::evaluate(int64_t step) {
  auto lossOf = [&](Split split) {
    return trainer.evaluate(
        [&](int64_t i) { return data.evaluation(split, uint64_t(i)); },
        options.evalIters);
  };
  EvaluationLine line{step, lossOf(Split::Train), lossOf(Split::Validation)};
  if (isRoot()) {
    log->write(line);
  }
  checkLoss(line.trainLoss, step);
  return line.validationLoss;
}

void Run::save(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.optimizer = trainer.optimiser().optimizerState();
  if (!isRoot()) {
    return;
  }
  checkpoint.weights = weightsOf(model);
  checkpoint.state.step = uint64_t(step);
  checkpoint.state.dataStep =
      uint64_t(step * options.gradientAccumulationSteps);
  checkpoint.state.seed = uint64_t(options.seed);
  checkpoint.state.bestLoss = best;
  checkpoint.state.options = toJson(options);
  checkpoint.state.model = toJson(config);
  writer->save(checkpoint);
}

void Run::logStep(int64_t step) {
  StepLine line;
  line.iter = step;
  line.loss = trainer.loss();
  line.learningRate = learningRateAt(options, step);
  line.gradientNorm = trainer.gradientNorm();
  meter.finish(line);
  if (isRoot()) {
    log->write(line);
  }
  checkLoss(line.loss, step);
}

bool Run::isAskedToStop(int64_t step) const {
  bool isAsked = interrupt.signal() != 0;
  if (all->size() == 1) {
    return isAsked;
  }
  // To ask the others is to wait for them.
  constexpr int64_t mostMicroSteps = 10;
  int64_t between = std::max<int64_t>(
      mostMicroSteps / std::max<int64_t>(options.gradientAccumulationSteps, 1),
      1);
  if ((step - first) % between != 0) {
    return false;
  }
  Tensor count = full({1}, isAsked ? 1 : 0, i32, device);
  all->allReduce(count);
  all->join();
  int64_t asked = int64_t(count.item());
  all->check();
  return asked > 0;
}

void Run::stop(int64_t step) {
  bool isKept = step > first;
  if (isKept) {
    checkLoss(trainer.loss() + trainer.gradientNorm(), step - 1);
    save(step);
    if (writer) {
      writer->wait();
    }
    // The end of one process would end the others.
    all->barrier();
  }
  if (isRoot()) {
    int signal = interrupt.signal();
    std::fprintf(stderr, "stopped by %s behind step %lld%s\n",
                 signal == SIGINT    ? "SIGINT"
                 : signal == SIGTERM ? "SIGTERM"
                                     : "a signal to another process",
                 static_cast<long long>(step),
                 isKept ? "; --init_from=resume goes on" : "");
  }
}

int Run::train() {
  announce();
  try {
    steps();
  } catch (const Error &error) {
    if (error.code() != ErrorCode::OutOfMemory) {
      throw;
    }
    Failure failure = fit.failure();
    failure.message += " (" + error.message() + ")";
    raise(std::move(failure));
  }
  return interrupt.signal();
}

void Run::steps() {
  std::optional<TraceFile> trace;
  if (isRoot() && !options.trace.empty()) {
    trace.emplace(options.trace);
  }
  auto micro = uint64_t(options.gradientAccumulationSteps);
  const Share &share = trainer.share();
  std::vector<Batch> batches(size_t(share.microSteps));
  for (int64_t step = first;; ++step) {
    bool isLast = step >= options.maxIters;
    if (!isLast && !options.evalOnly && isAskedToStop(step)) {
      stop(step);
      break;
    }
    if (step % options.evalInterval == 0 || isLast || options.evalOnly) {
      double loss = evaluate(step);
      if (options.evalOnly) {
        break;
      }
      if (step > first && (options.alwaysSaveCheckpoint || loss < best)) {
        best = std::min(best, loss);
        save(step);
      }
      meter.begin();
    }
    if (isLast) {
      break;
    }
    for (size_t i = 0; i < batches.size(); ++i) {
      batches[i] = data.training(uint64_t(step) * micro +
                                 uint64_t(share.microStep(int64_t(i))));
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
    writePlot(options.plot, logPath, "Training of " + options.outDir);
  }
}

void gpt2::train(const Options &options) {
  int signal = Run(options).train();
  if (signal != 0) {
    std::raise(signal); // the process ends as one that did not catch it
  }
}
