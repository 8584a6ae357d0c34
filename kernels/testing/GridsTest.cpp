//===- GridsTest.cpp - How high the grids of operators are ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the dimensions of a GPU's grid only the first has more than 65,535. What a
// caller may have many of (images, sequences, heads, rows, columns) is in the
// first one: operators are given more of each, on the host, and their grids are
// looked at.
//
//===----------------------------------------------------------------------===//

#include "kernels/causal_conv/CausalConv.h"
#include "kernels/experts/Experts.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/patches/Patches.h"
#include "kernels/quantized/Quantized.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "nereid/kernels.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::kernels;

namespace {

class HighGrids : public LaunchWatcher {
public:
  void launching(const OperatorLaunch &launch) override {
    ++launches;
    for (int axis : {1, 2}) {
      EXPECT_LE(launch.grid.sizes()[size_t(axis)], 65535)
          << launch.kernel.name() << ", dimension " << axis;
    }
  }
  int launches = 0;
};

class Grids : public ::testing::Test {
protected:
  static constexpr int64_t many = 65536;
  static Variable of(const Shape &shape, DType type = f32) {
    return Variable(zeros(shape, type, Device::cpu()), true);
  }
  static Tensor indices(const Shape &shape) {
    return zeros(shape, i32, Device::cpu());
  }
  /// Forward and backward.
  void check(const char *what, const Variable &y) {
    SCOPED_TRACE(what);
    y.backward(zeros(y.shape(), y.dtype(), Device::cpu()));
    EXPECT_GT(watcher.launches, before) << "nothing was launched";
    before = watcher.launches;
  }
  HighGrids watcher;
  int before = 0;
};

} // namespace

TEST_F(Grids, holdManyImages) {
  check("unfold", unfold(of({many, 1, 1, 1}), {}));
  check("fold", fold(of({many, 1, 1}), 1, 1, {}));
  check("groupNorm", groupNorm(of({many, 2, 1}), 1, of({2}), of({2})));
}

TEST_F(Grids, holdManySequences) {
  check("causalConv", causalConv(of({many, 1, 1}), of({1, 2}), of({1})));
  check("selectiveScan",
        selectiveScan(of({many, 1, 1}), of({many, 1, 1}), of({1, 1}),
                      of({many, 1, 1}), of({many, 1, 1}), of({1})));
  Shape heads = {many, 1, 1, 16};
  check("attention", attention(of(heads), of(heads), of(heads)));
  auto [cos, sin] = rotaryAngles(1, 2, Device::cpu());
  check("rotary", rotary(of({many, 1, 1, 2}), cos, sin));
  Tensor q = of({many, 1, 16}).value(), cache = of({many, 1, 1, 16}).value();
  decoding(q, cache, cache, full({many}, 1, i32, Device::cpu()));
}

TEST_F(Grids, holdManyRows) {
  check("softmax", softmax(of({many, 2})));
  check("layerNorm", layerNorm(of({many, 2}), of({2}), of({2})));
  check("rmsNorm", rmsNorm(of({many, 2}), of({2})));
  check("addRmsNorm", addRmsNorm(of({many, 2}), of({many, 2}), of({2})).first);
  check("crossEntropy", crossEntropy(of({many, 2}), indices({many})));
  check("embedding", embedding(indices({many}), of({2, 2})));
  check("table", embedding(indices({2}), of({many, 2})));
  check("linear", linear(of({many, 2}), of({2, 2}), of({2})));
  check("wide", linear(of({1, 2}), of({many, 2}), of({many})));
  check("matmul", matmul(of({many, 2, 2}), of({many, 2, 2})));
  check("sum", sum(of({many, 2}), 1));
  check("columns", sum(of({2, many}), 0));
  check("max", max(of({many, 2}), 1));
  check("cumsum", cumsum(of({many, 2}), 1));
  check("sort", sort(of({many, 2})).values);
  check("topk", topk(of({many, 2}), 1).values);
  check("gather", gather(of({many, 2}), 1, indices({many, 1})));
  check("take", take(of({many, 2}), indices({many}), 0));
  sample(of({many, 2}).value());
}

TEST_F(Grids, holdManyGroupsAndChoices) {
  QuantizedWeight rows = quantize(of({many, 1}).value());
  dequantize(rows);
  check("quantizedLinear", quantizedLinear(of({1, 1}), rows));
  // 65,536 groups of one row, and as many blocks of bytes.
  QuantizedWeight groups =
      quantize(of({1, 32 * many}, bf16).value(), {.group = 32});
  EXPECT_EQ(groups.scales.size(1), many);
  Groups order = groupByExpert(indices({many, 1}), 2);
  check("dispatch", dispatch(of({many, 2}), order));
  check("combine", combine(of({many, 2}), of({many, 1}), order));
  check("groupedMatmul",
        groupedMatmul(of({many, 2}), of({2, 2, 2}), order.starts));
}

// A program takes 128 to 1,024 columns.
TEST_F(Grids, holdManyColumns) {
  constexpr int64_t wide = many * 128;
  check("causalConv", causalConv(of({1, 1, wide}), of({wide, 2}), of({wide})));
  check("linearCrossEntropy",
        linearCrossEntropy(of({1, 1}), of({wide, 1}), indices({1})));
  constexpr int64_t wider = many * 1024;
  check("embedding", embedding(indices({1}), of({1, wider}, bf16)));
  Groups order = groupByExpert(indices({1, 1}), 1);
  check("dispatch", dispatch(of({1, wider}, bf16), order));
  check("combine", combine(of({1, wider}, bf16), of({1, 1}), order));
}
