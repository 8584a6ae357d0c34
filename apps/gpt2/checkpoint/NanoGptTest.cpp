//===- NanoGptTest.cpp ----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkpoints of a form that is written here. One that nanoGPT itself trained
// is taken over in test/nanogpt_peer.py.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/NanoGpt.h"

#include "apps/gpt2/checkpoint/TorchTesting.h"
#include "apps/gpt2/commands/Testing.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {

/// A model of one layer, width 4, context 3, 5 tokens, and its ckpt.pt.
class NanoGptFiles : public ::testing::Test {
protected:
  struct Tensor4 {
    std::string name;
    std::vector<int64_t> shape;
  };
  static std::vector<Tensor4> parameters() {
    return {{"transformer.wte.weight", {5, 4}},
            {"transformer.wpe.weight", {3, 4}},
            {"transformer.h.0.ln_1.weight", {4}},
            {"transformer.h.0.attn.c_attn.weight", {12, 4}},
            {"transformer.h.0.attn.c_proj.weight", {4, 4}},
            {"transformer.h.0.ln_2.weight", {4}},
            {"transformer.h.0.mlp.c_fc.weight", {16, 4}},
            {"transformer.h.0.mlp.c_proj.weight", {4, 16}},
            {"transformer.ln_f.weight", {4}}};
  }

  /// A tensor whose elements count up from `first`.
  std::string tensor(const std::vector<int64_t> &shape, float first) {
    std::string elements;
    int64_t count = 1;
    std::vector<int64_t> strides(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = count;
      count *= shape[i];
    }
    for (int64_t i = 0; i < count; ++i) {
      float value = first + float(i) / 64;
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      elements += littleEndian(bits, 4);
    }
    storages.emplace_back(std::to_string(storages.size()), elements);
    return tensorPickle("FloatStorage", storages.back().first, count, 0, shape,
                        strides);
  }

  NamedTexts model() {
    NamedTexts result;
    for (const Tensor4 &one : parameters()) {
      result.emplace_back(prefix + one.name,
                          tensor(one.shape, float(result.size())));
    }
    result.emplace_back(prefix + "lm_head.weight", result[0].second);
    // A buffer of versions without flash attention.
    result.emplace_back(prefix + "transformer.h.0.attn.bias",
                        tensor({1, 1, 3, 3}, 0));
    return result;
  }

  /// AdamW's: matrices first, then vectors.
  std::string optimizer() {
    std::string states = "}(", groups = "](";
    int64_t number = 0;
    for (bool isMatrix : {true, false}) {
      std::string numbers = "](";
      for (const Tensor4 &one : parameters()) {
        if ((one.shape.size() == 2) == isMatrix) {
          states +=
              integerPickle(number) +
              dictPickle(
                  {{"step", tensor({}, steps)},
                   {"exp_avg", tensor(one.shape, 100 + float(number))},
                   {"exp_avg_sq", tensor(one.shape, 200 + float(number))}});
          numbers += integerPickle(number++);
        }
      }
      std::string beta1 = "G\x3f\xe0" + std::string(6, '\0'),
                  beta2 = "G\x3f\xe8" + std::string(6, '\0'); // 0.5 and 0.75
      groups += dictPickle({{"lr", beta1},
                            {"betas", beta1 + beta2 + "\x86"},
                            {"params", numbers + "e"}});
    }
    return dictPickle(
        {{"state", states + "u"}, {"param_groups", groups + "e"}});
  }

  NamedTexts checkpoint() {
    return {{"model", dictPickle(model())},
            {"optimizer", optimizer()},
            {"model_args", dictPickle({{"n_layer", integerPickle(1)},
                                       {"n_head", integerPickle(2)},
                                       {"n_embd", integerPickle(4)},
                                       {"block_size", integerPickle(3)},
                                       {"bias", "\x89"},
                                       {"vocab_size", integerPickle(5)},
                                       {"dropout", integerPickle(0)}})},
            {"iter_num", integerPickle(7)},
            {"best_val_loss", tensor({}, 2.5)},
            {"config",
             dictPickle({{"batch_size", integerPickle(12)},
                         {"gradient_accumulation_steps", integerPickle(5)},
                         {"dataset", textPickle("tiny")},
                         {"wandb_log", "\x88"},
                         {"device", textPickle("cuda:3")},
                         {"decay_lr", "\x88"}})}};
  }

  void write(const NamedTexts &values) {
    writeContent(path, torchZip(pickleOf(values), storages));
  }
  /// `values` with another value of `key`; without one where it is empty.
  static NamedTexts with(NamedTexts values, const std::string &key,
                         const std::string &value) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].first == key) {
        if (value.empty()) {
          values.erase(values.begin() + int64_t(i));
        } else {
          values[i].second = value;
        }
        break;
      }
    }
    return values;
  }
  std::string refusal(const NamedTexts &values) {
    write(values);
    return errorOf([&] { loadNanoGpt(path); });
  }

  TestFolder folder;
  std::string path = folder / "ckpt.pt", prefix;
  NamedTexts storages;
  float steps = 3;
};

} // namespace

TEST_F(NanoGptFiles, givesWeightsConfigurationAndOptions) {
  write(checkpoint());
  ImportedModel model = importModel(path);
  EXPECT_EQ(model.config.layers, 1);
  EXPECT_EQ(model.config.context, 3);
  EXPECT_EQ(model.config.vocabulary, 5);
  EXPECT_FALSE(model.config.bias);
  EXPECT_FALSE(model.config.tanhGelu);
  EXPECT_EQ(model.options["dataset"], "tiny");
  EXPECT_EQ(model.options["decay_lr"], true);
  EXPECT_FALSE(model.options.contains("wandb_log"));
  EXPECT_FALSE(model.options.contains("device"));
  ASSERT_EQ(model.weights.size(), parameters().size());
  for (size_t i = 0; i < model.weights.size(); ++i) {
    EXPECT_EQ(model.weights[i].name, parameters()[i].name);
    EXPECT_EQ(model.weights[i].tensor.shape(), parameters()[i].shape);
    EXPECT_EQ(model.weights[i].tensor.flatten().at({0}), double(i));
  }
}

TEST_F(NanoGptFiles, ofACompiledModelIsTheSame) {
  write(checkpoint());
  ImportedModel plain = importModel(path);
  storages.clear();
  prefix = "_orig_mod.";
  // The folder stands for the file.
  std::filesystem::create_directory(folder / "compiled");
  path = folder / "compiled/ckpt.pt";
  write(checkpoint());
  ImportedModel compiled = importModel(folder / "compiled");
  ASSERT_EQ(compiled.weights.size(), plain.weights.size());
  for (size_t i = 0; i < plain.weights.size(); ++i) {
    EXPECT_EQ(compiled.weights[i].name, plain.weights[i].name);
    EXPECT_TRUE(
        haveSameBits(compiled.weights[i].tensor, plain.weights[i].tensor));
  }
}

TEST_F(NanoGptFiles, trainingGoesOnFromItsOptimiser) {
  write(checkpoint());
  EXPECT_TRUE(hasCheckpoint(folder.path));
  Checkpoint all = loadCheckpoint(folder.path);
  EXPECT_EQ(all.state.step, 7u);
  EXPECT_EQ(all.state.dataStep, 35u);
  EXPECT_EQ(all.state.bestLoss, 2.5);
  EXPECT_EQ(all.state.bestStep, 7u);
  EXPECT_EQ(loadCheckpoint(folder.path, "7").state.loss, 2.5);
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder.path, "6"); }),
              HasSubstr("nanoGPT's one checkpoint, of step 7, got '6'"));
  EXPECT_EQ(all.state.model["activation_function"], "gelu");
  std::map<std::string, Tensor> found;
  for (const NamedTensor &one : all.optimizer) {
    found[one.name] = one.tensor;
  }
  EXPECT_EQ(found.size(), 2 * parameters().size() + 1);
  // Matrices have the numbers 0 to 5, vectors 6 to 8.
  const std::pair<const char *, double> numbers[] = {
      {"wte.weight", 0},
      {"wpe.weight", 1},
      {"h.0.attn.c_attn.weight", 2},
      {"h.0.mlp.c_proj.weight", 5},
      {"h.0.ln_1.weight", 6},
      {"ln_f.weight", 8}};
  for (const auto &[name, number] : numbers) {
    std::string whole = std::string("transformer.") + name;
    EXPECT_EQ(found["m." + whole].flatten().at({0}), 100 + number) << name;
    EXPECT_EQ(found["v." + whole].flatten().at({0}), 200 + number) << name;
  }
  EXPECT_THAT(found["powers"].toFloat64(),
              ::testing::ElementsAre(0.125, 0.421875));
}

TEST_F(NanoGptFiles, aCheckpointOfOursBesideItCounts) {
  write(checkpoint());
  Checkpoint later = loadCheckpoint(folder.path);
  later.state.step = 9;
  saveCheckpoint(folder.path, later);
  EXPECT_EQ(loadCheckpoint(folder.path).state.step, 9u);
  EXPECT_EQ(loadTrainingState(folder.path).step, 9u);
}

TEST_F(NanoGptFiles, saysWhatIsMissingOrDoesNotFit) {
  EXPECT_THAT(refusal(with(checkpoint(), "model", "")),
              HasSubstr("one without 'model'"));
  EXPECT_THAT(refusal(with(checkpoint(), "model", "]")),
              HasSubstr("names and tensors, got a list"));
  EXPECT_THAT(refusal(with(checkpoint(), "model", dictPickle({{"x", "N"}}))),
              HasSubstr("got None under the text 'x'"));
  EXPECT_THAT(refusal(with(checkpoint(), "model_args", "")),
              HasSubstr("expected the key 'model_args'"));
  EXPECT_THAT(refusal(with(checkpoint(), "model_args",
                           dictPickle({{"n_layer", integerPickle(-1)}}))),
              HasSubstr("'n_layer': expected a number from 1 on"));
  EXPECT_THAT(refusal(with(checkpoint(), "model",
                           dictPickle(with(model(), "transformer.wpe.weight",
                                           tensor({2, 4}, 0))))),
              HasSubstr("'transformer.wpe.weight': expected"));
  EXPECT_THAT(refusal(with(checkpoint(), "model",
                           dictPickle(with(model(), "lm_head.weight",
                                           tensor({5, 4}, 9))))),
              HasSubstr("models whose last product has weights of its own"));
  EXPECT_THAT(refusal(with(checkpoint(), "optimizer", "")),
              HasSubstr("ckpt.pt takes the weights alone"));
  EXPECT_THAT(
      refusal(with(checkpoint(), "optimizer",
                   dictPickle({{"state", "}"}, {"param_groups", "]"}}))),
      HasSubstr("expected the state of 9 parameters, got that of 0"));
  EXPECT_THAT(refusal(with(checkpoint(), "iter_num", "N")),
              HasSubstr("'iter_num': expected a number of steps, got None"));
  EXPECT_THAT(refusal(with(checkpoint(), "best_val_loss", "N")),
              HasSubstr("'best_val_loss': expected a number"));
  steps = 0.5;
  EXPECT_THAT(refusal(checkpoint()), HasSubstr("'step' of"));
}

TEST_F(NanoGptFiles, weightsAloneNeedNoOptimiser) {
  write(with(checkpoint(), "optimizer", ""));
  EXPECT_EQ(importModel(path).weights.size(), parameters().size());
}

TEST_F(NanoGptFiles, pytorchModelBinOfTransformersIsRead) {
  // Its products are [in, out].
  NamedTexts tensors;
  for (const Tensor4 &one : parameters()) {
    std::vector<int64_t> shape = one.shape;
    if (isTransposedByHuggingFace(one.name)) {
      std::swap(shape[0], shape[1]);
    }
    tensors.emplace_back(one.name.substr(sizeof("transformer.") - 1),
                         tensor(shape, 1));
  }
  writeContent(folder / "pytorch_model.bin",
               torchZip(pickleOf(tensors), storages));
  GptConfig config;
  config.layers = 1;
  config.heads = 2;
  config.width = 4;
  config.context = 3;
  config.vocabulary = 5;
  config.bias = false;
  writeContent(folder / "config.json", toJson(config).dump());
  ImportedModel model = importModel(folder.path);
  EXPECT_EQ(model.weights[3].tensor.shape(), (Shape{12, 4}));
  EXPECT_EQ(model.weights[3].tensor.at({1, 0}), 1 + 1.0 / 64);
  ImportedModel file = importModel(folder / "pytorch_model.bin");
  EXPECT_TRUE(haveSameBits(file.weights[3].tensor, model.weights[3].tensor));
}

TEST_F(NanoGptFiles, isTheBestCheckpointOfTheRunThatTakesItOver) {
  // No later step is better.
  write(with(checkpoint(), "best_val_loss", tensor({}, 0)));
  std::string text;
  while (text.size() < 400) {
    text += "abcd\n";
  }
  writeContent(folder / "text.txt", text);
  EXPECT_EQ(runCommand({"prepare", folder / "text.txt",
                        "--dataset=" + (folder / "data")})
                .error,
            "");
  EXPECT_EQ(
      runCommand({"train", "--init_from=resume", "--out_dir=" + folder.path,
                  "--dataset=" + (folder / "data"), "--device=cpu",
                  "--max_iters=8", "--batch_size=1", "--eval_iters=1",
                  "--gradient_accumulation_steps=1",
                  "--always_save_checkpoint=False"})
          .error,
      "");
  EXPECT_TRUE(std::filesystem::exists(folder / "best.safetensors"));
  TrainingState best = loadTrainingState(folder.path, "best");
  EXPECT_EQ(best.step, 7U);
  EXPECT_EQ(best.loss, 0);
}
