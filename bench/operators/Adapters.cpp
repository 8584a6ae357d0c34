//===- Adapters.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/Adapters.h"

#include "kernels/layer_norm/LayerNorm.h"

using namespace nereid;
using namespace nereid::bench;

const std::map<std::string, Adapter> &bench::adapters() {
  static const std::map<std::string, Adapter> all = {
      {"layer_norm",
       [](const Inputs &in, const Numbers &numbers) {
         return Outputs{kernels::layerNorm(in[0], in[1], in[2], numbers[0])};
       }},
  };
  return all;
}
