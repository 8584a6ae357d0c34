//===- ProjectKernelsTest.cpp - kernels/, end to end -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The row kernels of kernels/, through the public API, on every device, at
// awkward sizes and with gaps between rows, against float64. Twice, with the
// same bits.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Guarded.h"
#include "test/e2e/OnDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::literals;

namespace {

using e2e::Guarded;

struct RowCase {
  int64_t rows, columns, rowsOfProgram; ///< 0: the kernel of one row a program
  int warps;
  DType dtype;
};

std::string nameOf(const RowCase &c) {
  return std::to_string(c.rows) + "x" + std::to_string(c.columns) + ", " +
         std::to_string(c.rowsOfProgram) + " rows a program, " +
         std::to_string(c.warps) + " warps, " + std::string(shortName(c.dtype));
}

/// 1, primes, just over a power of two; several rows for a program, which are
/// and are not a divisor of the rows; a reduction in a warp and across warps.
const RowCase rowCases[] = {
    {1, 1, 0, 4, f32},      {3, 7, 0, 1, f16},     {5, 1025, 0, 4, bf16},
    {7, 768, 0, 2, f32},    {2, 4099, 0, 16, f32}, {4, 2048, 0, 32, bf16},
    {5, 256, 4, 4, bf16},   {33, 96, 8, 4, f16},   {9, 768, 4, 1, f32},
    {16, 1000, 2, 4, bf16}, {3, 64, 16, 8, f32},   {1, 1, 2, 1, f32},
    {10, 513, 4, 16, f16},  {37, 32, 32, 2, f32}};

double roundingOf(DType dtype) {
  return dtype == bf16 ? 0x1p-8 : dtype == f16 ? 0x1p-11 : 0x1p-24;
}

class ProjectKernels : public e2e::OnDevice {
protected:
  Kernel load(const std::string &op, const std::string &kernel) {
    return Kernel::load(SOURCE_DIR "/kernels/" + op + "/" + op + ".py", kernel);
  }

  /// Runs `launch` on an output with gaps between rows, twice, and compares
  /// element (i, j) with `expected(i, j)` within `bound(i, j)`.
  template <typename Launch, typename Value, typename Bound>
  void check(const RowCase &c, Launch launch, Value expected, Bound bound) {
    SCOPED_TRACE(nameOf(c));
    std::vector<double> before;
    for (int run = 0; run < 2; ++run) {
      Guarded y({c.rows, c.columns}, c.dtype, device, {c.columns + 3, 1});
      launch(y.tensor());
      std::vector<double> got = y.tensor().toFloat64();
      for (int64_t i = 0; i < c.rows; ++i) {
        for (int64_t j = 0; j < c.columns; ++j) {
          ASSERT_NEAR(got[i * c.columns + j], expected(i, j), bound(i, j))
              << i << ", " << j;
        }
      }
      EXPECT_EQ(y.strayBytes(), 0u);
      EXPECT_TRUE(run == 0 || got == before) << "other bits";
      before = got;
    }
  }
};

TEST_P(ProjectKernels, softmax) {
  Kernel one = load("softmax", "softmax_kernel"),
         several = load("softmax", "softmax_rows_kernel");
  for (const RowCase &c : rowCases) {
    Tensor x = randn({c.rows, c.columns}, c.dtype, device, c.columns);
    std::vector<double> in = x.toFloat64(), sums(c.rows), largest(c.rows);
    for (int64_t i = 0; i < c.rows; ++i) {
      auto row = in.begin() + i * c.columns;
      largest[i] = *std::max_element(row, row + c.columns);
      sums[i] =
          std::accumulate(row, row + c.columns, 0.0, [&](double sum, double v) {
            return sum + std::exp(v - largest[i]);
          });
    }
    auto exact = [&](int64_t i, int64_t j) {
      return std::exp(in[i * c.columns + j] - largest[i]) / sums[i];
    };
    check(
        c,
        [&](const Tensor &y) {
          if (c.rowsOfProgram) {
            several[{cdiv(c.rows, c.rowsOfProgram)}](
                y, x, y.stride(0), x.stride(0), c.rows, "N"_a = c.columns,
                "ROWS"_a = c.rowsOfProgram, "num_warps"_a = c.warps);
          } else {
            one[{c.rows}](y, x, y.stride(0), x.stride(0), "N"_a = c.columns,
                          "num_warps"_a = c.warps);
          }
        },
        exact,
        // exp is off by 2.4 + 1.2 |x| ulps, a sum by one for each of its 13
        // levels at most, the division by 2, and |x| < 16 here.
        [&](int64_t i, int64_t j) {
          return exact(i, j) * (roundingOf(c.dtype) + 64 * 0x1p-24) +
                 (c.dtype == f16 ? 0x1p-25 : 1e-37); // nothing smaller
        });
  }
}

TEST_P(ProjectKernels, layerNorm) {
  /// Mean and reciprocal deviation kept for the backward, not kept, and the
  /// fused kernel.
  enum Form { Keeps, Forgets, WithBias };
  Kernel one = load("layer_norm", "layer_norm_kernel"),
         several = load("layer_norm", "layer_norm_rows_kernel"),
         fused = load("layer_norm", "fused_bias_layer_norm_kernel");
  constexpr double eps = 1e-5;
  for (const RowCase &c : rowCases) {
    for (Form form : {Keeps, Forgets, WithBias}) {
      bool withBias = form == WithBias;
      if (withBias && c.rowsOfProgram) {
        continue;
      }
      Tensor x = randn({c.rows, c.columns}, c.dtype, device, 1);
      Tensor w = randn({c.columns}, c.dtype, device, 2),
             b = randn({c.columns}, c.dtype, device, 3),
             bias = randn({c.columns}, c.dtype, device, 4);
      Guarded mean({c.rows}, f32, device), rstd({c.rows}, f32, device);
      std::vector<double> in = x.toFloat64(), weights = w.toFloat64(),
                          offsets = b.toFloat64(), added = bias.toFloat64();
      std::vector<double> means(c.rows), scales(c.rows);
      for (int64_t i = 0; i < c.rows; ++i) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < c.columns; ++j) {
          double &v = in[i * c.columns + j];
          v += withBias ? added[j] : 0;
          sum += v;
          squares += v * v;
        }
        means[i] = sum / double(c.columns);
        double variance = squares / double(c.columns) - means[i] * means[i];
        scales[i] = 1 / std::sqrt(std::max(variance, 0.0) + eps);
      }
      Argument keptMean = mean.tensor(), keptRstd = rstd.tensor();
      if (form == Forgets) {
        keptMean = keptRstd = none;
      }
      auto normal = [&](int64_t i, int64_t j) {
        return (in[i * c.columns + j] - means[i]) * scales[i];
      };
      auto exact = [&](int64_t i, int64_t j) {
        return normal(i, j) * weights[j] + offsets[j];
      };
      check(
          c,
          [&](const Tensor &y) {
            if (withBias) {
              fused[{c.rows}](y, x, bias, w, b, y.stride(0), x.stride(0), eps,
                              "N"_a = c.columns, "num_warps"_a = c.warps);
            } else if (c.rowsOfProgram) {
              several[{cdiv(c.rows, c.rowsOfProgram)}](
                  y, x, w, b, keptMean, keptRstd, y.stride(0), x.stride(0), eps,
                  c.rows, "N"_a = c.columns, "ROWS"_a = c.rowsOfProgram,
                  "num_warps"_a = c.warps);
            } else {
              one[{c.rows}](y, x, w, b, keptMean, keptRstd, y.stride(0),
                            x.stride(0), eps, "N"_a = c.columns,
                            "num_warps"_a = c.warps);
            }
          },
          exact,
          // Errors of the mean (against the largest of |x| < 8) and of the
          // variance, which the formula of two sums squares, scaled by rstd.
          [&](int64_t i, int64_t j) {
            double inner = scales[i] * (8 + std::fabs(normal(i, j))) *
                           (withBias ? scales[i] * 8 : 1);
            return std::fabs(exact(i, j)) * roundingOf(c.dtype) +
                   64 * 0x1p-24 *
                       (std::fabs(weights[j]) * inner + std::fabs(offsets[j]));
          });
      if (form == Keeps) {
        std::vector<float> m = mean.tensor().toVector<float>(),
                           r = rstd.tensor().toVector<float>();
        for (int64_t i = 0; i < c.rows; ++i) {
          EXPECT_NEAR(m[i], means[i], 64 * 0x1p-24 * 8) << nameOf(c);
          EXPECT_NEAR(r[i], scales[i], 64 * 0x1p-24 * scales[i]) << nameOf(c);
        }
        EXPECT_EQ(mean.strayBytes() + rstd.strayBytes(), 0u);
      }
    }
  }
}

TEST_P(ProjectKernels, layerNormBackward) {
  Kernel rowsKernel = load("layer_norm", "layer_norm_backward_kernel"),
         sums = load("layer_norm", "column_sums_kernel");
  for (auto [m, n, programs, ahead] :
       {std::tuple<int64_t, int64_t, int64_t, int>(1, 1, 1, 1),
        {13, 96, 4, 2},
        {37, 1000, 5, 3},
        {9, 768, 16, 2}}) {
    Tensor x = randn({m, n}, f32, device, 1),
           dy = randn({m, n}, f32, device, 2), w = randn({n}, f32, device, 3);
    std::vector<double> xs = x.toFloat64(), dys = dy.toFloat64(),
                        ws = w.toFloat64(), dxs(m * n), dw(n), db(n);
    std::vector<float> means(m), scales(m);
    for (int64_t i = 0; i < m; ++i) {
      double mean = 0, square = 0, g1 = 0, g2 = 0;
      for (int64_t j = 0; j < n; ++j) {
        mean += xs[i * n + j] / double(n);
        square += xs[i * n + j] * xs[i * n + j] / double(n);
      }
      means[i] = float(mean);
      scales[i] = float(1 / std::sqrt(square - mean * mean + 1e-5));
      auto normal = [&](int64_t j) {
        return (xs[i * n + j] - means[i]) * scales[i];
      };
      for (int64_t j = 0; j < n; ++j) {
        double dyOf = dys[i * n + j];
        g1 += dyOf * ws[j] / double(n);
        g2 += dyOf * ws[j] * normal(j) / double(n);
        dw[j] += dyOf * normal(j);
        db[j] += dyOf;
      }
      for (int64_t j = 0; j < n; ++j) {
        dxs[i * n + j] =
            scales[i] * (dys[i * n + j] * ws[j] - g1 - normal(j) * g2);
      }
    }
    Tensor mean = Tensor::fromVector(means).to(device),
           rstd = Tensor::fromVector(scales).to(device);
    Guarded dx({m, n}, f32, device), parts({2, programs, n}, f32, device),
        result({2, n}, f32, device);
    rowsKernel[{programs}](dx.tensor(), parts.tensor().select(0, 0),
                           parts.tensor().select(0, 1), dy, x, w, mean, rstd, n,
                           n, n, m, "N"_a = n, "AHEAD"_a = ahead);
    sums[{cdiv(n, 16), 2}](result.tensor(), parts.tensor(), programs, n,
                           "BLOCK_M"_a = 32, "BLOCK_N"_a = 16);
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n));
    std::vector<double> got = dx.tensor().toFloat64(),
                        total = result.tensor().toFloat64();
    for (int64_t i = 0; i < m * n; ++i) {
      ASSERT_NEAR(got[i], dxs[i], 256 * 0x1p-24 * 8 * scales[i / n]) << i;
    }
    for (int64_t j = 0; j < n; ++j) {
      ASSERT_NEAR(total[j], dw[j], 64 * 0x1p-24 * 8 * double(m)) << j;
      ASSERT_NEAR(total[n + j], db[j], 64 * 0x1p-24 * 8 * double(m)) << j;
    }
    EXPECT_EQ(dx.strayBytes() + parts.strayBytes() + result.strayBytes(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ProjectKernels,
                         testing::Values("cpu", "interp", "cuda"),
                         [](const auto &info) { return info.param; });

} // namespace
