//===- SampledText.cpp ----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/SampledText.h"

#include "apps/gpt2/sample/Generator.h"
#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

/// A model may draw a number that the vocabulary leaves out.
static std::string shownToken(const Tokenizer &tokenizer, int32_t token) {
  try {
    return std::string(tokenizer.bytesOf(token));
  } catch (const Error &) {
    return "\uFFFD";
  }
}

std::string gpt2::sampledText(const Model &model, const Tokenizer &tokenizer,
                              int64_t seed) {
  constexpr int64_t length = 200;
  GenerationOptions generation;
  generation.seed = seed;
  generation.compile = false; // a graph's memory would stay
  generation.vocabulary = tokenizer.size();
  Generator generator(model, 1, generation);
  std::vector<int32_t> begin = {tokenizer.endOfText().value_or(0)};
  generator.begin({begin});
  std::string text;
  generator.generate(length, [&](std::span<const int32_t> drawn) {
    text += shownToken(tokenizer, drawn[0]);
  });
  return text;
}
