//===- GptConfig.h - The shape of a GPT-2 ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_MODEL_GPTCONFIG_H
#define NEREID_APPS_GPT2_MODEL_GPTCONFIG_H

#include "nereid/Runtime/Tensor.h"

#include <string>

namespace nereid::gpt2 {

/// GPT-2's smallest, by default.
struct GptConfig {
  int64_t layers = 12, heads = 12, width = 768;
  int64_t context = 1024; ///< positions that there are embeddings for
  /// Rows of the embedding. GPT-2 has 50257 tokens; a multiple of 64 is faster.
  int64_t vocabulary = 50304;
  bool bias = true; ///< of linear layers and layer norms
  /// GELU by tanh, as GPT-2 has it; false: by erf, as nanoGPT has it.
  bool tanhGelu = true;
  double dropout = 0;
  /// The type of parameters and activations: f32, or bf16 or f16 with f32
  /// master weights.
  DType dtype = f32;

  bool operator==(const GptConfig &) const = default;
};

/// Throws InvalidArgument, with the names of the options: "expected n_head that
/// divides n_embd (768), got 7".
void checkConfig(const GptConfig &config);

/// Elements of all parameters. Without those of positions, as nanoGPT counts,
/// where `positions` is false.
int64_t parameterCount(const GptConfig &config, bool positions = true);

/// Floating-point operations of a training step for each token: 6 for each
/// parameter, and 12 * layers * width * context of attention (Chowdhery et al.,
/// "PaLM", arXiv 2204.02311, appendix B).
double operationsPerToken(const GptConfig &config, int64_t block);

/// What an H200 and its like can do in a second, dense, in this type; 0 where
/// it is not known.
double peakOperations(const std::string &deviceName, DType dtype);

/// Bytes a second that its memory gives, by the data sheet; 0 where it is not
/// known.
double peakBandwidth(const std::string &deviceName);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_MODEL_GPTCONFIG_H
