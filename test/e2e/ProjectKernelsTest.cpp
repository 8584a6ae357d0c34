//===- ProjectKernelsTest.cpp - kernels/, end to end -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of kernels/ on their cases (kernels/README.md), through the
// public API, on every device, with gaps between rows, against float64. Twice,
// with the same bits.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"
#include "test/e2e/Guarded.h"
#include "test/e2e/KernelCases.h"
#include "test/e2e/OnDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::literals;

namespace {

using e2e::Guarded;

using e2e::KernelCase;
using e2e::kernelCases;

/// A case of a kernel over rows.
struct RowCase {
  explicit RowCase(const KernelCase &c)
      : rows(c["rows"]), columns(c["columns"]),
        rowsOfProgram(c.valueOr("ROWS", 0)),
        warps(static_cast<int>(c["warps"])), dtype(c.dtype()), name(c.line) {}

  int64_t rows, columns, rowsOfProgram; ///< 0: the kernel of one row a program
  int warps;
  DType dtype;
  std::string name;
};

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
    SCOPED_TRACE(c.name);
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

TEST_P(ProjectKernels, vectorAdd) {
  Kernel add = load("vector_add", "add_kernel");
  for (const KernelCase &c : kernelCases("vector_add", "test")) {
    SCOPED_TRACE(c.line);
    int64_t n = c["n"];
    Tensor x = randn({n}, c.dtype(), device, 1),
           y = randn({n}, c.dtype(), device, 2);
    Guarded z({n}, c.dtype(), device);
    add[{cdiv(n, c["block"])}](x, y, z.tensor(), n, "BLOCK"_a = c["block"],
                               "num_warps"_a = c["warps"]);
    std::vector<double> left = x.toFloat64(), right = y.toFloat64(),
                        got = z.tensor().toFloat64();
    for (int64_t i = 0; i < n; ++i) {
      double exact = left[i] + right[i];
      ASSERT_NEAR(got[i], exact, std::fabs(exact) * roundingOf(c.dtype())) << i;
    }
    EXPECT_EQ(z.strayBytes(), 0u);
  }
}

TEST_P(ProjectKernels, matmul) {
  Kernel product = load("matmul", "matmul_kernel");
  for (const KernelCase &c : kernelCases("matmul", "test")) {
    SCOPED_TRACE(c.line);
    int64_t m = c["M"], n = c["N"], k = c["K"];
    Tensor a = randn({m, k}, c.dtype(), device, 1),
           b = randn({k, n}, c.dtype(), device, 2);
    Guarded result({m, n}, f32, device, {n + 3, 1});
    const Tensor &out = result.tensor();
    product[{cdiv(m, c["m"]), cdiv(n, c["n"])}](
        a, b, out, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        out.stride(0), out.stride(1), "BLOCK_M"_a = c["m"],
        "BLOCK_N"_a = c["n"], "BLOCK_K"_a = c["k"], "num_warps"_a = c["warps"]);
    std::vector<double> left = a.toFloat64(), right = b.toFloat64(),
                        got = out.toFloat64();
    // float32 operands are read as tf32.
    double rounding = c.dtype() == f32 ? 0x1p-9 : double(k) * 0x1p-23;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double exact = 0, magnitude = 0;
        for (int64_t l = 0; l < k; ++l) {
          double one = left[i * k + l] * right[l * n + j];
          exact += one;
          magnitude += std::fabs(one);
        }
        ASSERT_NEAR(got[i * n + j], exact, magnitude * rounding)
            << i << ", " << j;
      }
    }
    EXPECT_EQ(result.strayBytes(), 0u);
  }
}

TEST_P(ProjectKernels, softmax) {
  Kernel one = load("softmax", "softmax_kernel"),
         several = load("softmax", "softmax_rows_kernel");
  for (const KernelCase &each : kernelCases("softmax", "test")) {
    RowCase c(each);
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
  // Mean and reciprocal deviation kept for the backward, and not kept.
  Kernel one = load("layer_norm", "layer_norm_kernel"),
         several = load("layer_norm", "layer_norm_rows_kernel"),
         fused = load("layer_norm", "fused_bias_layer_norm_kernel");
  constexpr double eps = 1e-5;
  for (const KernelCase &each : kernelCases("layer_norm", "test")) {
    bool withBias = each.kernel == "fused_bias_layer_norm_kernel";
    if (each.kernel == "layer_norm_backward_kernel") {
      continue;
    }
    RowCase c(each);
    for (bool keeps : {true, false}) {
      if (withBias && keeps) {
        continue; // it has nothing to keep
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
      if (!keeps) {
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
      if (keeps) {
        std::vector<float> m = mean.tensor().toVector<float>(),
                           r = rstd.tensor().toVector<float>();
        for (int64_t i = 0; i < c.rows; ++i) {
          EXPECT_NEAR(m[i], means[i], 64 * 0x1p-24 * 8) << c.name;
          EXPECT_NEAR(r[i], scales[i], 64 * 0x1p-24 * scales[i]) << c.name;
        }
        EXPECT_EQ(mean.strayBytes() + rstd.strayBytes(), 0u);
      }
    }
  }
}

TEST_P(ProjectKernels, layerNormBackward) {
  Kernel rowsKernel = load("layer_norm", "layer_norm_backward_kernel"),
         sums = load("layer_norm", "column_sums_kernel");
  for (const KernelCase &each : kernelCases("layer_norm", "test")) {
    if (each.kernel != "layer_norm_backward_kernel") {
      continue;
    }
    int64_t m = each["rows"], n = each["columns"], programs = each["programs"],
            ahead = each["AHEAD"];
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
                           n, n, m, "N"_a = n, "AHEAD"_a = ahead,
                           "num_warps"_a = each["warps"]);
    sums[{cdiv(n, 16), 2}](
        result.tensor().select(0, 0), result.tensor().select(0, 1),
        parts.tensor().select(0, 0), parts.tensor().select(0, 1), programs, n,
        "BLOCK_M"_a = 32, "BLOCK_N"_a = 16);
    SCOPED_TRACE(each.line);
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
