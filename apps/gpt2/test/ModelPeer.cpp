//===- ModelPeer.cpp - Our side of test/transformers_peer.py --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ModelPeer random CONFIG.json FOLDER VOCABULARY   exports a model of random
//                                                    weights and biases
//   ModelPeer logits MODEL TOKENS.npy OUT.npy        of a model's folder or
//   file ModelPeer read FILE                              is it a safetensors
//   file?
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/model/Model.h"
#include "nereid/Support/Files.h"
#include "nereid/nereid.h"

#include <cstdio>
#include <cstdlib>

using namespace nereid;
using namespace nereid::gpt2;

static std::vector<NamedTensor> weightsOf(const Model &model) {
  std::vector<NamedTensor> weights;
  for (const Parameter &one : model.parameters()) {
    weights.push_back({one.name, one.value.value()});
  }
  return weights;
}

static int run(const std::vector<std::string> &words) {
  if (words.size() == 4 && words[0] == "random") {
    GptConfig config = gptConfigFrom(
        nlohmann::json::parse(valueOrThrow(readFile(words[1]))), words[1]);
    Model model(config, 3, Device::cpu());
    std::vector<NamedTensor> weights = weightsOf(model);
    uint64_t seed = 100;
    for (const NamedTensor &one : weights) {
      // Large enough that an error anywhere shows in the logits.
      Tensor noise = randn(one.tensor.shape(), f32, Device::cpu(), ++seed);
      auto *to = one.tensor.data<float>(), *from = noise.data<float>();
      for (int64_t i = 0; i < noise.numel(); ++i) {
        to[i] += 0.1F * from[i];
      }
    }
    exportModel(words[2], config, weights, std::atoll(words[3].c_str()));
    return 0;
  }
  if (words.size() == 4 && words[0] == "logits") {
    ImportedModel imported = importModel(words[1]);
    GptConfig config = imported.config;
    config.dtype = f32;
    Model model(config, 1, Device::cpu());
    copyWeights(weightsOf(model), imported, words[1]);
    saveNpy(words[3],
            model.logits(loadNpy(words[2], std::nullopt, Device::cpu())));
    return 0;
  }
  if (words.size() == 2 && words[0] == "read") {
    SafetensorsFile file(words[1]);
    for (const NamedTensor &one : file.tensors()) {
      one.tensor.toFloat64();
    }
    return 0;
  }
  std::fprintf(stderr, "error: expected random, logits or read\n");
  return 2;
}

int main(int argc, char **argv) try {
  return run({argv + 1, argv + argc});
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
