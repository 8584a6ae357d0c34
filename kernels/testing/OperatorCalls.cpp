//===- OperatorCalls.cpp --------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorCalls.h"

#include "kernels/adamw/AdamW.h"
#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/causal_conv/CausalConv.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/experts/Experts.h"
#include "kernels/expression/Expression.h"
#include "kernels/gradients/Gradients.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/indexing/Indexing.h"
#include "kernels/join/Join.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/losses/Losses.h"
#include "kernels/patches/Patches.h"
#include "kernels/quantized/Quantized.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/sampling/Sampling.h"
#include "kernels/scan/Scan.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "kernels/sgd/Sgd.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/sort/Sort.h"

using namespace nereid;
using namespace nereid::kernels;

using Arguments = std::span<const Variable>;

static Device deviceOf(Arguments x) {
  return x[0].defined() ? x[0].device() : Device::cpu();
}

static Tensor indices(Arguments x, const Shape &shape) {
  return zeros(shape, i32, deviceOf(x));
}

static Variable attend(Arguments x, const AttentionOptions &options) {
  return attention(x[0], x[1], x[2], options);
}

static Variable decode(Arguments x, const DecodingOptions &options) {
  return decoding(x[0].value(), x[1].value(), x[2].value(),
                  full({2}, 4, i32, deviceOf(x)), options);
}

/// A step with this gradient; a copy of what becomes of the parameter.
template <typename Optimizer, typename Options>
static Variable stepped(Arguments x, const Options &options) {
  Variable w(x[0].value().clone(), true);
  w.setGrad(x[1].value());
  Optimizer(std::vector{w}, options).step();
  return w.detach();
}

static std::vector<OperatorCall> elementwise() {
  return {
      {"x + y, x * 2", {{3}, {3}}, [](Arguments x) { return x[0] + x[1] * 2; }},
      {"exp, tanh, where ...",
       {{3}},
       [](Arguments x) { return where(0 < x[0], exp(x[0]), tanh(x[0])); }},
      {"gelu", {{3}}, [](Arguments x) { return gelu(x[0]); }},
      {"swiglu", {{3}, {3}}, [](Arguments x) { return swiglu(x[0], x[1]); }},
      {"dropout", {{3}}, [](Arguments x) { return dropout(x[0], 0.5, 1); }},
      {"mseLoss", {{3}, {3}}, [](Arguments x) { return mseLoss(x[0], x[1]); }},
      {"klDiv", {{3}, {3}}, [](Arguments x) { return klDiv(x[0], x[1]); }},
  };
}

static std::vector<OperatorCall> overRows() {
  return {
      {"sum", {{3, 4}}, [](Arguments x) { return sum(x[0], 1); }},
      {"mean", {{3, 4}}, [](Arguments x) { return mean(x[0], 0); }},
      {"max, min", {{3, 4}}, [](Arguments x) { return max(x[0], 1); }},
      {"var", {{3, 4}}, [](Arguments x) { return var(x[0], 1); }},
      {"argmax",
       {{3, 4}},
       [](Arguments x) { return Variable(argmax(x[0].value(), 1)); }},
      {"softmax", {{3, 4}}, [](Arguments x) { return softmax(x[0]); }},
      {"logSoftmax", {{3, 4}}, [](Arguments x) { return logSoftmax(x[0]); }},
      {"layerNorm",
       {{3, 4}, {4}, {4}},
       [](Arguments x) { return layerNorm(x[0], x[1], x[2]); }},
      {"rmsNorm",
       {{3, 4}, {4}},
       [](Arguments x) { return rmsNorm(x[0], x[1]); }},
      {"groupNorm",
       {{2, 4, 3}, {4}, {4}},
       [](Arguments x) { return groupNorm(x[0], 2, x[1], x[2]); }},
      {"addLayerNorm",
       {{3, 4}, {3, 4}, {4}, {4}},
       [](Arguments x) { return addLayerNorm(x[0], x[1], x[2], x[3]).first; }},
      {"addRmsNorm",
       {{3, 4}, {3, 4}, {4}},
       [](Arguments x) { return addRmsNorm(x[0], x[1], x[2]).first; }},
      {"cumsum", {{3, 4}}, [](Arguments x) { return cumsum(x[0], 1); }},
      {"sort", {{3, 4}}, [](Arguments x) { return sort(x[0]).values; }},
      {"topk", {{3, 4}}, [](Arguments x) { return topk(x[0], 2).values; }},
      {"sample",
       {{2, 8}},
       [](Arguments x) { return Variable(sample(x[0].value())); }},
      {"crossEntropy",
       {{3, 8}},
       [](Arguments x) { return crossEntropy(x[0], indices(x, {3})); }},
  };
}

static std::vector<OperatorCall> products() {
  return {
      {"matmul",
       {{2, 3, 4}, {2, 4, 5}},
       [](Arguments x) { return matmul(x[0], x[1]); }},
      {"linear",
       {{3, 4}, {5, 4}, {5}},
       [](Arguments x) { return linear(x[0], x[1], x[2]); }},
      {"linearGelu",
       {{3, 4}, {5, 4}, {5}},
       [](Arguments x) { return linearGelu(x[0], x[1], x[2]); }},
      {"linearCrossEntropy",
       {{3, 4}, {8, 4}},
       [](Arguments x) {
         return linearCrossEntropy(x[0], x[1], indices(x, {3}));
       }},
      {"quantizedLinear",
       {{3, 32}, {4, 32}, {4}},
       [](Arguments x) {
         return quantizedLinear(x[0], quantize(x[1].value()), x[2]);
       }},
      {"attention",
       {{1, 2, 4, 16}, {1, 2, 4, 16}, {1, 2, 4, 16}},
       [](Arguments x) { return attend(x, {}); }},
      {"attention with a bias",
       {{1, 2, 4, 16}, {1, 2, 4, 16}, {1, 2, 4, 16}, {1, 2, 4, 4}},
       [](Arguments x) { return attention(x[0], x[1], x[2], x[3]); }},
      {"attention of packed sequences",
       {{1, 2, 4, 16}, {1, 2, 4, 16}, {1, 2, 4, 16}},
       [](Arguments x) {
         Tensor starts = Tensor::fromVector(std::vector<int32_t>{0, 1, 4});
         return attend(x, {.queryStarts = starts.to(deviceOf(x))});
       }},
      {"decoding",
       {{2, 2, 16}, {2, 2, 4, 16}, {2, 2, 4, 16}},
       [](Arguments x) { return decode(x, {}); }},
      {"decoding of pages",
       {{2, 2, 16}, {2, 2, 4, 16}, {2, 2, 4, 16}},
       [](Arguments x) {
         DecodingOptions options;
         options.table = indices(x, {2, 1});
         return decode(x, options);
       }},
      {"rotary",
       {{1, 4, 2, 8}},
       [](Arguments x) {
         auto [cos, sin] = rotaryAngles(4, 8, deviceOf(x));
         return rotary(x[0], cos, sin);
       }},
  };
}

static std::vector<OperatorCall> movesAndModels() {
  return {
      {"embedding",
       {{5, 4}},
       [](Arguments x) { return embedding(indices(x, {3}), x[0]); }},
      {"concat, stack",
       {{2, 3}, {1, 3}},
       [](Arguments x) { return concat({x[0], x[1]}, 0); }},
      {"pad",
       {{2, 3}},
       [](Arguments x) { return pad(x[0], {{1, 1}, {0, 2}}); }},
      {"indexSelect, gather",
       {{3, 4}},
       [](Arguments x) { return gather(x[0], 1, indices(x, {3, 2})); }},
      {"scatterAdd",
       {{3, 4}, {3, 2}},
       [](Arguments x) {
         return scatterAdd(x[0], 1, indices(x, {3, 2}), x[1]);
       }},
      {"unfold",
       {{1, 2, 4, 4}},
       [](Arguments x) { return unfold(x[0], {2, 2, 2, 2, 0, 0}); }},
      {"fold",
       {{1, 4, 8}},
       [](Arguments x) { return fold(x[0], 4, 4, {2, 2, 2, 2, 0, 0}); }},
      {"causalConv",
       {{2, 5, 3}, {3, 4}, {3}},
       [](Arguments x) { return causalConv(x[0], x[1], x[2]); }},
      {"selectiveScan",
       {{1, 5, 3}, {1, 5, 3}, {3, 4}, {1, 5, 4}, {1, 5, 4}, {3}},
       [](Arguments x) {
         return selectiveScan(x[0], x[1], x[2], x[3], x[4], x[5]);
       }},
      {"dispatch, combine",
       {{3, 4}, {3, 1}},
       [](Arguments x) {
         Groups groups = groupByExpert(indices(x, {3, 1}), 2);
         return combine(dispatch(x[0], groups), x[1], groups);
       }},
      {"groupedMatmul",
       {{3, 4}, {2, 4, 5}},
       [](Arguments x) {
         Groups groups = groupByExpert(indices(x, {3, 1}), 2);
         return groupedMatmul(x[0], x[1], groups.starts);
       }},
      {"SGD",
       {{3}, {3}},
       [](Arguments x) {
         return stepped<SGD>(x, SGDOptions{.momentum = 0.5});
       }},
      {"AdamW",
       {{3}, {3}},
       [](Arguments x) { return stepped<AdamW>(x, AdamWOptions{}); }},
      {"clipGradNorm",
       {{3}, {3}},
       [](Arguments x) {
         Variable w(x[0].value(), true);
         w.setGrad(x[1].value().clone());
         clipGradNorm(std::vector{w}, 1);
         return Variable(w.grad());
       }},
  };
}

const std::vector<OperatorCall> &kernels::operatorCalls() {
  static const std::vector<OperatorCall> all = [] {
    std::vector<OperatorCall> list;
    for (auto part : {elementwise, overRows, products, movesAndModels}) {
      for (OperatorCall &one : part()) {
        list.push_back(std::move(one));
      }
    }
    return list;
  }();
  return all;
}
