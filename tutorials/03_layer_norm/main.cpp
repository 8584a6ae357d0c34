//===- main.cpp - Lesson 3: layer norm, fused ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with two reductions, over row lengths from 256 to 32768, and the
// same with a bias fused into it; then the backward pass. New here: how the
// advantage of fusing depends on the size, how the error is judged, and sums
// over rows that are the same in every run.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

Kernel load(const char *name) {
  return Kernel::load(LESSON_DIR "/layer_norm.py", name);
}

struct Layer {
  Tensor x, bias, w, b;
  double eps;
};

Layer makeLayer(int64_t rows, int64_t columns, Device device, double eps) {
  return {randn({rows, columns}, f32, device, 1),
          randn({columns}, f32, device, 2), randn({columns}, f32, device, 3),
          randn({columns}, f32, device, 4), eps};
}

/// layer_norm(x) or, with the bias, layer_norm(x + bias), in float64.
std::vector<double> layerNormFloat64(const Layer &layer, bool withBias) {
  std::vector<double> x = layer.x.toFloat64(), bias = layer.bias.toFloat64(),
                      w = layer.w.toFloat64(), b = layer.b.toFloat64();
  size_t columns = w.size();
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, var = 0;
    for (size_t c = 0; c < columns; ++c) {
      x[row + c] += withBias ? bias[c] : 0;
      mean += x[row + c] / columns;
    }
    for (size_t c = 0; c < columns; ++c) {
      var += (x[row + c] - mean) * (x[row + c] - mean) / columns;
    }
    double rstd = 1 / std::sqrt(var + layer.eps);
    for (size_t c = 0; c < columns; ++c) {
      x[row + c] = (x[row + c] - mean) * rstd * w[c] + b[c];
    }
  }
  return x;
}

/// Outputs reach 30 or so (five sigma, times a weight of up to five, plus a
/// bias), where floats are 2e-6 apart, and each takes five or six roundings.
constexpr double bound = 2e-5;

/// One row of the first table: layer norm of rows x columns, as four kernels
/// and as one. Returns the larger of the two differences.
double measure(int64_t rows, int64_t columns, Device device, int64_t repeats) {
  Layer layer = makeLayer(rows, columns, device, 1e-5);
  Tensor y = emptyLike(layer.x), t = emptyLike(layer.x);
  Tensor mean = empty({rows}, f32, device), rstd = empty({rows}, f32, device);
  std::vector<double> expected = layerNormFloat64(layer, false);
  auto block = "BLOCK"_a = columns; // any size will do

  // Passes over the matrix: 1 + 2 + 1 + 2 = 6, against 1 + 1 = 2.
  Kernel rowMean = load("row_mean"), subtractMean = load("subtract_mean"),
         rowRstd = load("row_rstd"), scaleAndShift = load("scale_and_shift");
  double chain = lesson::medianMilliseconds(device, repeats, [&] {
    rowMean[{rows}](mean, layer.x, columns, block);
    subtractMean[{rows}](t, layer.x, mean, columns, block);
    rowRstd[{rows}](rstd, t, columns, layer.eps, block);
    scaleAndShift[{rows}](y, t, rstd, layer.w, layer.b, columns, block);
  });
  double chainDifference = lesson::maxDifference(y, expected);

  Kernel layerNorm = load("layer_norm_kernel");
  y.fill(0);
  double fused = lesson::medianMilliseconds(device, repeats, [&] {
    layerNorm[{rows}](y, layer.x, layer.w, layer.b, layer.x.stride(0), columns,
                      layer.eps, block);
  });
  double difference = lesson::maxDifference(y, expected);
  std::printf("| %6lld | %9.3f | %9.3f | %5.1f | %7.2fx | %.1e |\n",
              (long long)columns, chain, fused,
              2.0 * layer.x.bytes() / fused * 1e-6, chain / fused, difference);
  return std::max(chainDifference, difference);
}

/// The second part: bias and layer norm in one launch, against two.
double measureWithBias(int64_t rows, int64_t columns, Device device,
                       int64_t repeats) {
  Layer layer = makeLayer(rows, columns, device, 1e-6);
  Tensor y = emptyLike(layer.x), t = emptyLike(layer.x);
  std::vector<double> expected = layerNormFloat64(layer, true);
  auto block = "BLOCK"_a = columns;

  Kernel addBias = load("add_bias"), layerNorm = load("layer_norm_kernel");
  double two = lesson::medianMilliseconds(device, repeats, [&] {
    addBias[{rows}](t, layer.x, layer.bias, columns, block);
    layerNorm[{rows}](y, t, layer.w, layer.b, t.stride(0), columns, layer.eps,
                      block);
  });
  double twoDifference = lesson::maxDifference(y, expected);

  Kernel fused = load("fused_bias_ln");
  y.fill(0);
  double one = lesson::medianMilliseconds(device, repeats, [&] {
    fused[{rows}](y, layer.x, layer.bias, layer.w, layer.b, layer.eps,
                  "N"_a = columns);
  });
  double difference = lesson::maxDifference(y, expected);
  std::printf("\nBias + layer norm, %lld x %lld: two launches %.3f ms, fused "
              "%.3f ms, %.2fx, max diff %.1e\n",
              (long long)rows, (long long)columns, two, one, two / one,
              difference);
  return std::max(twoDifference, difference);
}

//===----------------------------------------------------------------------===//
// The backward pass
//===----------------------------------------------------------------------===//

struct Gradients {
  explicit Gradients(const Layer &layer)
      : dx(emptyLike(layer.x)), dw(emptyLike(layer.w)), db(emptyLike(layer.b)) {
  }
  Tensor dx, dw, db;
};

/// The sum of y * dy in float64: its gradients are dx, dw and db.
double lossFloat64(const std::vector<double> &x, const std::vector<double> &w,
                   const std::vector<double> &b, const std::vector<double> &dy,
                   double eps) {
  size_t columns = w.size();
  double loss = 0;
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, var = 0;
    for (size_t c = 0; c < columns; ++c) {
      mean += x[row + c] / columns;
    }
    for (size_t c = 0; c < columns; ++c) {
      var += (x[row + c] - mean) * (x[row + c] - mean) / columns;
    }
    for (size_t c = 0; c < columns; ++c) {
      double n = (x[row + c] - mean) / std::sqrt(var + eps);
      loss += dy[row + c] * (n * w[c] + b[c]);
    }
  }
  return loss;
}

/// The gradient's product with a random direction, against the difference of
/// the loss along it: a wrong term in any element shows in the one number. As a
/// share of the sum of the magnitudes. The step's own error is its fourth
/// power.
double differenceOf(const Layer &layer, const Tensor &dy,
                    const Tensor &gradient, int of) {
  std::vector<double> values[] = {layer.x.toFloat64(), layer.w.toFloat64(),
                                  layer.b.toFloat64()};
  std::vector<double> dys = dy.toFloat64(), got = gradient.toFloat64(),
                      direction = randn(gradient.shape(), f32, Device::cpu(), 9)
                                      .toFloat64();
  const std::vector<double> start = values[of];
  auto along = [&](double t) {
    for (size_t i = 0; i < start.size(); ++i) {
      values[of][i] = start[i] + t * direction[i];
    }
    return lossFloat64(values[0], values[1], values[2], dys, layer.eps);
  };
  constexpr double step = 1e-3;
  double expected = (8 * (along(step) - along(-step)) -
                     (along(2 * step) - along(-2 * step))) /
                    (12 * step),
         product = 0, scale = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    product += got[i] * direction[i];
    scale += std::fabs(got[i] * direction[i]);
  }
  double difference = std::fabs(product - expected);
  return scale > 0 ? difference / scale : difference;
}

/// The third part. Returns the largest difference of a gradient, or infinity
/// when a second run gives other bits.
double measureBackward(int64_t rows, int64_t columns, Device device,
                       int64_t repeats) {
  Layer layer = makeLayer(rows, columns, device, 1e-5);
  Tensor dy = randn({rows, columns}, f32, device, 5);
  auto block = "BLOCK"_a = columns;

  // Passes over the matrix: 2 + 2 + 3 + 2 = 9.
  Tensor n = emptyLike(layer.x), g = emptyLike(layer.x);
  Tensor rstd = empty({rows}, f32, device), gMean = emptyLike(rstd),
         gnMean = emptyLike(rstd);
  load("normalized")[{rows}](n, rstd, layer.x, columns, layer.eps, block);
  Kernel timesWeight = load("times_weight"), rowMeans = load("row_means"),
         gradientOfRows = load("gradient_of_rows"),
         columnSums = load("column_sums");
  Gradients chained(layer);
  double chain = lesson::medianMilliseconds(device, repeats, [&] {
    timesWeight[{rows}](g, dy, layer.w, columns, block);
    rowMeans[{rows}](gMean, gnMean, g, n, columns, block);
    gradientOfRows[{rows}](chained.dx, g, n, gMean, gnMean, rstd, columns,
                           block);
    columnSums[{cdiv(columns, 64)}](chained.dw, chained.db, dy, n, rows,
                                    columns, "BLOCK"_a = 64);
  });

  // dy and x are read, dx is written: three. The parts come to a share of
  // 4 * parts / rows of the matrix, written and read.
  int64_t parts = std::min<int64_t>(rows, device.isHost() ? 16 : 256);
  Tensor dwParts = empty({parts, columns}, f32, device),
         dbParts = emptyLike(dwParts);
  Kernel backward = load("layer_norm_backward"), addParts = load("add_parts");
  Gradients fused(layer);
  auto run = [&] {
    backward[{parts}](fused.dx, dwParts, dbParts, dy, layer.x, layer.w, rows,
                      columns, layer.eps, block);
    addParts[{cdiv(columns, 64)}](fused.dw, fused.db, dwParts, dbParts, parts,
                                  columns, "BLOCK"_a = 64);
  };
  double two = lesson::medianMilliseconds(device, repeats, run);

  double worst = 0;
  std::printf("\nBackward, %lld x %lld: chain of four %.3f ms, two kernels "
              "%.3f ms, %.2fx\n"
              "gradients against differences in float64, relative:",
              (long long)rows, (long long)columns, chain, two, chain / two);
  for (auto [name, of, way] : {std::tuple{"dx", 0, &Gradients::dx},
                               {"dw", 1, &Gradients::dw},
                               {"db", 2, &Gradients::db}}) {
    double ofChain = differenceOf(layer, dy, chained.*way, of),
           ofFused = differenceOf(layer, dy, fused.*way, of);
    std::printf(" %s %.1e", name, ofFused);
    worst = std::max({worst, ofChain, ofFused});
  }

  std::vector<float> first[] = {fused.dx.toVector<float>(),
                                fused.dw.toVector<float>(),
                                fused.db.toVector<float>()};
  run();
  bool isSame = first[0] == fused.dx.toVector<float>() &&
                first[1] == fused.dw.toVector<float>() &&
                first[2] == fused.db.toVector<float>();
  std::printf("\na second run gives %s\n",
              isSame ? "the same bits" : "OTHER BITS");
  std::printf("held for it: %.1f MB by the chain (n and g), %.1f MB of parts\n",
              double(n.bytes() + g.bytes()) * 1e-6,
              double(dwParts.bytes() + dbParts.bytes()) * 1e-6);
  return isSame ? worst : INFINITY;
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(argc, argv,
                       {"--device", "--rows", "--columns", "--repeats"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t rows = lesson::option(argc, argv, "--rows", 4096);
  // 0: the whole range, 256 to 32768.
  int64_t only = lesson::option(argc, argv, "--columns", 0);
  int64_t repeats = lesson::option(argc, argv, "--repeats", 10);

  // Watch two things down the table. As long as the matrix fits the cache, the
  // chain's extra passes are cheap and the gain is small. Once it does not,
  // six passes against two are three times the time. And "max diff" hardly
  // grows with N: a SIMD reduction adds up many short sums, not one long one.
  std::printf("Layer norm of %lld rows, fp32, on %s\n\n"
              "|      N |  chain ms |  fused ms |  GB/s | speed-up | max diff "
              "|\n|--:|--:|--:|--:|--:|--:|\n",
              (long long)rows, device.str().c_str());
  double worst = 0;
  for (int64_t n = only ? only : 256; n <= (only ? only : 32768); n *= 2) {
    worst = std::max(worst, measure(rows, n, device, repeats));
  }
  worst = std::max(worst, measureWithBias(only ? rows : 512, only ? only : 8192,
                                          device, only ? repeats : 100));
  double gradients =
      measureBackward(only ? rows : 8192, only ? only : 1024, device, repeats);
  // fp32 gradients, each of a few roundings of 6e-8; most of them cancel.
  int wrong = lesson::verdict(worst, bound);
  return lesson::verdict(gradients, 1e-6) + wrong ? 1 : 0;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
