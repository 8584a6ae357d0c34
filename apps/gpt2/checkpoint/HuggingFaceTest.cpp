//===- HuggingFaceTest.cpp ------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That `transformers` computes the same logits is test/transformers_peer.py.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/HuggingFace.h"

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/model/Model.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
using ::testing::HasSubstr;

static GptConfig smallConfig() {
  GptConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 8;
  config.context = 6;
  config.vocabulary = 12;
  return config;
}

static std::vector<NamedTensor> weightsOf(const Model &model) {
  std::vector<NamedTensor> weights;
  for (const Parameter &one : model.parameters()) {
    weights.push_back({one.name, one.value.value()});
  }
  return weights;
}

namespace {
class HuggingFace : public ::testing::Test {
protected:
  std::string refusal(const std::string &path) {
    return errorOf([&] { importModel(path); });
  }
  /// Writes model.safetensors again, as `change` makes it of what it was.
  void rewrite(const std::function<void(std::vector<NamedTensor> &)> &change) {
    std::vector<NamedTensor> tensors =
        SafetensorsFile(out / "model.safetensors").tensors();
    change(tensors);
    writeSafetensors(out / "model.safetensors", tensors);
  }
  void exportSmall() { exportModel(out.path, config, weights, 12); }

  TestFolder out;
  GptConfig config = smallConfig();
  Model model{config, 1, Device::cpu()};
  std::vector<NamedTensor> weights = weightsOf(model);
};
} // namespace

TEST_F(HuggingFace, givesBackWhatWasExported) {
  exportSmall();
  SafetensorsFile file(out / "model.safetensors");
  EXPECT_EQ(file.find("transformer.h.1.mlp.c_fc.weight").shape(),
            (Shape{8, 32}));
  ImportedModel got = importModel(out.path);
  EXPECT_EQ(got.config, config);
  Model other(config, 2, Device::cpu());
  std::vector<NamedTensor> to = weightsOf(other);
  EXPECT_FALSE(haveSameBits(to[0].tensor, weights[0].tensor));
  copyWeights(to, got, out.path);
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_TRUE(haveSameBits(to[i].tensor, weights[i].tensor))
        << weights[i].name;
  }
}

TEST_F(HuggingFace, readsTheFourSizes) {
  // config.json of gpt2, gpt2-medium, gpt2-large and gpt2-xl.
  struct Size {
    int64_t layers, heads, width;
    double parameters;
  };
  for (const Size &size : {Size{12, 12, 768, 124.44e6},
                           {24, 16, 1024, 354.82e6},
                           {36, 20, 1280, 774.03e6},
                           {48, 25, 1600, 1557.61e6}}) {
    json text = {
        {"model_type", "gpt2"},        {"activation_function", "gelu_new"},
        {"layer_norm_epsilon", 1e-05}, {"n_ctx", 1024},
        {"n_positions", 1024},         {"n_embd", size.width},
        {"n_head", size.heads},        {"n_layer", size.layers},
        {"n_inner", nullptr},          {"resid_pdrop", 0.1},
        {"vocab_size", 50257}};
    GptConfig got = gptConfigFrom(text, "config.json");
    EXPECT_NEAR(double(parameterCount(got)), size.parameters, 5e3);
    EXPECT_EQ(got.dropout, 0.1);
    EXPECT_EQ(gptConfigFrom(toJson(got), "config.json"), got);
  }
}

TEST_F(HuggingFace, readsOlderFiles) {
  exportSmall();
  rewrite([](std::vector<NamedTensor> &tensors) {
    Tensor wte;
    for (NamedTensor &one : tensors) {
      if (one.name == "transformer.wte.weight") {
        wte = one.tensor;
      }
      one.name = one.name.substr(12);
    }
    tensors.push_back(
        {"h.0.attn.bias", full({1, 1, 6, 6}, 1, u8, Device::cpu())});
    tensors.push_back(
        {"h.0.attn.masked_bias", full({}, -1e4, f32, Device::cpu())});
    tensors.push_back({"lm_head.weight", wte.clone()});
  });
  Model other(config, 2, Device::cpu());
  copyWeights(weightsOf(other), importModel(out.path), out.path);
  EXPECT_TRUE(haveSameBits(weightsOf(other)[4].tensor, weights[4].tensor));
}

TEST_F(HuggingFace, readsSeveralFiles) {
  exportSmall();
  std::vector<NamedTensor> all =
      SafetensorsFile(out / "model.safetensors").tensors();
  std::vector<NamedTensor> parts[2];
  json map;
  for (size_t i = 0; i < all.size(); ++i) {
    parts[i % 2].push_back(all[i]);
    map[all[i].name] = i % 2 ? "b.safetensors" : "a.safetensors";
  }
  writeSafetensors(out / "a.safetensors", parts[0]);
  writeSafetensors(out / "b.safetensors", parts[1]);
  std::filesystem::remove(out / "model.safetensors");
  std::string index = out / "model.safetensors.index.json";
  writeContent(index, json{{"weight_map", map}}.dump());
  Model other(config, 2, Device::cpu());
  copyWeights(weightsOf(other), importModel(out.path), out.path);
  EXPECT_TRUE(haveSameBits(weightsOf(other)[3].tensor, weights[3].tensor));

  json changed = map;
  changed["another"] = "a.safetensors";
  writeContent(index, json{{"weight_map", changed}}.dump());
  EXPECT_THAT(refusal(out.path), HasSubstr("expected a tensor 'another', as "
                                           "the index says, got none"));
  changed["another"] = "../x.safetensors";
  writeContent(index, json{{"weight_map", changed}}.dump());
  EXPECT_THAT(refusal(out.path), HasSubstr("the name of a file of the folder"));
  writeContent(index, "{}");
  EXPECT_THAT(refusal(out.path), HasSubstr("expected 'weight_map'"));
}

TEST_F(HuggingFace, cutsPaddingAndAddsBiases) {
  config.bias = false;
  Model plain(config, 3, Device::cpu());
  exportModel(out.path, config, weightsOf(plain), 10, bf16);
  SafetensorsFile file(out / "model.safetensors");
  EXPECT_EQ(file.find("transformer.wte.weight").shape(), (Shape{10, 8}));
  EXPECT_EQ(file.find("transformer.wte.weight").dtype(), bf16);
  EXPECT_EQ(file.find("transformer.h.0.attn.c_attn.bias").toFloat64(),
            std::vector<double>(24, 0));
  EXPECT_EQ(file.tensors().size(), weights.size());
  ImportedModel got = importModel(out.path);
  EXPECT_EQ(got.config.vocabulary, 10);
  GptConfig cut = config;
  cut.vocabulary = 10;
  Model other(cut, 4, Device::cpu());
  copyWeights(weightsOf(other), got, out.path);
  EXPECT_TRUE(haveSameBits(weightsOf(other)[3].tensor,
                           weightsOf(plain)[3].tensor.to(bf16).to(f32)));
  EXPECT_THAT(
      errorOf([&] { exportModel(out.path, config, weightsOf(plain), 13); }),
      HasSubstr("expected a number from 1 to the model's 12 rows"));
}

TEST_F(HuggingFace, readsCheckpointsAndTheirWeights) {
  Checkpoint checkpoint;
  for (const NamedTensor &one : weights) {
    checkpoint.weights.push_back({one.name, one.tensor.to(bf16)});
    checkpoint.optimizer.push_back({"master." + one.name, one.tensor});
  }
  checkpoint.state.model = toJson(config);
  checkpoint.state.options = {{"dataset", "x"}};
  saveCheckpoint(out.path, checkpoint);
  ImportedModel whole = importModel(out.path);
  EXPECT_EQ(whole.options["dataset"], "x");
  EXPECT_TRUE(haveSameBits(whole.weights[0].tensor,
                           [&] {
                             for (const NamedTensor &one : weights) {
                               if (one.name == whole.weights[0].name) {
                                 return one.tensor;
                               }
                             }
                             return Tensor();
                           }()))
      << "master weights come first";
  ImportedModel file = importModel(out / "ckpt.safetensors");
  GptConfig narrow = config;
  narrow.dtype = bf16;
  EXPECT_EQ(file.config, narrow);
}

TEST_F(HuggingFace, saysWhatDoesNotFit) {
  EXPECT_THAT(refusal(out / "none"), HasSubstr("a name that is not there"));
  EXPECT_THAT(refusal("gpt2-xl"),
              HasSubstr("https://huggingface.co/openai-community/gpt2-xl"));
  EXPECT_THAT(refusal(out.path), HasSubstr("got none of them"));
  exportSmall();
  std::string text = contentOf(out / "config.json");
  auto withKey = [&](const char *key, const json &value) {
    json changed = json::parse(text);
    changed[key] = value;
    writeContent(out / "config.json", changed.dump());
    return refusal(out.path);
  };
  EXPECT_THAT(withKey("model_type", "llama"),
              HasSubstr("expected 'model_type' to be \"gpt2\", got \"llama\""));
  EXPECT_THAT(withKey("activation_function", "relu"),
              HasSubstr("or \"gelu\", got \"relu\""));
  EXPECT_THAT(withKey("layer_norm_epsilon", 1e-6), HasSubstr("to be 1e-05"));
  EXPECT_THAT(withKey("n_inner", 7), HasSubstr("to be 32, got 7"));
  EXPECT_THAT(withKey("n_layer", "x"), HasSubstr("a number from 1 on"));
  EXPECT_THAT(withKey("n_layer", 3),
              HasSubstr("expected a tensor 'transformer.h.2."));
  EXPECT_THAT(withKey("n_layer", 1), HasSubstr("has none of this name"));
  EXPECT_THAT(withKey("n_head", 3), HasSubstr("n_head: expected a divisor"));
  EXPECT_THAT(withKey("vocab_size", 13), HasSubstr("the shape [13, 8]"));
  writeContent(out / "config.json", "[]");
  EXPECT_THAT(refusal(out.path), HasSubstr("an object, got array"));
  writeContent(out / "config.json", "{");
  EXPECT_THAT(refusal(out.path), HasSubstr("expected JSON"));
  writeContent(out / "config.json",
               "{\"model_type\": " + std::string(200000, '[') +
                   std::string(200000, ']') + "}");
  EXPECT_THAT(refusal(out.path), HasSubstr("nested at most 64 deep"));
  EXPECT_THAT(withKey("n_layer", json::array({1})),
              HasSubstr("from 1 on, got a list"));
  EXPECT_THAT(withKey("model_type", json::array({1})), HasSubstr("got a list"));
  writeContent(out / "config.json", "[1e999]");
  EXPECT_THAT(refusal(out.path), HasSubstr("got a number overflow"));
  writeContent(out / "config.json", "{}");
  EXPECT_THAT(refusal(out.path), HasSubstr("expected the key 'n_layer'"));
  writeContent(out / "config.json", text);

  auto at = [](std::vector<NamedTensor> &tensors, const std::string &name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const auto &one) { return one.name == name; });
  };
  std::string wte = "transformer.wte.weight";
  rewrite([&](auto &tensors) {
    tensors.push_back({"lm_head.weight", zeros({12, 8}, f32, Device::cpu())});
  });
  EXPECT_THAT(refusal(out.path), HasSubstr("'lm_head.weight': expected the "
                                           "same values"));
  rewrite([&](auto &tensors) {
    at(tensors, "lm_head.weight")->name = "wte.weight";
  });
  EXPECT_THAT(refusal(out.path), HasSubstr("is there twice"));
  rewrite([&](auto &tensors) { tensors.erase(at(tensors, "wte.weight")); });
  rewrite([&](auto &tensors) {
    at(tensors, wte)->tensor = zeros({12, 8}, i32, Device::cpu());
  });
  EXPECT_THAT(refusal(out.path), HasSubstr("expected floats, got i32[12, 8]"));

  std::filesystem::remove(out / "config.json");
  EXPECT_THAT(refusal(out / "model.safetensors"),
              HasSubstr("expected config.json beside it"));
  writeContent(out / "config.json", text);
  std::filesystem::remove(out / "model.safetensors");
  EXPECT_THAT(refusal(out.path), HasSubstr("got none of them"));
  writeContent(out / "pytorch_model.bin", "");
  EXPECT_THAT(refusal(out.path), HasSubstr("a file of torch.save, a zip"));
}

TEST_F(HuggingFace, saysWhatDoesNotFitAModel) {
  ImportedModel imported{config, weights, nullptr};
  auto refusalOf = [&](const GptConfig &other) {
    Model model(other, 2, Device::cpu());
    return errorOf([&] { copyWeights(weightsOf(model), imported, "file"); });
  };
  GptConfig shorter = config;
  shorter.context = 4;
  EXPECT_EQ(refusalOf(shorter), "") << "positions may be left out";
  GptConfig longer = config;
  longer.context = 7;
  EXPECT_THAT(refusalOf(longer),
              HasSubstr("expected shape [7, 8], got [6, 8]"));
  GptConfig deeper = config;
  deeper.layers = 3;
  EXPECT_THAT(refusalOf(deeper), HasSubstr("'transformer.h.2.ln_1.weight' of "
                                           "shape [8], got none"));
  GptConfig flat = config;
  flat.layers = 1;
  EXPECT_THAT(refusalOf(flat), HasSubstr("the model has no parameter of this"));
  GptConfig plain = config;
  plain.bias = false;
  EXPECT_EQ(refusalOf(plain), "") << "all biases are 0";
  for (NamedTensor &one : imported.weights) {
    if (one.name == "transformer.ln_f.bias") {
      one.tensor = full({8}, 1, f32, Device::cpu());
    }
  }
  EXPECT_THAT(refusalOf(plain), HasSubstr("this one is not 0"));
}
