//===- Trainer.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Trainer.h"

#include "apps/gpt2/train/Philox.h"
#include "apps/gpt2/train/Schedule.h"
#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/Expression.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"

#include <limits>

using namespace nereid;
using namespace nereid::gpt2;

static kernels::AdamWOptions adamwOptions(const Options &o) {
  kernels::AdamWOptions result;
  result.learningRate = o.learningRate;
  result.beta1 = o.beta1;
  result.beta2 = o.beta2;
  result.weightDecay = o.weightDecay;
  return result;
}

static std::vector<TrainedParameter> trainedOf(const Model &model,
                                               const Options &o) {
  std::vector<TrainedParameter> result;
  for (const Parameter &p : model.parameters()) {
    result.push_back({p.name, p.value, p.decays ? o.weightDecay : 0});
  }
  return result;
}

Trainer::Trainer(Model &model, const Options &options)
    : Trainer(model, options, makeCommunicator(Processes(), model.device()),
              nullptr, "") {}

Trainer::Trainer(Model &model, const Options &options, Communicator &all,
                 const std::string &agreement)
    : Trainer(model, options, nullptr, &all, agreement) {}

Trainer::Trainer(Model &model, const Options &options,
                 std::unique_ptr<Communicator> one, Communicator *given,
                 const std::string &agreement)
    : model(model), options(options), where(model.device()),
      own(std::move(one)), all(given ? *given : *own),
      part(sliceOf(options, all.rank(), all.size())),
      parallel(all, trainedOf(model, options),
               {.optimizer = adamwOptions(options),
                .microSteps = part.microSteps,
                .gathersLater = gathersLater(),
                .agreement = agreement}) {
  Shape shape = {part.rows, options.blockSize};
  tokens = zeros(shape, i32, where);
  targets = zeros(shape, i32, where);
  lossSum = zeros({}, f32, where);
  if (options.skipUpdateLossZ > 0) {
    losses.emplace(options.skipUpdateLossZ, where);
  }
  if (options.skipUpdateGradZ > 0) {
    norms.emplace(options.skipUpdateGradZ, where);
  }
}

void Trainer::setBatch(const Batch &batch) {
  tokens.copyFrom(batch.inputs);
  targets.copyFrom(batch.targets);
}

void Trainer::microStep(bool isLast) {
  Variable loss;
  {
    TraceRange range("forward");
    BeforeReading before;
    if (gathersLater()) {
      parallel.beginGather();
      before = [this](size_t count) { parallel.awaitWeights(count); };
    }
    loss = model.loss(tokens, targets, before);
  }
  TraceRange range("backward");
  kernels::accumulate(lossSum, loss.value(), /*inPlace=*/true);
  if (isLast) {
    if (part.size > 1) {
      all.allReduce(lossSum); // beside backward
    }
    parallel.begin();
  }
  (scales() ? scaler.scale(loss) : loss).backward();
  if (isLast) {
    parallel.finish();
  }
}

/// Gradients are sums over the micro-steps. They are divided where the
/// optimiser reads them, together with what clips them.
void Trainer::update() {
  TraceRange range("optimiser");
  auto parts = double(part.units());
  Tensor factor;
  // The norm is reported without clipping, too.
  constexpr double any = std::numeric_limits<float>::max();
  bool clips = options.gradClip > 0;
  double most = clips ? options.gradClip * parts : any;
  kernels::ClippedNorm clipped = parallel.clippedNorm(most);
  norm = clipped.norm;
  if (scales()) {
    kernels::GradScaler::Clipped unscaled = scaler.clip(norm, most);
    norm = unscaled.norm;
    factor = unscaled.factor;
  } else if (clips) {
    factor = clipped.factor;
  } else if (parts > 1) {
    factor = full({1}, 1, f32, where);
  }
  if (parts > 1) {
    factor = kernels::Expression(factor) * (1 / parts);
  }
  parallel.step(filtered(factor));
  if (scales()) {
    scaler.update();
  }
}

Tensor Trainer::filtered(Tensor factor) {
  if (!losses && !norms) {
    return factor;
  }
  if (!factor.defined()) {
    factor = full({1}, 1, f32, where);
  }
  // Means over the batches, which any number of processes has.
  double part = 1 / double(this->part.units());
  if (losses) {
    factor = losses->filter(kernels::Expression(lossSum) * part, factor);
  }
  if (norms) {
    factor = norms->filter(kernels::Expression(norm) * part, factor);
  }
  return factor;
}

/// Runs `work`, or what was recorded of it. Kernels are compiled by the steps
/// before, which are not recorded.
void Trainer::run(std::optional<Graph> &graph, bool isReady,
                  const std::function<void()> &work) {
  if (!isCaptured() || !isReady) {
    work();
    return;
  }
  if (!graph) {
    graph = Graph::capture(where, work);
  }
  graph->replay();
}

void Trainer::step(int64_t step, std::span<const Batch> batches) {
  if (int64_t(batches.size()) != part.microSteps) {
    raise({ErrorCode::InvalidArgument,
           "a step: expected " + std::to_string(part.microSteps) +
               " batches, one a micro-step, got " +
               std::to_string(batches.size()),
           {}});
  }
  all.check();
  parallel.setLearningRate(learningRateAt(options, step));
  lossSum.zero();
  // What a step compiles, the first one has; the second one is recorded.
  bool isReady = steps > 0;
  if (parallel.hasSums()) {
    parallel.zeroGrad();
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    setBatch(batches[i]);
    if (options.dropout > 0) {
      auto seed = int64_t(philox(uint64_t(options.seed), uint64_t(step),
                                 uint64_t(part.unit(int64_t(i)))) >>
                          1);
      model.dropoutSeed().copyFrom(Tensor::fromVector(std::vector{seed}));
    }
    bool isLast = i + 1 == batches.size();
    // One graph for all micro-steps of one process: a second one would hold the
    // memory of a second forward pass.
    run(isLast && part.size > 1 ? closing : further, isReady, [&] {
      if (!parallel.hasSums()) {
        parallel.zeroGrad();
      }
      microStep(isLast);
    });
  }
  if (isCaptured() && isReady && !last) {
    parallel.prepare(); // gradients of the graphs lie elsewhere
  }
  run(last, isReady, [&] { update(); });
  areWhole = !gathersLater();
  ++steps;
}

void Trainer::completeWeights() {
  if (!areWhole) {
    parallel.gather();
    areWhole = true;
  }
}

double Trainer::loss() const {
  double sum = lossSum.item();
  all.check();
  return sum / double(part.units());
}

double Trainer::gradientNorm() const {
  return norm.defined() ? norm.item() / double(part.units()) : 0;
}

std::optional<double>
Trainer::evaluate(const std::function<Batch(int64_t)> &batch, int64_t count,
                  const std::function<bool()> &isAskedToStop) {
  NoGrad off;
  TraceRange range("evaluate");
  completeWeights();
  Tensor sum = zeros({}, f32, where);
  for (int64_t i = 0; part.microStep(i) < count; ++i) {
    setBatch(batch(part.microStep(i)));
    kernels::accumulate(sum, model.loss(tokens, targets).value(), true);
    // So many have all processes.
    constexpr int64_t between = 8;
    if (isAskedToStop && i % between == between - 1 && i < count / part.size &&
        isAskedToStop()) {
      return std::nullopt;
    }
  }
  all.allReduce(sum);
  all.join();
  double total = sum.item();
  all.check();
  return total / double(part.splitsRows ? count * part.size : count);
}
