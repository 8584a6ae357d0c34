//===- Adapters.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/Adapters.h"

#include "bench/operators/ProductPlans.h"
#include "bench/operators/Transformer.h"
#include "kernels/adamw/AdamW.h"
#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/softmax/Softmax.h"

using namespace nereid;
using namespace nereid::bench;

/// A step over the first half of the inputs, whose gradients are the second.
/// States live as long as the process: the first call makes them.
static Outputs adamw(const Inputs &in, const Numbers &) {
  static std::map<const void *, kernels::AdamW> optimizers;
  auto [found, isNew] = optimizers.try_emplace(
      in[0].value().data(), kernels::AdamWOptions{.weightDecay = 0.1});
  for (size_t i = 0, count = in.size() / 2; isNew && i < count; ++i) {
    Variable parameter(in[i].value(), /*requiresGrad=*/true);
    parameter.setGrad(in[count + i].value());
    found->second.add(parameter);
  }
  found->second.step();
  return {in[0]};
}

const std::map<std::string, Adapter> &bench::adapters() {
  static const std::map<std::string, Adapter> all = {
      {"adamw", &adamw},
      {"attention",
       [](const Inputs &in, const Numbers &numbers) {
         kernels::AttentionOptions options;
         options.causal = numbers[0] != 0;
         return Outputs{kernels::attention(in[0], in[1], in[2], options)};
       }},
      {"decoding",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::decoding(in[0].value(), in[1].value(),
                                          in[2].value(), in[3].value())};
       }},
      {"element_wise_chain",
       [](const Inputs &in, const Numbers &) {
         Variable y =
             kernels::silu(kernels::gelu(in[0] + in[1]) * in[2]) + in[0] * 0.5;
         return Outputs{y};
       }},
      {"gelu",
       [](const Inputs &in, const Numbers &) {
         Variable y = kernels::gelu(in[0]);
         return Outputs{y};
       }},
      {"gelu_tanh",
       [](const Inputs &in, const Numbers &) {
         Variable y = kernels::geluTanh(in[0]);
         return Outputs{y};
       }},
      {"add_layer_norm",
       [](const Inputs &in, const Numbers &numbers) {
         auto [y, sum] =
             kernels::addLayerNorm(in[0], in[1], in[2], in[3], numbers[0]);
         return Outputs{y, sum};
       }},
      {"cross_entropy",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::crossEntropy(in[0], in[1].value())};
       }},
      {"embedding",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::embedding(in[1].value(), in[0])};
       }},
      {"group_norm",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{
             kernels::groupNorm(in[0], int64_t(numbers[0]), in[1], in[2])};
       }},
      {"layer_norm",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::layerNorm(in[0], in[1], in[2], numbers[0])};
       }},
      {"linear",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::linear(in[0], in[1], in[2])};
       }},
      {"linear_gelu",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::linearGelu(in[0], in[1], in[2])};
       }},
      {"matmul",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::matmul(in[0], in[1])};
       }},
      {"planned_matmul", plannedMatmul},
      {"rotary",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::rotary(in[0], in[1].value(), in[2].value())};
       }},
      {"swiglu",
       [](const Inputs &in, const Numbers &) {
         Variable y = kernels::swiglu(in[0], in[1]);
         return Outputs{y};
       }},
      {"linear_cross_entropy",
       [](const Inputs &in, const Numbers &) {
         return Outputs{
             kernels::linearCrossEntropy(in[0], in[1], in[2].value())};
       }},
      {"log_softmax",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::logSoftmax(in[0])};
       }},
      {"rms_norm",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::rmsNorm(in[0], in[1], numbers[0])};
       }},
      {"softmax",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::softmax(
             in[0], {.scale = numbers[0], .causal = numbers[1] != 0})};
       }},
      {"transformer", &transformer},
  };
  return all;
}
