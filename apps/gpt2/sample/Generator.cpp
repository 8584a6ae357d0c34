//===- Generator.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/sample/Generator.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear/NormedLinear.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <tuple>

using namespace nereid;
using namespace nereid::gpt2;
using kernels::Activation;

/// Steps of one graph: between two graphs a GPU does nothing for a while, which
/// counts where steps are short (docs/Training.md, "Sampling").
static constexpr int64_t stepsOfGraph = 8;
/// Steps whose tokens are kept on the device: those of one graph are read while
/// the next one runs.
static constexpr int64_t ring = 2 * stepsOfGraph;

[[noreturn]] static void refuse(const std::string &name,
                                const std::string &expected,
                                const std::string &got) {
  raise({ErrorCode::InvalidArgument,
         name + ": expected " + expected + ", got " + got,
         {}});
}

/// `value`, or `most` where it is 0.
static int64_t upTo(const char *name, int64_t value, int64_t most) {
  if (value < 0 || value > most) {
    refuse(name, "a number from 0 to " + std::to_string(most),
           std::to_string(value));
  }
  return value ? value : most;
}

Generator::Generator(const Model &model, int64_t rows,
                     const GenerationOptions &options)
    : model(model), options(options), where(model.device()),
      vocabulary(
          upTo("vocabulary", options.vocabulary, model.config().vocabulary)),
      capacity(upTo("capacity", options.capacity, model.config().context)) {
  const GptConfig &config = model.config();
  constexpr int64_t mostRows = 1 << 16;
  if (rows < 1 || rows > mostRows) {
    refuse("rows", "a number from 1 to " + std::to_string(mostRows),
           std::to_string(rows));
  }
  cache = empty({config.layers, 2, rows, config.heads, capacity,
                 config.width / config.heads},
                config.dtype, where);
  state.tokens = zeros({rows}, i32, where);
  state.positions = zeros({rows}, i32, where);
  state.steps = zeros({rows}, i32, where);
  state.history = zeros({ring, rows}, i32, where);
  if (!where.isHost()) {
    reader.emplace(where);
  }
}

Generator::~Generator() = default;

void Generator::begin(std::vector<std::vector<int32_t>> prompts) {
  auto rows = size_t(state.tokens.numel());
  if (prompts.size() != rows) {
    refuse("prompts", std::to_string(rows) + ", one for each row",
           std::to_string(prompts.size()));
  }
  for (const std::vector<int32_t> &prompt : prompts) {
    if (prompt.empty()) {
      refuse("prompt", "at least one token", "none");
    }
    for (int32_t token : prompt) {
      if (token < 0 || token >= model.config().vocabulary) {
        refuse("prompt",
               "tokens of the model, 0 to " +
                   std::to_string(model.config().vocabulary - 1),
               std::to_string(token));
      }
    }
  }
  sequences.clear();
  for (std::vector<int32_t> &prompt : prompts) {
    size_t first = prompt.size() - std::min(prompt.size(), size_t(capacity));
    sequences.push_back({std::move(prompt), first});
  }
  launched = seen = 0;
  inFlight.clear();
  state.steps.zero();
  refill();
}

/// All but the last token of each row, whose step is the next one.
void Generator::refill() {
  std::vector<int32_t> tokens, positions;
  for (size_t begin = 0; begin < sequences.size();) {
    auto lengthOf = [&](size_t row) {
      return sequences[row].tokens.size() - sequences[row].first;
    };
    size_t end = begin, length = lengthOf(begin);
    for (; end < sequences.size() && lengthOf(end) == length; ++end) {
      tokens.push_back(sequences[end].tokens.back());
      positions.push_back(int32_t(length) - 1);
    }
    if (length > 1) {
      fillCache(begin, end, length - 1);
    }
    begin = end;
  }
  state.tokens.copyFrom(Tensor::fromVector(tokens));
  state.positions.copyFrom(Tensor::fromVector(positions));
}

/// The keys and values of `length` tokens of rows begin to end, by the model's
/// own forward pass. Equal rows take one.
void Generator::fillCache(size_t begin, size_t end, size_t length) {
  auto tokensOf = [&](size_t row) {
    const Sequence &s = sequences[row];
    return std::span(s.tokens).subspan(s.first, length);
  };
  bool isOne = true;
  for (size_t row = begin; row < end; ++row) {
    isOne = isOne && std::ranges::equal(tokensOf(begin), tokensOf(row));
  }
  std::vector<int32_t> tokens;
  for (size_t row = begin; row < (isOne ? begin + 1 : end); ++row) {
    std::span<const int32_t> part = tokensOf(row);
    tokens.insert(tokens.end(), part.begin(), part.end());
  }
  auto time = int64_t(length), rows = int64_t(tokens.size() / length);
  const GptConfig &config = model.config();
  model.features(Tensor::fromVector(tokens, Shape{rows, time}).to(where),
                 [&](size_t layer, const Tensor &qkv) {
                   // [queries, keys, values; rows, heads, time, head size]
                   Tensor parts = qkv.view({rows, time, 3, config.heads,
                                            config.width / config.heads})
                                      .permute({2, 0, 3, 1, 4});
                   Tensor places = cache.select(0, int64_t(layer))
                                       .slice(1, int64_t(begin), int64_t(end))
                                       .slice(3, 0, time);
                   for (int64_t i : {0, 1}) {
                     places.select(0, i).copyFrom(parts.select(0, i + 1));
                   }
                 });
}

/// The forward pass of one token a row. The weights are read while the launches
/// in front run: nothing writes them here. The step in front writes positions.
void Generator::step() {
  kernels::OverlappedLaunches overlap;
  kernels::OverlappedLaunches::fence();
  const GptConfig &config = model.config();
  const std::vector<Model::Block> &blocks = model.blocks();
  int64_t rows = state.tokens.numel(), size = config.width / config.heads;
  Activation activation =
      config.tanhGelu ? Activation::GeluTanh : Activation::Gelu;
  // What the last block has added, and what it is to be added to: at first two
  // tables, whose rows the first norm takes.
  Tensor added = model.tokenEmbedding().value(),
         stream = model.positionEmbedding().value();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Model::Block &b = blocks[i];
    kernels::NormedLinearOptions norm1 = {b.norm1.value(), b.norm1Bias.value(),
                                          b.qkvBias.value()};
    if (i == 0) {
      norm1.xRows = state.tokens;
      norm1.residualRows = state.positions;
    }
    Tensor qkv, up;
    std::tie(qkv, stream) =
        kernels::addLayerNormLinear(added, stream, b.qkv.value(), norm1);
    qkv = qkv.view({rows, 3, config.heads, size});
    Tensor places = cache.select(0, int64_t(i));
    added = kernels::decodeNextLinear(
        qkv.select(1, 0), {qkv.select(1, 1), qkv.select(1, 2)},
        places.select(0, 0), places.select(0, 1), state.positions,
        b.attention.value(), b.attentionBias.value());
    std::tie(up, stream) = kernels::addLayerNormLinear(
        added, stream, b.up.value(),
        {b.norm2.value(), b.norm2Bias.value(), b.upBias.value(), activation});
    added = kernels::linear(up, b.down.value(), b.downBias.value());
  }
  Tensor y = kernels::addLayerNorm(added, stream, model.lastNorm().value(),
                                   model.lastNormBias().value())
                 .first;
  lastLogits = kernels::linear(
      y, model.tokenEmbedding().value().slice(0, 0, vocabulary));
  kernels::SamplingOptions sampling;
  sampling.temperature = options.temperature;
  sampling.topK = options.topK;
  sampling.topP = options.topP;
  sampling.seed = options.seed;
  kernels::sampleNext(lastLogits, state, sampling);
}

/// At most `most` steps, and not more than the cache has places for. The first
/// step compiles the kernels, what comes then is recorded.
void Generator::launch(int64_t most) {
  int64_t count = 1;
  if (!isCaptured() || !isWarm) {
    step();
    isWarm = true;
  } else {
    count = std::min(most, room()) >= stepsOfGraph ? stepsOfGraph : 1;
    Recording &recording = count > 1 ? severalSteps : oneStep;
    if (!recording.graph) {
      recording.graph = Graph::capture(where, [&] {
        kernels::OverlappedLaunches overlap;
        for (int64_t i = 0; i < count; ++i) {
          step();
        }
      });
      recording.logits = lastLogits;
    }
    recording.graph->replay();
    lastLogits = recording.logits;
  }
  launched += count;
  Batch batch{launched, std::nullopt};
  if (!where.isHost()) {
    batch.done.emplace(where).record();
  }
  inFlight.push_back(std::move(batch));
}

/// The tokens of the first step that has not been read.
std::vector<int32_t> Generator::read() {
  Tensor tokens = state.history.select(0, seen % ring);
  ++seen;
  std::vector<int32_t> result;
  if (where.isHost()) {
    result = tokens.toVector<int32_t>();
  } else {
    StreamGuard guard(*reader);
    result = tokens.toVector<int32_t>();
  }
  for (size_t row = 0; row < result.size(); ++row) {
    sequences[row].tokens.push_back(result[row]);
  }
  return result;
}

/// Steps for which the cache has places in each row. Those that are still to be
/// read count.
int64_t Generator::room() const {
  int64_t room = capacity;
  for (const Sequence &s : sequences) {
    auto taken = int64_t(s.tokens.size() - s.first) + launched - seen;
    room = std::min(room, capacity + 1 - taken);
  }
  return room;
}

void Generator::slide() {
  for (Sequence &s : sequences) {
    if (s.tokens.size() - s.first > size_t(capacity)) {
      s.first = s.tokens.size() - size_t(std::max<int64_t>(capacity / 2, 1));
    }
  }
  refill();
}

void Generator::generate(
    int64_t count, const std::function<void(std::span<const int32_t>)> &each) {
  if (sequences.empty()) {
    refuse("generate", "prompts (begin) before", "none");
  }
  int64_t end = launched + count;
  while (seen < end) {
    if (inFlight.empty()) {
      if (room() <= 0) {
        slide();
      }
      launch(end - launched);
    }
    // A GPU has the next ones to do while the host reads these.
    if (!where.isHost() && inFlight.size() < 2 && launched < end &&
        room() > 0) {
      launch(end - launched);
    }
    if (reader) {
      reader->wait(*inFlight.front().done);
    }
    // Where `each` throws, a later call goes on with what is still unread.
    while (seen < inFlight.front().end) {
      each(read());
    }
    inFlight.pop_front();
  }
}

std::vector<int32_t> Generator::context(int64_t row) const {
  const Sequence &s = sequences.at(size_t(row));
  // The last token has been drawn, and not been taken.
  return {s.tokens.begin() + int64_t(s.first), s.tokens.end() - 1};
}

double Generator::bytesOfStep() const {
  double elements =
      double(parameterCount(model.config(), false)) + double(cache.numel());
  return elements * double(byteSize(model.config().dtype));
}
