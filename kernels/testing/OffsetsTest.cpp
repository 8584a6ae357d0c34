//===- OffsetsTest.cpp - Elements 2^31 and more apart -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors lie in memory whose pages exist once they are touched. Where
// an operator's own launch would touch 2^31 elements, its kernel is launched
// for those programs alone that matter.
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/expression/Expression.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/softmax/Softmax.h"
#include "nereid/nereid.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

class Offsets : public ::testing::TestWithParam<const char *> {
protected:
  ~Offsets() override {
    for (auto [memory, bytes] : mapped) {
      ::munmap(memory, bytes);
    }
  }

  /// Zeros, of any strides.
  Tensor sparse(const Shape &shape, const Shape &strides, DType dtype = f32) {
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      last += (shape[i] - 1) * strides[i];
    }
    auto bytes = static_cast<size_t>((last + 4096) * int64_t(byteSize(dtype)));
    void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::runtime_error("no address space for " + std::to_string(bytes) +
                               " bytes");
    }
    mapped.emplace_back(memory, bytes);
    return Tensor::borrow(memory, shape, dtype, device, strides);
  }

  /// `values` with other strides: row by row, so that copying is not tested by
  /// itself.
  Tensor apart(const Tensor &values, const Shape &strides) {
    Tensor far = sparse(values.shape(), strides, values.dtype());
    std::vector<float> all = values.to(Device::cpu()).toVector<float>();
    auto *data = static_cast<float *>(far.data());
    for (size_t i = 0; i < all.size(); ++i) {
      auto rest = int64_t(i);
      int64_t at = 0;
      for (size_t axis = strides.size(); axis-- > 0;) {
        at += rest % values.shape()[axis] * strides[axis];
        rest /= values.shape()[axis];
      }
      data[at] = all[i];
    }
    return far;
  }

  Tensor normal(const Shape &shape, uint64_t seed) {
    return randn(shape, f32, device, seed);
  }

  Device device = Device::parse(GetParam());
  std::vector<std::pair<void *, size_t>> mapped;
};

INSTANTIATE_TEST_SUITE_P(Devices, Offsets, ::testing::Values("cpu", "interp"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

static constexpr int64_t gibi = int64_t{1} << 30;

TEST_P(Offsets, headsOfRotary) {
  Tensor x = normal({1, 3, 5, 8}, 1), far = apart(x, {24, 8, gibi / 2, 1});
  auto [cos, sin] = rotaryAngles(3, 8, device);
  EXPECT_EQ(rotary(far, cos, sin).toVector<float>(),
            rotary(x, cos, sin).toVector<float>());
}

// Of heads so wide that the angles of position 4 begin at 2^31.
TEST_P(Offsets, anglesOfRotary) {
  constexpr int64_t half = gibi / 2, pairs = 8;
  Tensor cos = sparse({5, half}, {half, 1}), sin = sparse({5, half}, {half, 1}),
         x = sparse({5, 2 * half}, {0, 1}),
         y = sparse({5, 2 * half}, {2 * half, 1});
  for (int64_t i = 0; i < pairs; ++i) {
    static_cast<float *>(cos.data())[4 * half + i] = 3;
    static_cast<float *>(x.data())[i] = float(i + 1);
  }
  static const OperatorKernel kernel("rotary", "rotary_kernel");
  kernel[{5}](y, x, cos, sin, 5, 1, 0, 0, 0, 1.0, half, "HALF"_a = pairs,
              "HEADS"_a = 1, "INTERLEAVED"_a = false, "EXACT"_a = false);
  EXPECT_EQ(static_cast<float *>(y.data())[8 * half + 7], 24);
}

// One row of a matrix whose columns lie far apart, and what is added to it.
TEST_P(Offsets, ofAFewRowsOfProducts) {
  constexpr int64_t k = 40;
  Tensor a = normal({1, k}, 3), w = normal({70, k}, 4), r = normal({1, 70}, 5);
  Tensor far = apart(a, {1, gibi / 8}), farther = apart(r, {1, gibi / 16});
  MatmulOptions near, wide;
  near.residual = r;
  wide.residual = farther;
  EXPECT_EQ(matmul(far, w.transpose(0, 1), wide).toVector<float>(),
            matmul(a, w.transpose(0, 1), near).toVector<float>());
}

TEST_P(Offsets, columnsOfExpressions) {
  Tensor x = normal({3, 5}, 2), far = apart(x, {1, gibi / 2});
  EXPECT_EQ(evaluate(Expression(far) * 2.0).toVector<float>(),
            evaluate(Expression(x) * 2.0).toVector<float>());
}

TEST_P(Offsets, columnsOfMasks) {
  Tensor x = normal({3, 5}, 3), mask = normal({3, 5}, 4);
  EXPECT_EQ(softmax(x, {.mask = apart(mask, {1, gibi / 2})}).toVector<float>(),
            softmax(x, {.mask = mask}).toVector<float>());
}

TEST_P(Offsets, rowsOfAttention) {
  constexpr int64_t keys = 36, row = gibi / 16;
  Shape shape = {1, 1, keys, 16}, strides = {16, 16, row, 1};
  Tensor q = normal(shape, 5), k = normal(shape, 6), v = normal(shape, 7),
         dy = normal(shape, 8);
  Tensor farK = apart(k, strides), farV = apart(v, strides);
  AttentionResult near = attentionForward(q, k, v, {}, true),
                  far = attentionForward(q, farK, farV, {}, true);
  EXPECT_EQ(far.o.toVector<float>(), near.o.toVector<float>());
  AttentionGradients expected =
      attentionBackward(dy, q, k, v, near, {}, true, true);
  AttentionGradients into = {sparse(shape, strides), sparse(shape, strides),
                             sparse(shape, strides)};
  attentionBackward(dy, q, farK, farV, far, {}, true, true, into);
  EXPECT_EQ(into.q.toVector<float>(), expected.q.toVector<float>());
  EXPECT_EQ(into.k.toVector<float>(), expected.k.toVector<float>());
  EXPECT_EQ(into.v.toVector<float>(), expected.v.toVector<float>());
}

TEST_P(Offsets, ofDecoding) {
  Shape columns = {16, 16, gibi / 4};
  Tensor q = normal({1, 1, 16}, 9), k = normal({1, 1, 36, 16}, 10),
         v = normal({1, 1, 36, 16}, 11);
  Tensor lengths = full({1}, 36, i32, device);
  Shape rows = {16, 16, gibi / 16, 1};
  EXPECT_EQ(decoding(apart(q, columns), apart(k, rows), apart(v, rows), lengths)
                .toVector<float>(),
            decoding(q, k, v, lengths).toVector<float>());
  Tensor few = full({1}, 35, i32, device);
  Tensor own = normal({1, 1, 16}, 12), far = apart(own, columns);
  Tensor expected = decodeNext(q, {own, own}, k, v, few);
  EXPECT_EQ(decodeNext(q, {far, far}, k, v, few).toVector<float>(),
            expected.toVector<float>());
}

TEST_P(Offsets, rowsOfLinearCrossEntropy) {
  Tensor x = normal({20, 4}, 13), w = normal({20, 4}, 14);
  Tensor targets = arange({20}, i64, device);
  Shape rows = {gibi / 8, 1};
  EXPECT_EQ(linearCrossEntropy(apart(x, rows), apart(w, rows), targets).item(),
            linearCrossEntropy(x, w, targets).item());
}

// 40 rows, 2^26 elements apart; programs take 16 columns.
TEST_P(Offsets, rowsOfColumnSums) {
  constexpr int64_t columns = gibi / 16, rows = 40;
  Tensor parts = sparse({rows, columns}, {columns, 1}),
         sum = zeros({16}, f32, device);
  for (int64_t i = 0; i < rows; ++i) {
    static_cast<float *>(parts.data())[i * columns + 3] = float(i);
  }
  static const OperatorKernel kernel("layer_norm", "column_sums_kernel");
  kernel[{1}](sum, none, parts, parts, rows, columns, "BLOCK_M"_a = 64,
              "BLOCK_N"_a = 16);
  EXPECT_EQ(sum.toVector<float>()[3], rows * (rows - 1) / 2);
}

// Parts of 2^30 rows, where the last one begins at row 2^31.
TEST_P(Offsets, partsOfSums) {
  Tensor x = full({8, 2}, 1, f32, device), y = full({3, 2}, -1, f32, device);
  static const OperatorKernel kernel("reduce", "outer_sums_kernel");
  kernel[{1, 3}](y, x, 8, 2, gibi, 3, 1, "BLOCK_M"_a = 16, "BLOCK_N"_a = 2);
  EXPECT_EQ(y.toVector<float>(), (std::vector<float>{8, 8, 0, 0, 0, 0}));
}

// 65,536 * 65,536 rows, sixteen copied by one program.
TEST_P(Offsets, rowsOfCopies) {
  Tensor x = normal({16, 8}, 15), y = zeros({16, 8}, f32, device);
  static const OperatorKernel kernel("copy", "copy_kernel");
  kernel[{1}](y, x, 65536, 65536, 1, 8, 0, 8, 0, 1, 0, 8, 0, 1,
              "BLOCK_M"_a = 16, "BLOCK_N"_a = 8);
  EXPECT_EQ(y.toVector<float>(), x.toVector<float>());
}
