//===- ShippedKernels.cpp - Kernels that nereid bench knows ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShippedKernels.h"

#include <cmath>

namespace nereid {

//===----------------------------------------------------------------------===//
// Their texts
//===----------------------------------------------------------------------===//

using FileText = std::pair<const char *, const char *>;

static constexpr FileText kernelFiles[] = {
#include "KernelSources.inc"
};
static constexpr FileText lessonFiles[] = {
#include "LessonSources.inc"
};

static Kernel kernelOf(std::span<const FileText> files, const std::string &file,
                       const char *kernel) {
  for (auto [name, text] : files) {
    if (name == file) {
      return Kernel::fromSource(Source{file + ".py", text, {}}, kernel);
    }
  }
  raise({ErrorCode::Internal, "no kernel file " + file, {}});
}

//===----------------------------------------------------------------------===//
// What they should compute
//===----------------------------------------------------------------------===//

/// Rows that results are compared of.
static constexpr int64_t comparedRows = 64;

static std::vector<double> firstRows(const PointArrays &arrays,
                                     const char *name) {
  return arrays.get(name).slice(0, 0, comparedRows).toFloat64();
}

static std::vector<double> exactLayerNorm(const PointArrays &arrays) {
  std::vector<double> x = firstRows(arrays, "x"),
                      w = arrays.get("w").toFloat64(),
                      b = arrays.get("b").toFloat64();
  size_t columns = w.size();
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, variance = 0;
    for (size_t i = row; i < row + columns; ++i) {
      mean += x[i] / double(columns);
    }
    for (size_t i = row; i < row + columns; ++i) {
      variance += (x[i] - mean) * (x[i] - mean) / double(columns);
    }
    double rstd = 1 / std::sqrt(variance + 1e-5);
    for (size_t i = 0; i < columns; ++i) {
      x[row + i] = (x[row + i] - mean) * rstd * w[i] + b[i];
    }
  }
  return x;
}

static std::vector<double> exactSoftmax(const PointArrays &arrays) {
  std::vector<double> x = firstRows(arrays, "x");
  auto columns = size_t(arrays.get("x").size(1));
  for (size_t row = 0; row < x.size(); row += columns) {
    double most = -INFINITY, sum = 0;
    for (size_t i = row; i < row + columns; ++i) {
      most = std::max(most, x[i]);
    }
    for (size_t i = row; i < row + columns; ++i) {
      sum += x[i] = std::exp(x[i] - most);
    }
    for (size_t i = row; i < row + columns; ++i) {
      x[i] /= sum;
    }
  }
  return x;
}

static std::vector<double> exactMatmul(const PointArrays &arrays) {
  std::vector<double> a = firstRows(arrays, "a"),
                      b = arrays.get("b").toFloat64();
  auto size = size_t(arrays.get("b").size(0));
  std::vector<double> c(a.size());
  for (size_t row = 0; row < a.size(); row += size) {
    for (size_t k = 0; k < size; ++k) {
      for (size_t i = 0; i < size; ++i) {
        c[row + i] += a[row + k] * b[k * size + i];
      }
    }
  }
  return c;
}

static std::vector<double> exactSum(const PointArrays &arrays) {
  constexpr int64_t compared = 1 << 20;
  std::vector<double> x = arrays.get("x").slice(0, 0, compared).toFloat64(),
                      y = arrays.get("y").slice(0, 0, compared).toFloat64();
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] += y[i];
  }
  return x;
}

//===----------------------------------------------------------------------===//
// The plans
//===----------------------------------------------------------------------===//

/// A row for each program; of the chain's kernels, too.
static constexpr const char *rowWarps =
    "num_warps=min(16, max(1, next_power_of_2(N // 256)))";

/// A kernel of a lesson on M rows of N columns, which it calls `columns`.
static LaunchText rowsOfLesson(const char *lesson, const char *kernel,
                               std::vector<std::string> arguments,
                               std::vector<std::string> columns) {
  arguments.insert(arguments.end(), columns.begin(), columns.end());
  arguments.insert(arguments.end(), {"BLOCK=next_power_of_2(N)", rowWarps});
  return {kernelOf(lessonFiles, lesson, kernel), std::move(arguments), "M"};
}

/// y of x, rows from 256 to 32768 columns; the chain's kernels are those of the
/// lessons.
static BenchPlan rowsPlan(const char *title) {
  BenchPlan plan;
  plan.title = title;
  plan.variables = {parseVariable("N=256..32768*2"), parseVariable("M=4096"),
                    parseVariable("dtype=fp32")};
  plan.arrays = {"x=randn:dtype[M,N]", "y=empty:dtype[M,N]",
                 "t=empty:dtype[M,N]"};
  plan.baseline = "chain";
  plan.output = "y";
  return plan;
}

static BenchPlan layerNormPlan(Device device) {
  BenchPlan plan = rowsPlan("layer norm");
  plan.arrays.insert(plan.arrays.end(),
                     {"w=randn:dtype[N]", "b=randn:dtype[N]",
                      "mean=empty:f32[M]", "rstd=empty:f32[M]"});
  auto chained = [](const char *kernel, std::vector<std::string> arguments) {
    return rowsOfLesson("layer_norm", kernel, std::move(arguments), {"N=N"});
  };
  plan.providers = {
      {"layer_norm",
       device,
       {{kernelOf(kernelFiles, "layer_norm", "layer_norm_kernel"),
         {"y_ptr=y", "x_ptr=x", "w_ptr=w", "b_ptr=b", "mean_ptr=none",
          "rstd_ptr=none", "y_stride=N", "x_stride=N", "eps=1e-5", "N=N",
          rowWarps},
         "M"}}},
      {"chain",
       device,
       {chained("row_mean", {"mean_ptr=mean", "x_ptr=x"}),
        chained("subtract_mean", {"t_ptr=t", "x_ptr=x", "mean_ptr=mean"}),
        chained("row_rstd", {"rstd_ptr=rstd", "t_ptr=t", "eps=1e-5"}),
        chained("scale_and_shift", {"y_ptr=y", "t_ptr=t", "rstd_ptr=rstd",
                                    "w_ptr=w", "b_ptr=b"})}}};
  plan.exact = exactLayerNorm;
  return plan;
}

static BenchPlan softmaxPlan(Device device) {
  BenchPlan plan = rowsPlan("softmax");
  plan.arrays.insert(plan.arrays.end(), {"e=empty:dtype[M,N]", "m=empty:f32[M]",
                                         "s=empty:f32[M]"});
  auto chained = [](const char *kernel, std::vector<std::string> arguments) {
    return rowsOfLesson("softmax", kernel, std::move(arguments),
                        {"stride=N", "n_cols=N"});
  };
  plan.providers = {
      {"softmax",
       device,
       {{kernelOf(kernelFiles, "softmax", "softmax_kernel"),
         {"y_ptr=y", "x_ptr=x", "y_stride=N", "x_stride=N", "N=N", rowWarps},
         "M"}}},
      {"chain",
       device,
       {chained("row_max", {"m_ptr=m", "x_ptr=x"}),
        chained("subtract_row", {"t_ptr=t", "x_ptr=x", "m_ptr=m"}),
        chained("exponential", {"e_ptr=e", "t_ptr=t"}),
        chained("row_sum", {"s_ptr=s", "e_ptr=e"}),
        chained("divide_row", {"y_ptr=y", "e_ptr=e", "s_ptr=s"})}}};
  plan.exact = exactSoftmax;
  return plan;
}

static BenchPlan matmulPlan(Device device) {
  BenchPlan plan;
  plan.title = "matmul";
  plan.variables = {
      parseVariable("N=256..4096*2"),
      parseVariable(device.isHost() ? "dtype=fp32" : "dtype=bf16")};
  plan.arrays = {"a=randn:dtype[N,N]", "b=randn:dtype[N,N]",
                 "c=empty:f32[N,N]"};
  plan.providers = {
      {"matmul",
       device,
       {{kernelOf(kernelFiles, "matmul", "matmul_kernel"),
         {"a_ptr=a", "b_ptr=b", "c_ptr=c", "M=N", "N=N", "K=N", "stride_am=N",
          "stride_ak=1", "stride_bk=N", "stride_bn=1", "stride_cm=N",
          "stride_cn=1", "BLOCK_M=128", "BLOCK_N=128", "BLOCK_K=64",
          "num_warps=8"},
         "cdiv(N, 128), cdiv(N, 128)"}}}};
  plan.exact = exactMatmul;
  plan.output = "c";
  return plan;
}

static BenchPlan vectorAddPlan(Device device) {
  BenchPlan plan;
  plan.title = "vector add";
  plan.variables = {parseVariable("n=65536..67108864*4"),
                    parseVariable("dtype=fp32")};
  plan.arrays = {"x=randn:dtype[n]", "y=randn:dtype[n]", "z=empty:dtype[n]"};
  plan.providers = {{"vector_add",
                     device,
                     {{kernelOf(kernelFiles, "vector_add", "add_kernel"),
                       {"x_ptr=x", "y_ptr=y", "z_ptr=z", "n=n", "BLOCK=1024"},
                       "cdiv(n, 1024)"}}}};
  plan.exact = exactSum;
  plan.output = "z";
  return plan;
}

static constexpr std::pair<const char *, BenchPlan (*)(Device)> plans[] = {
    {"layer_norm", layerNormPlan},
    {"softmax", softmaxPlan},
    {"matmul", matmulPlan},
    {"vector_add", vectorAddPlan},
};

std::vector<std::string> shippedNames() {
  std::vector<std::string> names;
  for (auto [name, make] : plans) {
    names.push_back(name);
  }
  return names;
}

std::optional<BenchPlan> shippedPlan(const std::string &name, Device device) {
  for (auto [known, make] : plans) {
    if (name == known) {
      return make(device);
    }
  }
  return std::nullopt;
}

} // namespace nereid
