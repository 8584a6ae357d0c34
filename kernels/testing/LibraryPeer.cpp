//===- LibraryPeer.cpp - Operators by name, judged by PyTorch ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   NereidLibraryPeer FOLDER
//
// kernels/testing/library_beside_pytorch.py writes FOLDER/cases.txt, a line
// `name inputs` a case, and arrays: those of case 3 are 3.0.npy, 3.1.npy ...
// and its result's gradient 3.dy.npy. Written are 3.y.npy, and 3.g0.npy ... for
// inputs of floats.
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"
#include "kernels/causal_conv/CausalConv.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/experts/Experts.h"
#include "kernels/expression/Values.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/indexing/Indexing.h"
#include "kernels/join/Join.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "kernels/losses/Losses.h"
#include "kernels/patches/Patches.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/scan/Scan.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/sort/Sort.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Npy.h"
#include "nereid/nereid.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>

using namespace nereid;
using namespace nereid::kernels;

using Inputs = std::vector<Variable>;
using Operator = std::function<Variable(const Inputs &)>;

/// Of `count` groups of `size` rows.
static Tensor startsOf(int64_t count, int64_t size) {
  std::vector<int64_t> starts;
  for (int64_t i = 0; i <= count; ++i) {
    starts.push_back(i * size);
  }
  return Tensor::fromVector(starts);
}

static const std::map<std::string, Operator> &operators() {
  static const std::map<std::string, Operator> all = {
      {"sum", [](const Inputs &i) { return sum(i[0]); }},
      {"sum_outer", [](const Inputs &i) { return sum(i[0], {0, 2}); }},
      {"mean_last", [](const Inputs &i) { return mean(i[0], -1, true); }},
      {"mean_first",
       [](const Inputs &i) { return mean(i[0].transpose(0, 1), 0); }},
      {"max_last", [](const Inputs &i) { return max(i[0], -1); }},
      {"max_first", [](const Inputs &i) { return max(i[0], 0); }},
      {"min", [](const Inputs &i) { return min(i[0]); }},
      {"var_last", [](const Inputs &i) { return var(i[0], -1); }},
      {"var_outer", [](const Inputs &i) { return var(i[0], {0, 2}, true, 0); }},
      {"argmax_last",
       [](const Inputs &i) { return Variable(argmax(i[0], -1)); }},
      {"argmin", [](const Inputs &i) { return Variable(argmin(i[0])); }},
      {"logsumexp", [](const Inputs &i) { return logSumExp(i[0], -1); }},
      {"std", [](const Inputs &i) { return Variable(stddev(i[0], 1)); }},
      {"concat", [](const Inputs &i) { return concat(i, 1); }},
      {"stack", [](const Inputs &i) { return stack(i, -1); }},
      {"split",
       [](const Inputs &i) {
         std::vector<Variable> parts = split(i[0], 2, 1);
         return Variable(sum(parts[0]) + sum(square(parts[1])));
       }},
      {"pad",
       [](const Inputs &i) {
         return pad(i[0], {{1, 0}, {0, 2}, {3, 1}}, 1.5);
       }},
      {"repeat", [](const Inputs &i) { return repeat(i[0], {2, 1, 3, 2}); }},
      {"repeat_interleave", [](const Inputs &i) { return repeat(i[0], 3, 1); }},
      {"index_select",
       [](const Inputs &i) { return indexSelect(i[0], 1, i[1].value()); }},
      {"index_first",
       [](const Inputs &i) { return indexSelect(i[0], 0, i[1].value()); }},
      {"gather", [](const Inputs &i) { return gather(i[0], 1, i[1].value()); }},
      {"scatter_add",
       [](const Inputs &i) { return scatterAdd(i[0], 1, i[1].value(), i[2]); }},
      {"cumsum", [](const Inputs &i) { return cumsum(i[0], 1); }},
      {"cumsum_last", [](const Inputs &i) { return cumsum(i[0], -1); }},
      {"sort", [](const Inputs &i) { return sort(i[0], 1).values; }},
      {"argsort",
       [](const Inputs &i) { return Variable(argsort(i[0], -1, true)); }},
      {"topk", [](const Inputs &i) { return topk(i[0], 2, 1).values; }},
      {"mse", [](const Inputs &i) { return Variable(mseLoss(i[0], i[1])); }},
      {"l1", [](const Inputs &i) { return Variable(l1Loss(i[0], i[1])); }},
      {"huber",
       [](const Inputs &i) {
         return Variable(huberLoss(i[0], i[1], Reduction::Sum, 0.5));
       }},
      {"bce",
       [](const Inputs &i) {
         return Variable(binaryCrossEntropy(sigmoid(i[0]), sigmoid(i[1])));
       }},
      {"bce_logits",
       [](const Inputs &i) {
         return Variable(binaryCrossEntropyWithLogits(i[0], sigmoid(i[1])));
       }},
      {"kl",
       [](const Inputs &i) {
         return Variable(klDiv(logSigmoid(i[0]), sigmoid(i[1])));
       }},
      {"pow", [](const Inputs &i) { return Variable(pow(abs(i[0]), i[1])); }},
      {"pow_number", [](const Inputs &i) { return Variable(pow(i[0], 3)); }},
      {"clamp",
       [](const Inputs &i) { return Variable(clamp(i[0], -0.5, 0.75)); }},
      {"waves",
       [](const Inputs &i) {
         return Variable(sin(i[0]) * cos(i[1]) + expm1(i[0] * 0.5));
       }},
      {"soft",
       [](const Inputs &i) {
         return Variable(softplus(i[0]) - log1p(square(i[1])));
       }},
      {"where",
       [](const Inputs &i) {
         return Variable(where(i[0] < i[1], i[0] * 2, i[1]) / 3);
       }},
      {"rounding",
       [](const Inputs &i) {
         return Variable(floor(i[0]) + ceil(i[1] * 3) * round(i[0] * 2));
       }},
      {"elu", [](const Inputs &i) { return Variable(elu(i[0], 0.7)); }},
      // Gradients that are one number, spread over a tensor without memory.
      {"sum_of_matmul",
       [](const Inputs &i) { return sum(matmul(i[0], i[1].transpose(1, 2))); }},
      {"sum_of_linear",
       [](const Inputs &i) { return sum(linear(i[0], i[1][0])); }},
      {"mean_of_linear_gelu",
       [](const Inputs &i) { return mean(linearGelu(i[0], i[1][0])); }},
      {"sum_of_layer_norm",
       [](const Inputs &i) { return sum(layerNorm(i[0], i[1][0][0]), 0); }},
      {"sum_of_rms_norm",
       [](const Inputs &i) { return sum(rmsNorm(i[0], i[1][0][0])); }},
      {"sum_of_softmax",
       [](const Inputs &i) { return sum(softmax(i[0]), {0, 1}); }},
      {"sum_of_attention",
       [](const Inputs &i) {
         Variable x = i[0].unsqueeze(0), z = i[1].unsqueeze(0);
         return sum(attention(x, z, z), 3);
       }},
      {"packed_attention",
       [](const Inputs &i) {
         Shape shape = i[0].shape(),
               flat = {1, 1, shape[0] * shape[1], shape[2]};
         AttentionOptions options;
         options.causal = true;
         options.queryStarts = startsOf(shape[0], shape[1]);
         Variable z = i[1].reshape(flat);
         return attention(i[0].reshape(flat), z, z, options).reshape(shape);
       }},
      {"grouped_matmul",
       [](const Inputs &i) {
         Shape shape = i[0].shape();
         return groupedMatmul(i[0].reshape({shape[0] * shape[1], shape[2]}),
                              i[1].transpose(1, 2),
                              startsOf(shape[0], shape[1]))
             .reshape({shape[0], shape[1], shape[1]});
       }},
      {"selective_scan",
       [](const Inputs &i) {
         return Variable(selectiveScan(
             i[0], softplus(i[1]), -abs(i[1][0].slice(0, 0, 3).transpose(0, 1)),
             i[0].slice(2, 0, 3), i[1].slice(2, 0, 3), i[1][0][0]));
       }},
      {"causal_conv",
       [](const Inputs &i) {
         return causalConv(i[0], i[1][0].slice(0, 0, 3).transpose(0, 1),
                           i[1][0][0]);
       }},
      {"unfold",
       [](const Inputs &i) {
         return unfold(i[0].unsqueeze(0), {2, 3, 2, 1, 1, 0});
       }},
      {"fold",
       [](const Inputs &i) {
         Variable y = unfold(i[0].unsqueeze(0), {2, 3});
         return fold(y * y, i[0].size(1), i[0].size(2), {2, 3}).variable();
       }},
      {"embedding_padding",
       [](const Inputs &i) {
         int64_t rows = i[0].size(0);
         return embedding(i[1].value(),
                          i[0].reshape({rows, i[0].numel() / rows}), 1);
       }},
      {"linear_scaled",
       [](const Inputs &i) {
         return linear(i[0], i[1][0], i[1][0].select(1, 0), {.scale = 0.5});
       }},
      {"sum_of_copies",
       [](const Inputs &i) {
         Variable x = cumsum(concat({abs(i[0]), i[1] * i[1]}, 2), 1);
         return sum(
             repeat(pad(sort(x, 2).values, {{0, 1}, {1, 0}, {0, 0}}), 2, 1));
       }},
  };
  return all;
}

static void runCase(const std::string &folder, int number,
                    const std::string &name, int count) {
  std::string path = folder + "/" + std::to_string(number) + ".";
  Inputs inputs;
  for (int i = 0; i < count; ++i) {
    Tensor x = loadNpy(path + std::to_string(i) + ".npy");
    inputs.emplace_back(x, isFloat(x.dtype()));
  }
  Variable y = operators().at(name)(inputs);
  saveNpy(path + "y.npy", y.value());
  if (!y.requiresGrad()) {
    return;
  }
  y.backward(loadNpy(path + "dy.npy").reshape(y.shape()));
  for (int i = 0; i < count; ++i) {
    if (inputs[size_t(i)].requiresGrad()) {
      saveNpy(path + "g" + std::to_string(i) + ".npy",
              inputs[size_t(i)].grad());
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: NereidLibraryPeer FOLDER\n", stderr);
    return 2;
  }
  try {
    std::ifstream cases(std::string(argv[1]) + "/cases.txt");
    std::string name;
    for (int number = 0, count; cases >> name >> count; ++number) {
      runCase(argv[1], number, name, count);
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
