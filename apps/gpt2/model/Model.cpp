//===- Model.cpp ------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/model/Model.h"

#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

/// Makes parameters and keeps them under their names. Each draws from a seed of
/// its own, so that a model with other layers begins with the same embedding.
class Maker {
public:
  Maker(const GptConfig &config, std::optional<uint64_t> seed, Device device,
        std::vector<Parameter> &all)
      : config(config), seed(seed), device(device), all(all) {}

  Variable normal(const std::string &name, Shape shape, double deviation) {
    if (!seed) {
      return keep(name, zeros(std::move(shape), config.dtype, device),
                  /*decays=*/true);
    }
    Tensor values = randn(std::move(shape), f32, Device::cpu(),
                          *seed * 0x9E3779B97F4A7C15u + all.size());
    auto *data = values.data<float>();
    for (int64_t i = 0; i < values.numel(); ++i) {
      data[i] *= float(deviation);
    }
    return keep(name, values.to(config.dtype).to(device), /*decays=*/true);
  }

  Variable constant(const std::string &name, int64_t size, double value) {
    return keep(name, full({size}, value, config.dtype, device),
                /*decays=*/false);
  }

  Variable bias(const std::string &name, int64_t size) {
    return config.bias ? constant(name, size, 0) : Variable();
  }

private:
  Variable keep(const std::string &name, Tensor value, bool decays) {
    Variable variable(std::move(value), /*requiresGrad=*/true);
    all.push_back({name, variable, decays});
    return variable;
  }

  const GptConfig &config;
  std::optional<uint64_t> seed;
  Device device;
  std::vector<Parameter> &all;
};

} // namespace

Model::Model(const GptConfig &config, std::optional<uint64_t> seed,
             Device device)
    : shape(config), where(device) {
  checkConfig(config);
  Maker make(config, seed, device, all);
  int64_t w = config.width;
  constexpr double deviation = 0.02;
  double residual = deviation / std::sqrt(2.0 * double(config.layers));
  tokenTable =
      make.normal("transformer.wte.weight", {config.vocabulary, w}, deviation);
  positionTable =
      make.normal("transformer.wpe.weight", {config.context, w}, deviation);
  for (int64_t i = 0; i < config.layers; ++i) {
    std::string of = "transformer.h." + std::to_string(i) + ".";
    Block b;
    b.norm1 = make.constant(of + "ln_1.weight", w, 1);
    b.norm1Bias = make.bias(of + "ln_1.bias", w);
    b.qkv = make.normal(of + "attn.c_attn.weight", {3 * w, w}, deviation);
    b.qkvBias = make.bias(of + "attn.c_attn.bias", 3 * w);
    b.attention = make.normal(of + "attn.c_proj.weight", {w, w}, residual);
    b.attentionBias = make.bias(of + "attn.c_proj.bias", w);
    b.norm2 = make.constant(of + "ln_2.weight", w, 1);
    b.norm2Bias = make.bias(of + "ln_2.bias", w);
    b.up = make.normal(of + "mlp.c_fc.weight", {4 * w, w}, deviation);
    b.upBias = make.bias(of + "mlp.c_fc.bias", 4 * w);
    b.down = make.normal(of + "mlp.c_proj.weight", {w, 4 * w}, residual);
    b.downBias = make.bias(of + "mlp.c_proj.bias", w);
    layers.push_back(b);
  }
  norm = make.constant("transformer.ln_f.weight", w, 1);
  normBias = make.bias("transformer.ln_f.bias", w);
  seedOfDropout = zeros({1}, i64, device);
}

const Parameter *Model::find(const std::string &name) const {
  for (const Parameter &parameter : all) {
    if (parameter.name == name) {
      return &parameter;
    }
  }
  return nullptr;
}
