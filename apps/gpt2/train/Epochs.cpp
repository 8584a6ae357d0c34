//===- Epochs.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Epochs.h"

#include "nereid/Runtime/Error.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;

bool gpt2::followsEpochs(const Options &options, const Start &start) {
  if (options.epochs <= 0 || options.given.contains("lr_decay_iters")) {
    return false;
  }
  if (!start.checkpoint) {
    return true;
  }
  const TrainingState &state = start.checkpoint->state;
  auto found = state.schedule.find(followsEpochsKey);
  if (found != state.schedule.end() && found->is_boolean()) {
    return found->get<bool>();
  }
  // A state.json from before the key.
  Options own = optionsFrom(state.options);
  return own.epochs > 0 && own.lrDecayIters == own.maxIters;
}

Options &gpt2::timed(Options &options, const Batches &data,
                     const Start &start) {
  if (options.epochs > 0) {
    double tokens = 0, perStep = double(options.gradientAccumulationSteps *
                                        options.batchSize * options.blockSize);
    for (const Shard &shard : data.dataset().train) {
      tokens += double(shard.size());
    }
    options.maxIters = int64_t(std::ceil(options.epochs * tokens / perStep));
    if (followsEpochs(options, start)) {
      options.lrDecayIters = options.maxIters;
      if (options.decayLr && options.maxIters < options.warmupIters) {
        raise({ErrorCode::InvalidArgument,
               "--epochs: expected at least as many steps as warmup_iters (" +
                   std::to_string(options.warmupIters) + "), got " +
                   std::to_string(options.maxIters) + ", which is " +
                   optionText(options, "epochs") +
                   " times the data; a lower --warmup_iters fits",
               {}});
      }
    }
    checkOptions(options);
  }
  return options;
}
