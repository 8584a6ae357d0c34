//===- main.cpp - Lesson 10: a model of your own ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vision transformer, written as in PyTorch: modules, an optimiser with a
// schedule, a file that PyTorch reads. It tells shapes apart that it is shown
// with noise. New here: nereid/kernels.h and nn::Module.
//
//===----------------------------------------------------------------------===//

#include "nereid/kernels.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

#include <filesystem>
#include <unistd.h>

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr int64_t side = 16, patch = 4, patches = side / patch, classes = 4;

struct Pictures {
  Tensor images, labels; ///< fp32 [count, 1, side, side], i64 [count]
};

/// Discs, rings, squares and crosses, each somewhere, with noise.
Pictures draw(int64_t count, uint64_t seed, Device device) {
  Tensor noise = randn({count, 1, side, side}, f32, Device::cpu(), seed);
  std::vector<int64_t> middles =
      randint({count, 2}, 6, side - 6, i64, Device::cpu(), seed + 1)
          .toVector<int64_t>();
  std::vector<float> pixels = noise.toVector<float>();
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    int64_t label = i % classes;
    labels.push_back(label);
    for (int64_t at = 0; at < side * side; ++at) {
      int64_t y = std::abs(at / side - middles[size_t(2 * i)]),
              x = std::abs(at % side - middles[size_t(2 * i + 1)]);
      int64_t square = x * x + y * y;
      bool isInside = label == 0   ? square <= 18
                      : label == 1 ? square >= 10 && square <= 26
                      : label == 2 ? std::max(x, y) <= 4
                                   : std::min(x, y) <= 1 && std::max(x, y) <= 5;
      float &pixel = pixels[size_t(i * side * side + at)];
      pixel = 0.4F * pixel + (isInside ? 1.0F : 0.0F);
    }
  }
  return {Tensor::fromVector(pixels, noise.shape(), device),
          Tensor::fromVector(labels, std::nullopt, device)};
}

struct Block : nn::Module {
  nn::LayerNorm norm1, norm2;
  nn::MultiheadAttention attention;
  nn::Sequential mlp;

  Block(int64_t width, Device device)
      : norm1(add("norm1", nn::LayerNorm(width, {.device = device}))),
        norm2(add("norm2", nn::LayerNorm(width, {.device = device}))),
        attention(
            add("attn", nn::MultiheadAttention(width, 4, {.device = device}))),
        mlp(add("mlp", nn::Sequential(
                           nn::Linear(width, 4 * width, {.device = device}),
                           gelu, nn::Dropout(0.1),
                           nn::Linear(4 * width, width, {.device = device})))) {
  }

  Variable operator()(Variable x) const {
    x += attention(norm1(x));
    return x + mlp(norm2(x));
  }
};

struct VisionTransformer : nn::Module {
  nn::Linear embed;
  Variable token, positions;
  std::vector<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;

  VisionTransformer(int64_t width, int64_t layers, Device device)
      : embed(
            add("embed", nn::Linear(patch * patch, width, {.device = device}))),
        token(add("token", zeros({1, 1, width}, f32, device))),
        positions(add("positions",
                      zeros({1, patches * patches + 1, width}, f32, device))),
        blocks(addList<Block>("blocks", layers, width, device)),
        norm(add("norm", nn::LayerNorm(width, {.device = device}))),
        head(add("head", nn::Linear(width, classes, {.device = device}))) {
    nn::init::truncatedNormal(token, 0, 0.02);
    nn::init::truncatedNormal(positions, 0, 0.02);
  }

  /// Logits [B, classes] of images [B, 1, side, side].
  Variable operator()(const Tensor &images) const {
    int64_t batch = images.size(0);
    Tensor cut = images.view({batch, patches, patch, patches, patch})
                     .permute({0, 1, 3, 2, 4})
                     .reshape({batch, patches * patches, patch * patch});
    Variable first = token.expand({batch, 1, token.size(2)});
    Variable x = concat({first, embed(cut)}, 1) + positions;
    for (const Block &block : blocks) {
      x = block(x);
    }
    return head(norm(x.select(1, 0)));
  }
};

/// The share of pictures that are recognised.
double accuracy(const Tensor &logits, const Tensor &labels) {
  std::vector<float> all = logits.toVector<float>();
  std::vector<int64_t> expected = labels.toVector<int64_t>();
  int64_t right = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    auto row = all.begin() + int64_t(i) * classes;
    right += std::max_element(row, row + classes) - row == expected[i];
  }
  return double(right) / double(expected.size());
}

int run(int argc, char **argv) {
  lesson::checkOptions(argc, argv,
                       {"--device", "--pictures", "--width", "--layers",
                        "--steps", "--repeats", "--save"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t count = lesson::option(argc, argv, "--pictures", int64_t{64}),
          width = lesson::option(argc, argv, "--width", int64_t{64}),
          layers = lesson::option(argc, argv, "--layers", int64_t{2}),
          steps = lesson::option(argc, argv, "--steps", int64_t{200}),
          repeats = lesson::option(argc, argv, "--repeats", int64_t{5});
  std::string path = lesson::option(argc, argv, "--save", "");
  if (count < 1 || width < 1 || layers < 1) {
    std::fprintf(stderr,
                 "error: expected --pictures, --width and --layers from 1\n");
    return 2;
  }
  manualSeed(1);

  std::printf("1. The model: modules, whose parameters have names.\n\n");
  VisionTransformer model(width, layers, device);
  std::vector<nn::NamedVariable> named = model.namedParameters();
  for (const nn::NamedVariable &one : named) {
    if (!one.name.starts_with("blocks.") || one.name.starts_with("blocks.0")) {
      std::printf("  %-28s %s\n", one.name.c_str(),
                  one.value.value().str().c_str());
    }
  }
  std::printf("  %lld numbers\n\n", (long long)model.parameterCount());

  std::printf("2. Training: new pictures in each step.\n\n");
  AdamW optimizer(model.parameters(), {.learningRate = 1e-3});
  CosineRate rate = {.base = 1e-3, .warmup = 10, .steps = steps};
  for (int64_t step = 0; step < steps; ++step) {
    Pictures batch = draw(count, 100 + 2 * uint64_t(step), device);
    Variable loss = crossEntropy(model(batch.images), batch.labels);
    if (step % 25 == 0 || step + 1 == steps) {
      std::printf("  step %4lld   loss %.3f\n", (long long)step, loss.item());
    }
    loss.backward();
    optimizer.setLearningRate(rate(step));
    optimizer.step(optimizer.clipFactor(1.0));
    optimizer.zeroGrad();
  }
  Pictures same = draw(count, 3, device);
  double time = lesson::medianMilliseconds(device, repeats, [&] {
    crossEntropy(model(same.images), same.labels).backward();
    optimizer.step(optimizer.clipFactor(1.0));
    optimizer.zeroGrad();
  });
  std::printf("\n  a step takes %.2f ms\n", time);

  model.eval(); // no dropout from here on
  Pictures unseen = draw(4 * count, 7, device);
  NoGrad off;
  Tensor logits = model(unseen.images).value();
  std::printf(
      "\n3. Of pictures that it has not seen, %.1f %% are told apart.\n",
      100 * accuracy(logits, unseen.labels));

  std::printf("\n4. A file, and a model that is loaded from it.\n\n");
  std::string file =
      path.empty() ? std::filesystem::temp_directory_path() /
                         ("vit-" + std::to_string(::getpid()) + ".safetensors")
                   : std::filesystem::path(path);
  nn::StateDict state = model.stateDict();
  nn::saveModel(model, file);
  VisionTransformer loaded(width, layers, device);
  nn::loadModel(loaded, file);
  loaded.eval();
  double difference =
      lesson::maxDifference(loaded(unseen.images).value(), logits.toFloat64());
  std::printf("  %zu tensors in %s; logits differ by %g\n", state.size(),
              file.c_str(), difference);
  if (!path.empty()) { // for vit.py
    nn::saveFile({{"images", unseen.images}, {"logits", logits}},
                 path + ".pictures");
  } else {
    std::remove(file.c_str());
  }
  try {
    VisionTransformer(2 * width, layers, device).loadStateDict(state);
  } catch (const Error &error) {
    std::string what = error.message();
    std::printf("  Into a model of twice the width: %s ...\n",
                what.substr(0, what.find(", got fp32")).c_str());
  }
  return lesson::verdict(difference, 0);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
