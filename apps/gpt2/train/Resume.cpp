//===- Resume.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Resume.h"

#include "apps/gpt2/train/Run.h"

#include <limits>

using namespace nereid;
using namespace nereid::gpt2;

std::vector<NamedTensor> gpt2::weightsOf(const Model &model) {
  std::vector<NamedTensor> result;
  for (const Parameter &p : model.parameters()) {
    result.push_back({p.name, p.value.value()});
  }
  return result;
}

Start gpt2::startOf(const Options &options) {
  Start start;
  if (options.initFrom == "resume") {
    start.path = options.outDir;
    start.checkpoint = loadCheckpoint(start.path);
  } else if (options.initFrom != "scratch") {
    start.path = options.initFrom;
    start.imported = importModel(start.path);
  }
  return start;
}

int64_t gpt2::contextOf(const Start &start) {
  return start.checkpoint
             ? gptConfigFrom(start.checkpoint->state.model, start.path).context
         : start.imported ? start.imported->config.context
                          : std::numeric_limits<int64_t>::max();
}

GptConfig gpt2::configOf(Options &options, const Start &start,
                         int64_t vocabulary, Device device) {
  if (!start.checkpoint && !start.imported) {
    return configOf(options, vocabulary, device);
  }
  GptConfig config =
      start.checkpoint
          ? gptConfigFrom(start.checkpoint->state.model, start.path)
          : start.imported->config;
  options.layers = config.layers;
  options.heads = config.heads;
  options.width = config.width;
  options.blockSize = std::min(options.blockSize, config.context);
  options.vocabulary = config.vocabulary;
  options.bias = config.bias;
  options.tanhGelu = config.tanhGelu;
  if (start.imported) {
    config.context = options.blockSize;
  }
  config.dropout = options.dropout;
  config.dtype = dtypeOf(options, device);
  return config;
}

void gpt2::setWeights(const Model &model, const Start &start) {
  if (start.checkpoint) {
    copyInto(weightsOf(model), start.checkpoint->weights, "weights",
             start.path);
  } else if (start.imported) {
    copyWeights(weightsOf(model), *start.imported, start.path);
  }
}
