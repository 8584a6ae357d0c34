//===- main.cpp - Lesson 6: attention without its scores -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of N tokens as a chain has N x N scores. Four times the memory for
// twice the tokens: that, and not the arithmetic, is what ends a long text. New
// here: a softmax that goes along a row in blocks, two products in one kernel
// around it, and memory that is counted, not estimated.
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Bars.h"
#include "nereid/Bench/PeakMemory.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/Support/Files.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

Kernel load(const char *name) {
  return Kernel::load(LESSON_DIR "/attention.py", name);
}

/// Queries, keys and values, each [heads, N, D].
struct Inputs {
  Inputs(int64_t heads, int64_t tokens, int64_t headSize, DType dtype,
         Device device)
      : q(randn({heads, tokens, headSize}, dtype, device, 1)),
        k(randn({heads, tokens, headSize}, dtype, device, 2)),
        v(randn({heads, tokens, headSize}, dtype, device, 3)) {}

  int64_t heads() const { return q.size(0); }
  int64_t tokens() const { return q.size(1); }
  int64_t headSize() const { return q.size(2); }
  /// Scores of independent numbers have a variance of D; scaled, of 1.
  double scale() const { return 1 / std::sqrt(double(headSize())); }

  Tensor q, k, v;
};

/// The definition, row by row, in float64.
std::vector<double> attentionFloat64(const Inputs &in) {
  std::vector<double> q = in.q.toFloat64(), k = in.k.toFloat64(),
                      v = in.v.toFloat64(), o(q.size(), 0);
  int64_t n = in.tokens(), d = in.headSize();
  std::vector<double> p(static_cast<size_t>(n));
  for (int64_t row = 0; row < in.heads() * n; ++row) {
    const double *keys = &k[row / n * n * d], *values = &v[row / n * n * d];
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < d; ++c) {
        sum += q[row * d + c] * keys[j * d + c];
      }
      largest = std::max(largest, p[j] = sum * in.scale());
    }
    for (double &each : p) {
      total += each = std::exp(each - largest);
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < d; ++c) {
        o[row * d + c] += p[j] / total * values[j * d + c];
      }
    }
  }
  return o;
}

//===----------------------------------------------------------------------===//
// Three ways
//===----------------------------------------------------------------------===//

/// Each allocates what it needs, as an operator of a library does, and returns
/// its output.
using Way = std::function<Tensor(const Inputs &)>;

/// Three launches. The scores are written, read, written as probabilities, and
/// read again.
Tensor chain(const Inputs &in) {
  static const Kernel scores = load("scores"), softmax = load("softmax"),
                      weightedSum = load("weighted_sum");
  int64_t heads = in.heads(), n = in.tokens(), block = 32;
  Tensor s = empty({heads, n, n}, in.q.dtype(), in.q.device());
  scores[{cdiv(n, block), cdiv(n, block), heads}](
      s, in.q, in.k, n, in.scale(), "D"_a = in.headSize(), "BLOCK"_a = block);
  Tensor p = emptyLike(s);
  softmax[{heads * n}](p, s, n, "BLOCK"_a = n);
  Tensor o = emptyLike(in.q);
  weightedSum[{cdiv(n, block), heads}](o, p, in.v, n, "D"_a = in.headSize(),
                                       "BLOCK"_a = block);
  return o;
}

/// Step 1: the softmax of the chain goes along its row in blocks. It saves no
/// memory yet; it shows that a row can be done without being held.
Tensor chainOnline(const Inputs &in) {
  static const Kernel scores = load("scores"), softmax = load("online_softmax"),
                      weightedSum = load("weighted_sum");
  int64_t heads = in.heads(), n = in.tokens(), block = 32;
  Tensor s = empty({heads, n, n}, in.q.dtype(), in.q.device());
  scores[{cdiv(n, block), cdiv(n, block), heads}](
      s, in.q, in.k, n, in.scale(), "D"_a = in.headSize(), "BLOCK"_a = block);
  Tensor p = emptyLike(s);
  softmax[{heads * n}](p, s, n, "BLOCK"_a = 128);
  Tensor o = emptyLike(in.q);
  weightedSum[{cdiv(n, block), heads}](o, p, in.v, n, "D"_a = in.headSize(),
                                       "BLOCK"_a = block);
  return o;
}

/// Step 2: one launch, and the output is all that is allocated.
Tensor flash(const Inputs &in) {
  static const Kernel attention = load("flash_attention");
  int64_t n = in.tokens(), rows = 64, keys = 64;
  Tensor o = emptyLike(in.q);
  attention[{cdiv(n, rows), in.heads()}](
      o, in.q, in.k, in.v, n, in.scale(), "D"_a = in.headSize(),
      "BLOCK_M"_a = rows, "BLOCK_N"_a = keys);
  return o;
}

//===----------------------------------------------------------------------===//
// Measured
//===----------------------------------------------------------------------===//

struct Measured {
  const char *name;
  uint64_t bytes = 0; ///< allocated at the worst moment, with the output
  double ms = 0, difference = 0;
};

Measured measure(const char *name, const Way &way, const Inputs &in,
                 const std::vector<double> &expected, int64_t repeats) {
  Device device = in.q.device();
  Measured measured{name};
  // The first run compiles; what it allocates is what every run does.
  Tensor o;
  measured.bytes = bench::memoryOf(device, [&] { o = way(in); }).peak;
  measured.difference = lesson::maxDifference(o, expected);
  measured.ms =
      lesson::medianMilliseconds(device, repeats, [&] { o = way(in); });
  return measured;
}

void printRows(int64_t tokens, const std::vector<Measured> &ways) {
  for (const Measured &way : ways) {
    std::printf("| %6lld | %-13s | %11.3f | %10.3f | %7.2fx | %.1e |\n",
                (long long)tokens, way.name, double(way.bytes) * 1e-6, way.ms,
                ways.front().ms / way.ms, way.difference);
  }
}

std::vector<bench::BarChart>
chartsOf(const std::vector<std::pair<int64_t, std::vector<Measured>>> &all) {
  bench::BarChart memory{"Memory allocated", "MB", {}}, time{"Time", "ms", {}};
  for (const auto &[tokens, ways] : all) {
    std::string name = "N = " + std::to_string(tokens);
    bench::BarGroup bytes{name, {}}, ms{name, {}};
    for (const Measured &way : ways) {
      bytes.bars.push_back({way.name, double(way.bytes) * 1e-6});
      ms.bars.push_back({way.name, way.ms});
    }
    memory.groups.push_back(std::move(bytes));
    time.groups.push_back(std::move(ms));
  }
  return {memory, time};
}

struct Options {
  Device device;
  DType dtype;
  int64_t heads, only, headSize, repeats;
  std::string svg;
};

/// What cannot be is said before anything is computed.
Options readOptions(int argc, char **argv) {
  lesson::checkOptions(argc, argv,
                       {"--device", "--dtype", "--heads", "--tokens",
                        "--head-size", "--repeats", "--svg"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  // A GPU's units for products take 16-bit numbers.
  std::string type =
      lesson::option(argc, argv, "--dtype", device.isHost() ? "fp32" : "fp16");
  Options options = {device, parseDType(type).value_or(f64),
                     lesson::option(argc, argv, "--heads", 12),
                     // 0: the whole range, 256 to 4096.
                     lesson::option(argc, argv, "--tokens", 0),
                     lesson::option(argc, argv, "--head-size", 64),
                     lesson::option(argc, argv, "--repeats", 10),
                     lesson::option(argc, argv, "--svg", "")};
  if (options.dtype != f32 && options.dtype != f16) {
    raise({ErrorCode::InvalidArgument,
           "expected --dtype fp32 or fp16, got '" + type + "'",
           {}});
  }
  int64_t size = options.headSize;
  if (size != 16 && size != 32 && size != 64 && size != 128) {
    raise(
        {ErrorCode::InvalidArgument,
         "expected --head-size 16, 32, 64 or 128, got " + std::to_string(size),
         {}});
  }
  if (options.heads < 1 || options.heads > 65535) {
    raise({ErrorCode::InvalidArgument,
           "expected --heads from 1 to 65535 (a grid's second number), got " +
               std::to_string(options.heads),
           {}});
  }
  if (options.only > 32768) {
    raise({ErrorCode::InvalidArgument,
           "expected --tokens up to 32768 (the chain holds a row of scores as "
           "one block), got " +
               std::to_string(options.only),
           {}});
  }
  return options;
}

} // namespace

int main(int argc, char **argv) try {
  // NEREID_CUDA_DRIVER=simulator runs the GPU's code without one.
  gpu::installSimulator();
  Options options = readOptions(argc, argv);
  std::printf(
      "Attention of %lld heads of %lld, %s, on %s\n\n"
      "|      N | way           | memory MB   | time ms    | speed-up | max "
      "diff |\n|--:|---|--:|--:|--:|--:|\n",
      (long long)options.heads, (long long)options.headSize,
      options.dtype == f32 ? "fp32" : "fp16", options.device.str().c_str());

  std::vector<std::pair<int64_t, std::vector<Measured>>> all;
  double worst = 0;
  bool isLinear = true;
  for (int64_t n = options.only ? options.only : 256;
       n <= (options.only ? options.only : 4096); n *= 2) {
    Inputs in(options.heads, n, options.headSize, options.dtype,
              options.device);
    std::vector<double> expected = attentionFloat64(in);
    std::vector<Measured> ways = {
        measure("chain", chain, in, expected, options.repeats),
        measure("chain, online", chainOnline, in, expected, options.repeats),
        measure("flash", flash, in, expected, options.repeats)};
    printRows(n, ways);
    for (const Measured &way : ways) {
      worst = std::max(worst, way.difference);
    }
    // The output and nothing else; a GPU's allocator rounds up.
    isLinear &= ways.back().bytes <= uint64_t(in.q.bytes()) + 512;
    all.emplace_back(n, std::move(ways));
  }

  std::vector<bench::BarChart> charts = chartsOf(all);
  for (const bench::BarChart &chart : charts) {
    std::printf("\n%s", bench::barsText(chart).c_str());
  }
  std::printf("\nThe one kernel allocates %s.\n",
              isLinear ? "its output and nothing else"
                       : "MORE THAN ITS OUTPUT");
  if (!options.svg.empty()) {
    std::string title = "Attention, " + std::to_string(options.heads) +
                        " heads of " + std::to_string(options.headSize) +
                        " on " + options.device.str();
    throwIfFailed(
        writeFileAtomically(options.svg, bench::barsSvg(title, charts)));
  }
  // Outputs are means of values: at most 5 or so. In fp32 a few roundings of
  // 2^-24 each, relative to the scores (up to 6) that exp sees; fp16 rounds the
  // chain's scores and probabilities, and the output, to 2^-11.
  int wrong = lesson::verdict(worst, options.dtype == f32 ? 1e-5 : 1e-2);
  return isLinear ? wrong : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
