//===- Bench.cpp - nereid-gpt2 bench ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/commands/TrainingOptions.h"
#include "apps/gpt2/train/Log.h"
#include "apps/gpt2/train/Peak.h"
#include "apps/gpt2/train/Run.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/Bench/Statistics.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

struct BenchOptions {
  int64_t steps = 20;
  bool isJson = false;
};

/// Points in the work of a device, and the time between them.
class StepClock {
public:
  explicit StepClock(Device device) : device(device) { mark(); }
  void mark() {
    if (device.isHost()) {
      times.push_back(std::chrono::steady_clock::now());
    } else {
      events.emplace_back(device);
      events.back().record();
    }
  }
  /// Milliseconds from each mark to the next one. Waits for the device.
  std::vector<double> intervals() const {
    std::vector<double> result;
    for (size_t i = 1; i < times.size(); ++i) {
      std::chrono::duration<double, std::milli> elapsed =
          times[i] - times[i - 1];
      result.push_back(elapsed.count());
    }
    for (size_t i = 1; i < events.size(); ++i) {
      result.push_back(events[i].millisecondsSince(events[i - 1]));
    }
    return result;
  }

private:
  Device device;
  std::vector<std::chrono::steady_clock::time_point> times;
  std::vector<Event> events;
};

} // namespace

static std::vector<Batch> randomBatches(const Options &o, int64_t vocabulary,
                                        Device device) {
  std::vector<Batch> batches;
  for (int64_t i = 0; i < o.gradientAccumulationSteps; ++i) {
    auto tokens = [&](int64_t which) {
      return randint({o.batchSize, o.blockSize}, 0, vocabulary, i32, device,
                     uint64_t(o.seed + 2 * i + which));
    };
    batches.push_back({tokens(0), tokens(1)});
  }
  return batches;
}

/// Of a step of one micro-step whose kernels are launched one by one.
static std::vector<double> partsOf(const Model &model, Trainer &trainer,
                                   const Options &o, const Batch &batch) {
  std::vector<std::vector<double>> rounds(3);
  for (int64_t round = 0; round < 4; ++round) {
    trainer.optimiser().zeroGrad();
    StepClock clock(model.device());
    Variable loss = model.loss(batch.inputs, batch.targets);
    clock.mark();
    loss.backward();
    clock.mark();
    Tensor factor;
    if (o.gradClip > 0) {
      factor = trainer.optimiser().clippedNorm(o.gradClip).factor;
    }
    trainer.optimiser().step(factor);
    clock.mark();
    std::vector<double> times = clock.intervals();
    for (size_t part = 0; part < rounds.size() && round > 0; ++part) {
      rounds[part].push_back(times[part]);
    }
  }
  return {bench::summarize(rounds[0]).median,
          bench::summarize(rounds[1]).median,
          bench::summarize(rounds[2]).median};
}

static void run(const Options &options, const BenchOptions &bench) {
  checkOptions(options);
  Device device = deviceOf(options.device);
  GptConfig config = configOf(options, 50257, device);
  Model model(config, uint64_t(options.seed), device);
  model.setRecomputes(options.recompute);
  Trainer trainer(model, options);
  trainer.optimiser().weightsChanged();
  std::vector<Batch> batches = randomBatches(
      options, std::min<int64_t>(config.vocabulary, 50257), device);
  // The first steps compile and record.
  constexpr int64_t first = 3;
  for (int64_t i = 0; i < first; ++i) {
    trainer.step(i, batches);
  }
  synchronize(device);
  std::optional<TraceFile> trace;
  if (!options.trace.empty()) {
    trace.emplace(options.trace);
  }
  StepClock clock(device);
  for (int64_t i = 0; i < bench.steps; ++i) {
    trainer.step(first + i, batches);
    clock.mark();
  }
  double milliseconds = bench::summarize(clock.intervals()).median;
  if (trace) {
    trace->finish();
  }
  int64_t memory = memoryBytes(device);
  std::vector<double> parts = partsOf(model, trainer, options, batches[0]);
  double rate = double(options.gradientAccumulationSteps * options.batchSize *
                       options.blockSize) /
                milliseconds * 1e3;
  double peak = peakOf(config, device, Processes()),
         operations = operationsPerToken(config, options.blockSize) * rate;
  if (bench.isJson) {
    nlohmann::json json = {{"device", properties(device).name},
                           {"dtype", shortName(config.dtype)},
                           {"parameters", parameterCount(config)},
                           {"steps", bench.steps},
                           {"milliseconds", milliseconds},
                           {"tokensPerSecond", rate},
                           {"operationsPerSecond", operations},
                           {"memory", memory},
                           {"parts",
                            {{"forward", parts[0]},
                             {"backward", parts[1]},
                             {"optimiser", parts[2]}}}};
    if (peak > 0) {
      json["mfu"] = operations / peak;
    }
    std::printf("%s\n", json.dump().c_str());
    return;
  }
  bool isLarge = operations >= 1e12;
  char mfu[48] = "";
  if (peak > 0) {
    std::snprintf(mfu, sizeof(mfu), ", %.1f %% MFU", 100 * operations / peak);
  }
  std::printf(
      "%s, %s, %.2fM parameters, %s\n"
      "%.3f ms a step (the median of %lld), %.0f tokens/s, %.2f %s%s, "
      "%.0f MB\n"
      "launched one by one, a micro-step: forward %.3f ms, backward %.3f ms, "
      "optimiser %.3f ms\n",
      properties(device).name.c_str(),
      std::string(shortName(config.dtype)).c_str(),
      double(parameterCount(config)) / 1e6,
      describeKernels(config, device, trainer.isCaptured()).c_str(),
      milliseconds, static_cast<long long>(bench.steps), rate,
      operations / (isLarge ? 1e12 : 1e9), isLarge ? "TFLOP/s" : "GFLOP/s", mfu,
      double(memory) / 1e6, parts[0], parts[1], parts[2]);
}

void gpt2::addBenchCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "bench", "times training steps of a configuration on random tokens");
  Options defaults;
  defaults.gradientAccumulationSteps = 1;
  auto given = std::make_shared<TrainingOptions>(
      *command,
      std::vector<std::string>{
          "batch_size", "block_size", "gradient_accumulation_steps", "n_layer",
          "n_head", "n_embd", "vocab_size", "dropout", "bias", "tanh_gelu",
          "grad_clip", "device", "dtype", "compile", "recompute", "seed",
          "trace"},
      defaults);
  auto bench = std::make_shared<BenchOptions>();
  command->add_option("--steps", bench->steps, "steps that are timed (20)")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
  command->add_flag("--json", bench->isJson, "one line of JSON");
  command->callback([given, bench] { run(given->read(), *bench); });
}
