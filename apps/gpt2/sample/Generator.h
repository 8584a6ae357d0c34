//===- Generator.h - Tokens, one after the other ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys and values of the tokens so far stay in a cache on the device, so
// that a step takes one token of each sequence. Tokens, positions and what
// random numbers depend on lie on the device, too: on a GPU, several steps are
// one graph, and the host reads their tokens while the next ones run.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_SAMPLE_GENERATOR_H
#define NEREID_APPS_GPT2_SAMPLE_GENERATOR_H

#include "apps/gpt2/model/Model.h"

#include "kernels/sampling/Sampling.h"
#include "nereid/Runtime/Stream.h"

#include <deque>
#include <optional>
#include <span>

namespace nereid::gpt2 {

struct GenerationOptions {
  double temperature = 0.8; ///< 0: the most probable token
  int64_t topK = 200;       ///< 0: all
  double topP = 1;          ///< 1: all
  int64_t seed = 1337;
  /// On a GPU, a graph for a step.
  bool compile = true;
  /// Tokens that may be drawn; 0: all rows of the embedding.
  int64_t vocabulary = 0;
  /// Places of the cache, at most the context; 0: the context.
  int64_t capacity = 0;
};

/// A few sequences at a time, which know nothing of one another: the tokens of
/// row r depend on its prompt, the seed and r alone. A sequence that has filled
/// the cache goes on with its last tokens, half as many as the cache has
/// places, as if they were its prompt.
class Generator {
public:
  /// The model must live as long. Throws InvalidArgument.
  Generator(const Model &model, int64_t rows, const GenerationOptions &options);
  ~Generator();

  /// A prompt for each row, of at least one token; of one that is longer than
  /// the cache, its last tokens count. Throws InvalidArgument.
  void begin(std::vector<std::vector<int32_t>> prompts);

  /// Draws `count` tokens of each row; `each` gets those of one step, a token
  /// for each row. A second call goes on.
  void generate(int64_t count,
                const std::function<void(std::span<const int32_t>)> &each);

  /// Steps since `begin` that are done: those of a graph are when the first of
  /// them is reported.
  int64_t finished() const {
    return inFlight.empty() ? seen : inFlight.front().end;
  }
  /// After `generate`, what the last tokens were drawn from: [rows,
  /// vocabulary].
  const Tensor &logits() const { return lastLogits; }
  /// The tokens that these depend on: all of a row, or those that it went on
  /// with.
  std::vector<int32_t> context(int64_t row) const;
  bool isCaptured() const { return options.compile && !where.isHost(); }
  /// Bytes that a step has to read: parameters and the cache when it is full.
  double bytesOfStep() const;

private:
  /// A row: its tokens, and the first one in the cache.
  struct Sequence {
    std::vector<int32_t> tokens;
    size_t first = 0;
  };

  struct Recording {
    std::optional<Graph> graph;
    Tensor logits; ///< of its last step
  };
  /// Steps that were launched together.
  struct Batch {
    int64_t end; ///< `launched` after them
    std::optional<Event> done;
  };

  void launch(int64_t most);
  void step();
  std::vector<int32_t> read();
  int64_t room() const;
  /// Cuts what has filled the cache.
  void slide();
  /// The cache, tokens and positions from `sequences`.
  void refill();
  void fillCache(size_t begin, size_t end, size_t length);

  const Model &model;
  GenerationOptions options;
  Device where;
  int64_t vocabulary, capacity;
  std::vector<Sequence> sequences;
  Tensor cache; ///< [layers, 2, rows, heads, capacity, head size]
  kernels::SamplingState state;
  Tensor lastLogits;
  int64_t launched = 0, seen = 0; ///< steps since `begin`
  bool isWarm = false;
  Recording oneStep, severalSteps;
  std::deque<Batch> inFlight;
  /// On a GPU: copies tokens while the next step runs.
  std::optional<Stream> reader;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_SAMPLE_GENERATOR_H
