//===- Trainer.h - Steps of training, and evaluations -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is micro-steps, whose gradients add up, clipping, and the optimiser.
// Of several processes each computes its share of the micro-steps; gradients
// are summed over them while the last one's backward pass goes on.
// Nothing in it waits for the device. With `compile` on a GPU it is recorded
// once and replayed: tokens, learning rate and dropout's seed lie in the
// device's memory, where each step writes them.
//
// A step is skipped, so that it changes neither weights nor the optimiser's
// state, where its loss or norm is an outlier among those before, if the
// options ask for that, and where a model in fp16 has gradients that are not
// finite: its loss is scaled, by less after such a step. All of it is decided
// on the device, by each process of the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_TRAINER_H
#define NEREID_APPS_GPT2_TRAIN_TRAINER_H

#include "apps/gpt2/Options.h"
#include "apps/gpt2/data/Loader.h"
#include "apps/gpt2/distributed/BatchSlice.h"
#include "apps/gpt2/distributed/DataParallel.h"
#include "apps/gpt2/model/Model.h"
#include "kernels/grad_scaler/GradScaler.h"
#include "kernels/gradients/Outliers.h"

#include "nereid/Runtime/Stream.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

namespace nereid::gpt2 {

/// The key of `stabilityState` in TrainingState::schedule.
inline constexpr const char *stabilityKey = "stability";

class Trainer {
public:
  /// `compile`: capture on a GPU; without an effect on hosts. `agreement`: a
  /// text that all processes must have alike. Collective.
  Trainer(Model &model, const Options &options, Communicator &all,
          const std::string &agreement = "");
  /// One process.
  Trainer(Model &model, const Options &options);

  /// Step number `step`, of one micro-step a batch, of this process's slice.
  /// Returns when the device has been given its work. Throws InvalidArgument
  /// for another number of batches than the share has.
  void step(int64_t step, std::span<const Batch> batches);

  /// After steps, before the model is read or its parameters saved: a step of
  /// several processes leaves some weights to the next one's forward pass.
  /// Collective. `evaluate` has done it.
  void completeWeights();

  /// Results of the last step; these wait for the device. The mean over the
  /// batches of all processes, and the norm before clipping. They throw where
  /// another process is gone.
  double loss() const;
  double gradientNorm() const;

  /// May steps be skipped? A loss or norm that is not finite then ends nothing.
  bool skipsSteps() const;
  /// Those that outliers were the reason of. Waits for the device.
  int64_t skipped() const;
  /// Of a model in fp16. Waits for the device.
  std::optional<double> lossScale() const;
  /// What decides on the steps to come: the loss scale, and the losses and
  /// norms that others are compared with; an object.
  nlohmann::json stabilityState() const;
  /// What is not there stays as it is. Throws IoError, which names `path`.
  void loadStabilityState(const nlohmann::json &state, const std::string &path);

  /// The mean loss over batches, without dropout and without gradients. Each
  /// process takes its share of `count`. Collective. `isAskedToStop` is called
  /// now and then, in all processes alike; where it says so, there is no loss.
  std::optional<double>
  evaluate(const std::function<Batch(int64_t)> &batch, int64_t count,
           const std::function<bool()> &isAskedToStop = {});

  DataParallel &optimiser() { return parallel; }
  const BatchSlice &slice() const { return part; }
  bool isCaptured() const { return options.compile && !where.isHost(); }

private:
  Trainer(Model &model, const Options &options,
          std::unique_ptr<Communicator> one, Communicator *given,
          const std::string &agreement);
  void setBatch(const Batch &batch);
  /// Forward and backward; gradients are added to those there are, and those
  /// of all processes to one another after a step's last one.
  void microStep(bool isLast);
  void update();
  /// One micro-step's forward pass hides the gathers; a graph that is replayed
  /// for several would have them several times.
  bool gathersLater() const { return part.size > 1 && part.microSteps == 1; }
  bool scales() const { return model.config().dtype == f16; }
  /// The factor, or NaN for an outlier.
  Tensor filtered(Tensor factor);
  void run(std::optional<Graph> &graph, bool isReady,
           const std::function<void()> &work);

  Model &model;
  Options options;
  Device where;
  std::unique_ptr<Communicator> own; ///< of one process
  Communicator &all;
  BatchSlice part;
  DataParallel parallel;
  int64_t steps = 0;    ///< of this object
  bool areWhole = true; ///< the weights, in every process
  Tensor tokens, targets, lossSum, norm;
  kernels::GradScaler scaler; ///< of a model in fp16
  std::optional<kernels::OutlierFilter> losses, norms;
  /// `further` is a micro-step; `closing` the last micro-step of several
  /// processes, recorded with its communication; `last` the optimiser's.
  std::optional<Graph> further, closing, last;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_TRAINER_H
