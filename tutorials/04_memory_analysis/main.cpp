//===- main.cpp - Lesson 4: what memory does --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lessons 2 and 3 said how many passes over memory a chain of kernels makes and
// a fused one. Here it is not only said: accesses are counted, kernel by
// kernel, and set beside the time that they take and the rate that this
// machine's memory has at best.
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Bars.h"
#include "nereid/Bench/Measure.h"
#include "nereid/Bench/Roofline.h"
#include "nereid/Support/Files.h"
#include "nereid/nereid.h"
#include "tutorials/04_memory_analysis/SimulatedCounts.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

/// One of two ways to compute the same.
struct Way {
  const char *name;
  std::function<void()> run;
};

struct Operation {
  const char *name;
  Tensor result;
  std::vector<Way> ways; ///< the wasteful one first
};

/// What the kernels read and write: matrices, and a number for each row.
struct Arrays {
  Arrays(Device device, int64_t rows, int64_t columns, bool hasValues)
      : x(empty({rows, columns}, f32, device)), y(emptyLike(x)),
        t(emptyLike(x)), e(emptyLike(x)), m(empty({rows}, f32, device)),
        s(emptyLike(m)), w(empty({columns}, f32, device)), b(emptyLike(w)) {
    if (hasValues) {
      x.copyFrom(randn({rows, columns}, f32, device, 1));
      w.copyFrom(randn({columns}, f32, device, 2));
      b.copyFrom(randn({columns}, f32, device, 3));
    }
  }
  Tensor x, y, t, e, m, s, w, b;
};

//===----------------------------------------------------------------------===//
// Three operations, each in two ways
//===----------------------------------------------------------------------===//

Kernel load(const char *file, const char *name) {
  return Kernel::load(std::string(LESSON_DIR "/../") + file, name);
}

/// Lesson 2's: five kernels, or one.
Operation softmax(Arrays a) {
  const char *file = "02_fused_softmax/softmax.py";
  Kernel rowMax = load(file, "row_max"),
         subtractRow = load(file, "subtract_row"),
         exponential = load(file, "exponential"),
         rowSum = load(file, "row_sum"), divideRow = load(file, "divide_row"),
         fused = load(file, "softmax_kernel");
  int64_t rows = a.x.size(0), columns = a.x.size(1);
  auto block = "BLOCK"_a = columns;
  return {
      "softmax",
      a.y,
      {{"five kernels",
        [=] {
          rowMax[{rows}](a.m, a.x, columns, columns, block);
          subtractRow[{rows}](a.t, a.x, a.m, columns, columns, block);
          exponential[{rows}](a.e, a.t, columns, columns, block);
          rowSum[{rows}](a.s, a.e, columns, columns, block);
          divideRow[{rows}](a.y, a.e, a.s, columns, columns, block);
        }},
       {"fused", [=] { fused[{rows}](a.y, a.x, columns, columns, block); }}}};
}

/// Lesson 3's: four kernels, or one.
Operation layerNorm(Arrays a) {
  const char *file = "03_layer_norm/layer_norm.py";
  Kernel rowMean = load(file, "row_mean"),
         subtractMean = load(file, "subtract_mean"),
         rowRstd = load(file, "row_rstd"),
         scaleAndShift = load(file, "scale_and_shift"),
         fused = load(file, "layer_norm_kernel");
  int64_t rows = a.x.size(0), columns = a.x.size(1);
  double eps = 1e-5;
  auto block = "BLOCK"_a = columns;
  return {"layer norm",
          a.y,
          {{"four kernels",
            [=] {
              rowMean[{rows}](a.m, a.x, columns, block);
              subtractMean[{rows}](a.t, a.x, a.m, columns, block);
              rowRstd[{rows}](a.s, a.t, columns, eps, block);
              scaleAndShift[{rows}](a.y, a.t, a.s, a.w, a.b, columns, block);
            }},
           {"fused", [=] {
              fused[{rows}](a.y, a.x, a.w, a.b, columns, columns, eps, block);
            }}}};
}

/// This lesson's: the same number of launches and bytes, in another order.
Operation scaling(Arrays a) {
  const char *file = "04_memory_analysis/memory.py";
  Kernel byColumns = load(file, "scale_columns"),
         byRows = load(file, "scale_rows");
  int64_t rows = a.x.size(0), columns = a.x.size(1);
  return {
      "scaling",
      a.y,
      {{"by columns",
        [=] {
          byColumns[{columns}](a.y, a.x, 2.0, rows, columns, "BLOCK"_a = rows);
        }},
       {"by rows",
        [=] { byRows[{rows}](a.y, a.x, 2.0, columns, "BLOCK"_a = columns); }}}};
}

std::vector<Operation> operations(const Arrays &arrays) {
  return {softmax(arrays), layerNorm(arrays), scaling(arrays)};
}

//===----------------------------------------------------------------------===//
// Counted and measured
//===----------------------------------------------------------------------===//

struct Row {
  const char *operation, *way;
  lesson::Traffic traffic;
  double least = 0; ///< bytes that the operation cannot do without
  double ms = 0;
};

/// The largest difference between what the two ways compute.
double difference(const Operation &operation) {
  operation.ways[0].run();
  std::vector<double> expected = operation.result.toFloat64();
  operation.result.fill(0); // so that nothing is left that could pass
  operation.ways[1].run();
  return lesson::maxDifference(operation.result, expected);
}

std::vector<Row> measure(const Operation &operation, Device device,
                         size_t repeats, lesson::SimulatedCounts &counts) {
  // Both ways take turns, and before each run the caches are filled with
  // something else: what counts is memory.
  std::vector<bench::Contender> contenders;
  for (const Way &way : operation.ways) {
    contenders.push_back({way.name, [run = way.run](size_t) { run(); }});
  }
  std::vector<bench::Times> times = bench::measure(
      device, contenders,
      {.seconds = 20, .leastSamples = repeats, .mostSamples = repeats});
  std::vector<Row> rows;
  for (size_t i = 0; i < operation.ways.size(); ++i) {
    if (times[i].failure) {
      raise(*times[i].failure);
    }
    rows.push_back({operation.name, operation.ways[i].name, counts.next(), 0,
                    times[i].ms.median});
  }
  // Where everything happens in one launch, each byte is touched for the
  // operation itself: there are no intermediate results.
  for (Row &row : rows) {
    row.least = rows.back().traffic.least;
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// What is printed
//===----------------------------------------------------------------------===//

/// `copy`: the rate of memory at best, in GB/s; 0 where it is not known.
void printTable(const std::vector<Row> &rows, double copy) {
  std::printf("| operation | way | launches | requests | transactions | moved "
              "| needed | time | bandwidth | of the best | useful |\n"
              "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const Row &row : rows) {
    const lesson::Traffic &traffic = row.traffic;
    double rate = traffic.moved / row.ms * 1e-6,
           useful = row.least / row.ms * 1e-6;
    std::printf("| %s | %s | %.0f | %.0f | %.0f | %.4g MB | %.4g MB | "
                "%.4g ms | %.3g GB/s |",
                row.operation, row.way, traffic.launches, traffic.requests,
                traffic.sectors, traffic.moved * 1e-6, row.least * 1e-6, row.ms,
                rate);
    if (copy) {
      std::printf(" %.0f %% | %.0f %% |\n", 100 * rate / copy,
                  100 * useful / copy);
    } else {
      std::printf(" - | - |\n");
    }
  }
}

std::vector<bench::BarChart> chartsOf(const std::vector<Row> &rows,
                                      double copy) {
  std::vector<bench::BarChart> charts;
  auto add = [&](const char *title, const char *unit, auto valueOf) {
    bench::BarChart chart{title, unit, {}};
    for (const Row &row : rows) {
      if (chart.groups.empty() || chart.groups.back().name != row.operation) {
        chart.groups.push_back({row.operation, {}});
      }
      chart.groups.back().bars.push_back({row.way, valueOf(row)});
    }
    charts.push_back(std::move(chart));
  };
  add("Transactions of 32 bytes", "thousands",
      [](const Row &row) { return row.traffic.sectors * 1e-3; });
  add("Bytes moved", "MB",
      [](const Row &row) { return row.traffic.moved * 1e-6; });
  if (copy) {
    add("Bandwidth that is useful, of the best", "%",
        [&](const Row &row) { return 100 * row.least / row.ms * 1e-6 / copy; });
  }
  return charts;
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(
      argc, argv, {"--device", "--rows", "--columns", "--repeats", "--svg"});
  int64_t rows = lesson::option(argc, argv, "--rows", 4096);
  int64_t columns = lesson::option(argc, argv, "--columns", 4096);
  int64_t repeats = lesson::option(argc, argv, "--repeats", 10);
  std::string svg = lesson::option(argc, argv, "--svg", "");
  if (rows == 0 || columns == 0 || repeats == 0) {
    raise({ErrorCode::InvalidArgument,
           "expected --rows, --columns and --repeats from 1, got 0",
           {}});
  }

  // Counting needs no values, only addresses.
  lesson::SimulatedCounts counts([&](const auto &count) {
    for (const Operation &operation :
         operations(Arrays(Device::cuda(), rows, columns, false))) {
      for (const Way &way : operation.ways) {
        count(way.run);
      }
    }
  });

  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  // How fast can this machine's memory be? A copy of large arrays, measured
  // once and kept. (The reference executor is no machine that has a rate.)
  bench::Roofline roofline;
  if (device.kind() != Device::Kind::Interp) {
    roofline = bench::rooflineOf(
        device, {.tell = [](const std::string &what) {
          std::fprintf(stderr, "measuring this machine: %s\n", what.c_str());
        }});
  }

  std::vector<Row> all;
  double worst = 0;
  for (const Operation &operation :
       operations(Arrays(device, rows, columns, true))) {
    worst = std::max(worst, difference(operation));
    std::vector<Row> measured =
        measure(operation, device, size_t(repeats), counts);
    all.insert(all.end(), measured.begin(), measured.end());
  }

  std::printf("%lld x %lld fp32: counted on a simulated H200, timed on %s",
              (long long)rows, (long long)columns, device.str().c_str());
  if (roofline.copy) {
    std::printf(", which copies %.1f GB/s at best", roofline.copy);
  }
  std::printf("\n\n");
  printTable(all, roofline.copy);
  std::vector<bench::BarChart> charts = chartsOf(all, roofline.copy);
  for (const bench::BarChart &chart : charts) {
    std::printf("\n%s", bench::barsText(chart).c_str());
  }
  if (!svg.empty()) {
    std::string title = "Memory, " + std::to_string(rows) + " x " +
                        std::to_string(columns) + " fp32 on " + device.str();
    throwIfFailed(writeFileAtomically(svg, bench::barsSvg(title, charts)));
  }
  // Both ways round the same operations, in another order.
  return lesson::verdict(worst, 2e-5);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
