//===- Roofline.h - What a machine can do ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured by kernels of Nereid's own (roofline.py), once for each device,
// driver and build, and kept as JSON in the cache's folder.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_ROOFLINE_H
#define NEREID_BENCH_ROOFLINE_H

#include "nereid/ABI/Status.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Device.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nereid::bench {

/// What a run has to do, as somebody counted it.
struct Work {
  double bytes = 0;           ///< of memory, each counted once
  double floatOperations = 0; ///< a fused multiplication and addition is two
  /// Operations of matrix products, by the name of their rate: "tf32", "bf16",
  /// "fp8", "int8".
  std::map<std::string, double> products = {};
  bool isSample = false; ///< extrapolated from some of the programs

  double operations() const;
};

struct Roofline {
  std::string device, driver, build;
  // 10^9 bytes a second.
  double copy = 0;  ///< read and written, of arrays beyond every cache
  double cache = 0; ///< read, from the last-level cache
  /// 10^12 operations a second: "fp32" by multiplications and additions of
  /// threads, the others by products of matrices.
  std::map<std::string, double> operations;
  /// Rates that no kernel of Nereid reaches, since the instruction that the
  /// chip has for them is not used: from that of bf16, as data sheets have it.
  std::vector<std::string> derived = {};
  /// When it was measured, and how many processes wanted to run then.
  std::string date = {};
  double load = 0;

  /// Milliseconds that the work takes at least out of the last-level cache:
  /// what is faster shows that the rates are too low.
  double leastCachedMs(const Work &work) const;
  /// Milliseconds that the work takes at least. A product whose rate was not
  /// measured is one of threads.
  double leastMs(const Work &work) const;
};

struct RooflineOptions {
  bool again = false; ///< not the kept one
  /// Called with what is being measured.
  std::function<void(const std::string &)> tell = nullptr;
  /// Ends the measurement, whose roofline is not kept.
  std::function<bool()> stops = nullptr;
  SharedClock clock = {};
  Machine machine = thisMachine(); ///< the host, for the sizes of arrays
};

/// The kept one, or one that is measured now and kept. Each rate is measured
/// until it grows no more. Throws Error.
Roofline rooflineOf(Device device, const RooflineOptions &options = {});

/// The rate "fp32" alone, 10^12 operations a second: of the kept roofline where
/// there is one, or kept by itself, or measured now in a second or two. Throws
/// Error.
double floatRateOf(Device device, const RooflineOptions &options = {});

/// "NVIDIA H200"; of the host the processor and the number of threads.
std::string nameOf(Device device);

/// Readable; the inverse fails for what is no such text.
std::string textOf(const Roofline &roofline);
Expected<Roofline> parseRoofline(const std::string &text);

} // namespace nereid::bench

#endif // NEREID_BENCH_ROOFLINE_H
