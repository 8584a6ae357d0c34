//===- Measure.h - How long something takes --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How everything in Nereid is timed. Contenders take turns: a round runs each
// of them, in random order, so that what disturbs the machine disturbs all.
// What counts is the median of a contender's samples.
//
//   cold  Caches hold nothing of the inputs: before each run a buffer larger
//         than the last-level cache is written. A sample is one run; on a GPU
//         between two events, as triton.testing.do_bench has it.
//   warm  Caches hold what the last run left. A sample is as many runs as make
//         the clock's resolution small, after one that does not count.
//
// GPUs are measured by their own events, host devices by the clock. Several
// rounds are queued on a GPU before anything waits: it is never idle between
// the events of a run as long as a run is queued faster than the buffer is
// written.
//
//   Measurement measurement(device, {.seconds = 0.5});
//   size_t ours = measurement.add({"ours", [&](size_t) { ... }});
//   size_t theirs = measurement.add({"theirs", ...});
//   measurement.run();
//   double ratio = measurement.times(theirs).ms.median / ...
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_MEASURE_H
#define NEREID_BENCH_MEASURE_H

#include "nereid/ABI/Status.h"
#include "nereid/Bench/Statistics.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace nereid::bench {

/// One of several ways to do something.
struct Contender {
  std::string name;
  /// One run: on a GPU what it queues on the calling thread's current stream.
  /// `turn` counts its runs. A contender with several sets of tensors takes the
  /// set turn % sets: short kernels notice where their tensors lie.
  std::function<void(size_t turn)> run;
  /// Around each run (of cold samples), outside of its time: what has to be
  /// done to its tensors.
  std::function<void(size_t turn)> before = nullptr, after = nullptr;
  /// The name of its runs in a trace; empty: `name`.
  std::string range = {};
};

enum class Caches { Cold, Warm };

struct MeasureOptions {
  Caches caches = Caches::Cold;
  /// The time of all contenders together, in equal shares; each has
  /// leastSamples all the same, unless these take four times its share.
  double seconds = 1;
  size_t leastSamples = 10, mostSamples = 1000;
  /// A contender is done when the uncertainty of its median is below, after
  /// 50 ms.
  double precision = 0.002;
  /// Called between rounds with the share of the work that is done, 0 to 1.
  std::function<void(double)> progress = nullptr;
  /// Asked between rounds: true ends the work, with the samples that are there.
  std::function<bool()> stops = nullptr;
  /// Measures runs on host devices, and how much of `seconds` is over.
  SharedClock clock = {};
  Machine machine = thisMachine(); ///< whose caches are emptied
  /// What is written to empty them. Measurements of one device may share it,
  /// one after the other: the first one makes it. Null: one of its own.
  std::shared_ptr<Tensor> buffer = nullptr;
};

struct Times {
  std::string name;
  Summary ms;          ///< milliseconds of a run
  size_t runs = 1;     ///< of a sample
  bool isCold = false; ///< what the caches held
  /// Why the contender is out; what was measured before stays.
  std::optional<Failure> failure = std::nullopt;
};

class Measurement {
public:
  explicit Measurement(Device device, MeasureOptions options = {});

  /// Runs it once, which compiles what is not compiled, and waits for it. A
  /// failure (an Error) goes to its Times, and it is not run again.
  size_t add(Contender contender);

  /// Rounds until the time is over or every median is known well.
  void run();
  /// So many rounds of some contenders, where the caller decides which go on.
  void rounds(size_t count, std::span<const size_t> of);

  size_t size() const { return entries.size(); }
  Times times(size_t contender) const;
  /// In the order of the rounds.
  const std::vector<double> &samples(size_t contender) const {
    return entries[contender].samples;
  }

private:
  struct Entry {
    Contender contender;
    std::vector<double> samples; ///< milliseconds of a run
    size_t turn = 0, runs = 1;
    double seconds = 0; ///< that its samples took, with flushing
    std::optional<Failure> failure;
  };
  /// One sample that waits to be read.
  struct Pending;

  Clock &clock() const { return *options.clock; }
  void start();
  void flush();
  void runWhole(Entry &entry);
  bool isDone(const Entry &entry) const;
  void chooseRuns(Entry &entry);
  std::optional<Pending> sample(size_t index);
  double read(std::vector<Pending> &pending);
  void fail(Entry &entry, const Failure &failure);

  Device device;
  MeasureOptions options;
  std::vector<Entry> entries;
  bool isStarted = false;
  std::minstd_rand random;
};

/// The size of the buffer that is written before a run from cold caches.
int64_t flushedBytes(Device device, const Machine &machine);

/// All of them, in their order.
std::vector<Times> measure(Device device, std::vector<Contender> contenders,
                           MeasureOptions options = {});

/// Milliseconds by the clock of one call, until the device has finished.
double clockMs(Device device, const std::function<void()> &call,
               Clock &clock = *steadyClock());
/// The time of one call, by the device's own events where it has them: without
/// the cost of starting and waiting.
double runMs(Device device, const std::function<void()> &call,
             Clock &clock = *steadyClock());

} // namespace nereid::bench

#endif // NEREID_BENCH_MEASURE_H
