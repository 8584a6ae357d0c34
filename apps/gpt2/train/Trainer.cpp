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
#include "nereid/Runtime/Observer.h"

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

Trainer::Trainer(Model &model, const Options &options)
    : model(model), options(options), where(model.device()),
      adamw(adamwOptions(options)) {
  for (const Parameter &p : model.parameters()) {
    adamw.add(p.value, p.decays ? options.weightDecay : 0);
  }
  Shape shape = {options.batchSize, options.blockSize};
  tokens = zeros(shape, i32, where);
  targets = zeros(shape, i32, where);
  lossSum = zeros({}, f32, where);
}

void Trainer::setBatch(const Batch &batch) {
  tokens.copyFrom(batch.inputs);
  targets.copyFrom(batch.targets);
}

void Trainer::microStep() {
  Variable loss;
  {
    TraceRange range("forward");
    loss = model.loss(tokens, targets);
  }
  TraceRange range("backward");
  loss.backward();
  kernels::accumulate(lossSum, loss.value(), /*inPlace=*/true);
}

/// Gradients are sums over the micro-steps. They are divided where the
/// optimiser reads them, together with what clips them.
void Trainer::update() {
  TraceRange range("optimiser");
  auto parts = double(options.gradientAccumulationSteps);
  Tensor factor;
  if (options.gradClip > 0) {
    kernels::ClippedNorm clipped = adamw.clippedNorm(options.gradClip * parts);
    norm = clipped.norm;
    factor = clipped.factor;
  } else if (parts > 1) {
    factor = full({1}, 1, f32, where);
  }
  if (parts > 1) {
    factor = kernels::Expression(factor) * (1 / parts);
  }
  adamw.step(factor);
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
  adamw.setLearningRate(learningRateAt(options, step));
  lossSum.zero();
  // What a step compiles, the first one has; the second one is recorded.
  bool isReady = steps > 0;
  // One graph for every micro-step: a second one would hold the memory of a
  // second forward pass.
  bool addsAll = isCaptured() && isReady && batches.size() > 1;
  if (addsAll) {
    adamw.zeroGrad();
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    setBatch(batches[i]);
    if (options.dropout > 0) {
      auto seed =
          int64_t(philox(uint64_t(options.seed), uint64_t(step), i) >> 1);
      model.dropoutSeed().copyFrom(Tensor::fromVector(std::vector{seed}));
    }
    if (i == 0 && !addsAll) {
      run(first, isReady, [&] {
        for (const Parameter &p : model.parameters()) {
          p.value.zeroGrad();
        }
        microStep();
      });
    } else {
      run(further, isReady, [&] { microStep(); });
    }
  }
  if (isCaptured() && isReady && !last) {
    adamw.prepare(); // gradients of the graphs lie elsewhere
  }
  run(last, isReady, [&] { update(); });
  ++steps;
}

double Trainer::loss() const {
  return lossSum.item() / double(options.gradientAccumulationSteps);
}

double Trainer::gradientNorm() const {
  return norm.defined()
             ? norm.item() / double(options.gradientAccumulationSteps)
             : 0;
}

double Trainer::evaluate(const std::function<Batch(int64_t)> &batch,
                         int64_t count) {
  NoGrad off;
  TraceRange range("evaluate");
  Tensor sum = zeros({}, f32, where);
  for (int64_t i = 0; i < count; ++i) {
    setBatch(batch(i));
    kernels::accumulate(sum, model.loss(tokens, targets).value(), true);
  }
  return sum.item() / double(count);
}
