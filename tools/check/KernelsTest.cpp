//===- KernelsTest.cpp - The project's own kernels are not accused --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every kernel of kernels/, tutorials/, examples/ and test/e2e/, at awkward
// sizes and in several types, on every device: right, and nothing undecided.
// (The public kernels of the ladder: test/corpus/run_ladder.py --check.)
//
//===----------------------------------------------------------------------===//

#include "Example.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::check;

namespace {

constexpr DType floats[] = {DType::Float32, DType::Float16, DType::BFloat16};

void expectRight(Example example) {
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed())
      << example.source << ":" << example.kernel << "\n"
      << report.text();
  for (const ArrayReport &array : report.arrays) {
    EXPECT_EQ(array.undecided, 0) << example.kernel << "\n" << report.text();
  }
}

std::string file(const std::string &path) { return SOURCE_DIR "/" + path; }

/// Rows with a gap of three elements between them.
Tensor rows(int64_t m, int64_t n, DType dtype, uint64_t seed) {
  return numbers({m, n + 3}, dtype, seed).slice(1, 0, n);
}

TEST(CheckedKernelsTest, VectorAdd) {
  for (DType dtype : {f32, f16, bf16, i32}) {
    for (int64_t n : {1, 127, 1025}) {
      Tensor x = numbers({n}, dtype, 1), y = numbers({n}, dtype, 2),
             z = nothing({n}, dtype);
      for (const char *path : {"kernels/vector_add/vector_add.py",
                               "tutorials/01_vector_add/vector_add.py"}) {
        expectRight({file(path),
                     "add_kernel",
                     cdiv(n, 128),
                     {{"x_ptr", x}, {"y_ptr", y}, {"z_ptr", z}},
                     {{"n", n}, {"BLOCK", 128}}});
      }
      expectRight({file("test/e2e/kernels/vector_add.py"),
                   "add_kernel",
                   cdiv(n, 128),
                   {{"x_ptr", x}, {"y_ptr", y}, {"output_ptr", z}},
                   {{"n_elements", n}, {"BLOCK_SIZE", 128}}});
      expectRight({file("test/e2e/kernels/my_kernel.py"),
                   "my_kernel",
                   cdiv(n, 128),
                   {{"x_ptr", x}, {"y_ptr", z}},
                   {{"N", n}, {"BLOCK_SIZE", 128}}});
    }
  }
}

TEST(CheckedKernelsTest, Softmax) {
  for (DType dtype : floats) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {5, 257}, {9, 96}}) {
      Tensor x = rows(m, n, dtype, 3), y = rows(m, n, dtype, 4);
      std::string path = file("kernels/softmax/softmax.py");
      expectRight({path,
                   "softmax_kernel",
                   m,
                   {{"y_ptr", y}, {"x_ptr", x}},
                   {{"y_stride", n + 3}, {"x_stride", n + 3}, {"N", n}}});
      expectRight({path,
                   "softmax_rows_kernel",
                   cdiv(m, 4),
                   {{"y_ptr", y}, {"x_ptr", x}},
                   {{"y_stride", n + 3},
                    {"x_stride", n + 3},
                    {"M", m},
                    {"N", n},
                    {"ROWS", 4}}});
      for (const char *rowwise : {"tutorials/02_fused_softmax/softmax.py",
                                  "examples/ahead_of_time/softmax.py"}) {
        expectRight(
            {file(rowwise),
             "softmax_kernel",
             m,
             {{"y_ptr", y}, {"x_ptr", x}},
             {{"stride", n + 3}, {"n_cols", n}, {"BLOCK", nextPowerOf2(n)}}});
      }
    }
  }
}

TEST(CheckedKernelsTest, SoftmaxInSteps) {
  std::string path = file("tutorials/02_fused_softmax/softmax.py");
  int64_t m = 5, n = 100;
  Tensor x = rows(m, n, f32, 1), t = rows(m, n, f32, 2), e = rows(m, n, f32, 3),
         row = numbers({m}, f32, 4);
  std::vector<std::pair<std::string, StaticValue>> values = {
      {"stride", n + 3}, {"n_cols", n}, {"BLOCK", 128}};
  expectRight({path, "row_max", m, {{"m_ptr", row}, {"x_ptr", x}}, values});
  expectRight({path,
               "subtract_row",
               m,
               {{"t_ptr", t}, {"x_ptr", x}, {"m_ptr", row}},
               values});
  expectRight({path, "exponential", m, {{"e_ptr", e}, {"t_ptr", t}}, values});
  expectRight({path, "row_sum", m, {{"s_ptr", row}, {"e_ptr", e}}, values});
  expectRight({path,
               "divide_row",
               m,
               {{"y_ptr", t}, {"e_ptr", e}, {"s_ptr", row}},
               values});
}

TEST(CheckedKernelsTest, LayerNorm) {
  std::string path = file("kernels/layer_norm/layer_norm.py");
  for (DType dtype : floats) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 96}, {5, 257}}) {
      Tensor x = rows(m, n, dtype, 1), y = rows(m, n, dtype, 2);
      Tensor w = numbers({n}, dtype, 3), b = numbers({n}, dtype, 4),
             bias = numbers({n}, dtype, 5);
      Tensor mean = nothing({m}, f32), rstd = nothing({m}, f32);
      std::vector<std::pair<std::string, StaticValue>> values = {
          {"y_stride", n + 3}, {"x_stride", n + 3}, {"eps", 1e-5}, {"N", n}};
      expectRight({path,
                   "layer_norm_kernel",
                   m,
                   {{"y_ptr", y},
                    {"x_ptr", x},
                    {"w_ptr", w},
                    {"b_ptr", b},
                    {"mean_ptr", mean},
                    {"rstd_ptr", rstd}},
                   values});
      expectRight({path,
                   "fused_bias_layer_norm_kernel",
                   m,
                   {{"y_ptr", y},
                    {"x_ptr", x},
                    {"bias_ptr", bias},
                    {"w_ptr", w},
                    {"b_ptr", b}},
                   values});
      values.insert(values.end(), {{"M", m}, {"ROWS", 2}});
      expectRight({path,
                   "layer_norm_rows_kernel",
                   cdiv(m, 2),
                   {{"y_ptr", y},
                    {"x_ptr", x},
                    {"w_ptr", w},
                    {"b_ptr", b},
                    {"mean_ptr", mean},
                    {"rstd_ptr", rstd}},
                   values});
    }
  }
}

TEST(CheckedKernelsTest, LayerNormBackward) {
  std::string path = file("kernels/layer_norm/layer_norm.py");
  int64_t m = 13, n = 96, programs = 4;
  Tensor parts = nothing({2, programs, n}, f32);
  expectRight({path,
               "layer_norm_backward_kernel",
               programs,
               {{"dx_ptr", nothing({m, n}, f32)},
                {"dw_parts_ptr", parts.select(0, 0)},
                {"db_parts_ptr", parts.select(0, 1)},
                {"dy_ptr", numbers({m, n}, f32, 1)},
                {"x_ptr", numbers({m, n}, f32, 2)},
                {"w_ptr", numbers({n}, f32, 3)},
                {"mean_ptr", numbers({m}, f32, 4)},
                {"rstd_ptr", numbers({m}, f32, 5)}},
               {{"dx_stride", n},
                {"dy_stride", n},
                {"x_stride", n},
                {"M", m},
                {"N", n},
                {"AHEAD", 2}}});
  expectRight({path,
               "column_sums_kernel",
               Grid{cdiv(n, 16), 2},
               {{"y_ptr", nothing({n}, f32)},
                {"second_y_ptr", nothing({n}, f32)},
                {"x_ptr", numbers({programs, n}, f32, 6)},
                {"second_x_ptr", numbers({programs, n}, f32, 7)}},
               {{"M", programs}, {"N", n}, {"BLOCK_M", 32}, {"BLOCK_N", 16}}});
}

TEST(CheckedKernelsTest, LayerNormInSteps) {
  std::string path = file("tutorials/03_layer_norm/layer_norm.py");
  int64_t m = 5, n = 96;
  Tensor x = numbers({m, n}, f32, 1), t = numbers({m, n}, f32, 2),
         w = numbers({n}, f32, 3), b = numbers({n}, f32, 4),
         row = rand({m}, f32, Device::cpu(), 5);
  std::pair<std::string, StaticValue> columns = {"N", n},
                                      block = {"BLOCK", 128},
                                      eps = {"eps", 1e-5};
  expectRight({path,
               "layer_norm_kernel",
               m,
               {{"y_ptr", t}, {"x_ptr", x}, {"w_ptr", w}, {"b_ptr", b}},
               {{"stride", n}, columns, eps, block}});
  expectRight({path,
               "fused_bias_ln",
               m,
               {{"y_ptr", t},
                {"x_ptr", x},
                {"bias_ptr", b},
                {"w_ptr", w},
                {"b_ptr", b}},
               {eps, columns}});
  expectRight({path,
               "add_bias",
               m,
               {{"t_ptr", t}, {"x_ptr", x}, {"bias_ptr", b}},
               {columns, block}});
  expectRight({path,
               "row_mean",
               m,
               {{"mean_ptr", row}, {"x_ptr", x}},
               {columns, block}});
  expectRight({path,
               "subtract_mean",
               m,
               {{"t_ptr", t}, {"x_ptr", x}, {"mean_ptr", row}},
               {columns, block}});
  expectRight({path,
               "row_rstd",
               m,
               {{"rstd_ptr", row}, {"t_ptr", t}},
               {columns, eps, block}});
  expectRight({path,
               "scale_and_shift",
               m,
               {{"y_ptr", x},
                {"t_ptr", t},
                {"rstd_ptr", row},
                {"w_ptr", w},
                {"b_ptr", b}},
               {columns, block}});
}

TEST(CheckedKernelsTest, Matmul) {
  struct Sizes {
    int64_t m, n, k;
  };
  for (Sizes s : {Sizes{1, 1, 1}, {33, 65, 31}, {64, 64, 64}, {17, 47, 129}}) {
    for (DType dtype : floats) {
      Tensor a = rows(s.m, s.k, dtype, 1),
             b = numbers({s.n, s.k}, dtype, 2).transpose(0, 1),
             c = rows(s.m, s.n, f32, 3);
      std::vector<std::pair<std::string, StaticValue>> values = {
          {"M", s.m},         {"N", s.n},
          {"K", s.k},         {"stride_am", a.stride(0)},
          {"stride_ak", 1},   {"stride_bk", 1},
          {"stride_bn", s.k}, {"stride_cm", c.stride(0)},
          {"stride_cn", 1}};
      std::vector<std::pair<std::string, Tensor>> tensors = {
          {"a_ptr", a}, {"b_ptr", b}, {"c_ptr", c}};
      Grid tuned = [s](const Meta &meta) {
        return Grid{cdiv(s.m, meta["BLOCK_M"]), cdiv(s.n, meta["BLOCK_N"])};
      };
      if (dtype == f32 && s.m == 33) {
        expectRight({file("test/e2e/kernels/matmul_autotuned.py"),
                     "matmul_kernel", tuned, tensors, values});
      }
      values.insert(values.end(),
                    {{"BLOCK_M", 32}, {"BLOCK_N", 32}, {"BLOCK_K", 32}});
      for (const char *path :
           {"kernels/matmul/matmul.py", "test/e2e/kernels/matmul.py"}) {
        expectRight({file(path), "matmul_kernel", tuned, tensors, values});
      }
    }
  }
}

} // namespace
