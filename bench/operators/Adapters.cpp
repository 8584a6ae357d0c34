//===- Adapters.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/Adapters.h"

#include "kernels/attention/Attention.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "kernels/rotary/Rotary.h"

using namespace nereid;
using namespace nereid::bench;

const std::map<std::string, Adapter> &bench::adapters() {
  static const std::map<std::string, Adapter> all = {
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
      {"layer_norm",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::layerNorm(in[0], in[1], in[2], numbers[0])};
       }},
      {"linear_gelu",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::linearGelu(in[0], in[1], in[2])};
       }},
      {"matmul",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::matmul(in[0], in[1])};
       }},
      {"rotary",
       [](const Inputs &in, const Numbers &) {
         return Outputs{kernels::rotary(in[0], in[1].value(), in[2].value())};
       }},
      {"swiglu",
       [](const Inputs &in, const Numbers &) {
         Variable y = kernels::swiglu(in[0], in[1]);
         return Outputs{y};
       }},
  };
  return all;
}
