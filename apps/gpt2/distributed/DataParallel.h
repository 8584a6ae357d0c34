//===- DataParallel.h - One model in several processes ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   DataParallel optimizer(*communicator, parameters, {.microSteps = n});
//   for each step:
//     optimizer.zeroGrad();
//     for each of n micro-steps:
//       if it is the last: optimizer.begin();
//       (loss / (microSteps * communicator->size())).backward();
//     optimizer.finish();
//     optimizer.step(optimizer.clippedNorm(1.0).factor);
//
// Every process has all weights and computes the gradients of its part of the
// batch; gradients are summed over the processes, so the loss is divided by
// their number. They are summed in buckets, while backward goes on: the bucket
// of the last layers first.
//
// A micro-step's gradient has the weights' type. Sums of them, over micro-steps
// and over processes, are fp32, and the optimiser reads those: n processes of
// one micro-step each sum what one process of n micro-steps does, in its order,
// with its roundings (on GPUs; where there are several in several processes,
// the order differs, and bf16's sums in fp32 hardly round).
//
// Process r keeps a part of every bucket: it alone has that part's summed
// gradients, moments and master weights (ZeRO-1, Rajbhandari et al., "ZeRO:
// Memory Optimizations Toward Training Trillion Parameter Models",
// arXiv 1910.02054), and updates its weights, which all processes then gather.
// Weights and gradients of a bucket lie in one block of memory each: the
// constructor moves the variables' values and gradients there, where they stay,
// so that a step can be captured in a Graph.
//
// Nothing runs beside a gather at the end of a step. With `gathersLater` the
// next step's forward pass does, which waits for a bucket where it first reads
// a weight of it.
//
// With one process there are no buckets: it is AdamW, and for several
// micro-steps the sums. A parameter that a step's loss does not depend on stays
// as it is with one process and one micro-step; else its sum is zero, and it
// decays.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLEL_H
#define NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLEL_H

#include "apps/gpt2/distributed/Communicator.h"
#include "nereid/Weights/Safetensors.h"

#include "kernels/adamw/AdamW.h"

#include <span>

namespace nereid::gpt2 {

/// A leaf that requires a gradient, contiguous.
struct TrainedParameter {
  std::string name;
  Variable variable;
  double weightDecay = 0;
};

struct DataParallelOptions {
  kernels::AdamWOptions optimizer;
  /// The bytes of gradients in a bucket; a larger parameter is a bucket of its
  /// own.
  int64_t bucketBytes = int64_t{25} << 20;
  /// Backward passes of a step, in this process. With several, a gradient is
  /// added to its sum when it is complete, and the variable forgets it.
  int64_t microSteps = 1;
  /// `step` leaves the weights of other processes' parts as they were:
  /// `beginGather` or `gather` follows, before weights are read.
  bool gathersLater = false;
  /// What else must be alike in all processes, as a text.
  std::string agreement = {};
};

class DataParallel {
public:
  /// `parameters` in the order in which the forward pass uses them. Collective:
  /// all processes get the values of process 0. Throws InvalidArgument where
  /// the processes have different parameters or another agreement.
  DataParallel(Communicator &communicator,
               std::vector<TrainedParameter> parameters,
               const DataParallelOptions &options);
  ~DataParallel();
  DataParallel(const DataParallel &) = delete;
  DataParallel &operator=(const DataParallel &) = delete;

  /// From now on a gradient that is complete (Variable::onGradient) may be
  /// summed: before the backward pass that is a step's last.
  void begin();
  /// After that backward pass. Sums what is left (parameters that the loss does
  /// not depend on), and waits as `Communicator::join` does.
  void finish();

  /// As AdamW's, over all processes: the norm is that of the summed gradients.
  void step(const Tensor &factor = {});
  /// With `gathersLater`, at the beginning of a forward pass: gathers begin, in
  /// its order, and go on beside it. Again without a step between is harmless.
  void beginGather();
  /// The first `count` parameters are whole for what follows.
  void awaitWeights(size_t count);
  /// All of them are. Collective.
  void gather();
  kernels::ClippedNorm clippedNorm(double most);
  void zeroGrad();
  void setLearningRate(double rate);
  /// What a Graph cannot record.
  void prepare();
  /// Are there sums, which `zeroGrad` fills with zeros where they are?
  bool hasSums() const;

  /// m.NAME, v.NAME, master.NAME, powers: whole, on the host, in process 0;
  /// nothing in the others. Collective. The set does not say how many processes
  /// there were: any number can go on from it.
  std::vector<NamedTensor> optimizerState();
  /// Each process takes its part. Throws as copyInto.
  void loadOptimizerState(std::span<const NamedTensor> all,
                          const std::string &path);
  /// After weights were written from outside (of a pretrained model): makes
  /// the master weights again.
  void weightsChanged();

  /// Elements whose moments this process keeps.
  int64_t elementsKept() const;
  size_t buckets() const;

private:
  struct State;
  std::shared_ptr<State> state; ///< hooks of variables refer to it weakly
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_DATAPARALLEL_H
