//===- Measure.cpp - How long something takes -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Measure.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>

namespace nereid::bench {

double clockMs(Device device, const std::function<void()> &call, Clock &clock) {
  int64_t begin = clock.now();
  call();
  synchronize(device);
  return clock.millisecondsSince(begin);
}

double runMs(Device device, const std::function<void()> &call, Clock &clock) {
  if (device.isHost()) {
    return clockMs(device, call, clock);
  }
  Event begin(device), end(device);
  begin.record();
  call();
  end.record();
  return end.millisecondsSince(begin);
}

/// What a warm sample lasts at least: a thousand times what the clock of the
/// host, or a GPU's events (0.5 us), can tell apart.
static double leastSampleMs(Device device) { return device.isHost() ? 1 : 0.5; }

struct Measurement::Pending {
  size_t entry;
  std::optional<Event> begin, end; ///< of a GPU
  double ms = 0;                   ///< of a host device: of all runs
};

Measurement::Measurement(Device device, MeasureOptions options)
    : device(device), options(std::move(options)) {
  if (!this->options.buffer) {
    this->options.buffer = std::make_shared<Tensor>();
  }
}

void Measurement::fail(Entry &entry, const Failure &failure) {
  if (!entry.failure) {
    entry.failure = failure;
  }
}

void Measurement::runWhole(Entry &entry) {
  Contender &contender = entry.contender;
  if (contender.before) {
    contender.before(entry.turn);
  }
  contender.run(entry.turn);
  if (contender.after) {
    contender.after(entry.turn);
  }
  ++entry.turn;
}

size_t Measurement::add(Contender contender) {
  Entry &entry = entries.emplace_back();
  entry.contender = std::move(contender);
  try {
    runWhole(entry);
    synchronize(device);
    if (options.caches == Caches::Warm) {
      chooseRuns(entry);
    }
  } catch (const Error &error) {
    fail(entry, error.failure());
  }
  return entries.size() - 1;
}

/// By the clock, doubling: the cost of starting and waiting spreads over more
/// and more runs.
void Measurement::chooseRuns(Entry &entry) {
  constexpr size_t most = 4096;
  double least = leastSampleMs(device);
  while (entry.runs < most) {
    double ms = clockMs(
        device,
        [&] {
          for (size_t i = 0; i < entry.runs; ++i) {
            entry.contender.run(entry.turn++);
          }
        },
        clock());
    if (ms >= least) {
      return;
    }
    entry.runs *= 2;
  }
}

/// Four times the last-level cache of a GPU: it replaces lines by chance, so
/// that a buffer of its own size leaves some of what was there (docs/Bench.md).
/// Twice that of a processor.
int64_t flushedBytes(Device device, const Machine &machine) {
  if (device.isHost()) {
    return int64_t(2 * machine.lastLevelCacheBytes);
  }
  gpu::DeviceState &state = *valueOrThrow(gpu::DeviceState::get(device));
  return std::max(int64_t{4} * state.properties.l2Bytes, int64_t{32} << 20);
}

/// A GPU that was idle takes some time to reach its clocks.
void Measurement::start() {
  constexpr double warmUpMs = 25;
  isStarted = true;
  Tensor &buffer = *options.buffer;
  if (options.caches == Caches::Cold && !buffer.defined()) {
    buffer = empty({flushedBytes(device, options.machine)}, u8, device);
    buffer.zero();
  }
  if (!device.isHost()) {
    int64_t begin = clock().now();
    while (buffer.defined() && clock().millisecondsSince(begin) < warmUpMs) {
      flush();
      synchronize(device);
    }
  }
}

/// On the host each thread writes its part, so that the caches of all cores
/// are full of it.
void Measurement::flush() {
  Tensor &buffer = *options.buffer;
  if (!device.isHost()) {
    buffer.zero();
    return;
  }
  constexpr int64_t lineBytes = 64, grain = 4096;
  auto *bytes = buffer.data<uint8_t>();
  parallelRanges(buffer.numel() / lineBytes, grain,
                 [bytes](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line) {
                     bytes[line * lineBytes]++;
                   }
                 });
}

std::optional<Measurement::Pending> Measurement::sample(size_t index) {
  Entry &entry = entries[index];
  auto run = [&] {
    const Contender &own = entry.contender;
    TraceRange range(own.range.empty() ? own.name : own.range);
    for (size_t i = 0; i < entry.runs; ++i) {
      entry.contender.run(entry.turn++);
    }
  };
  try {
    // Events are made before the flush, which hides what queuing takes.
    Pending pending{index, std::nullopt, std::nullopt};
    if (!device.isHost()) {
      pending.begin.emplace(device);
      pending.end.emplace(device);
    }
    bool isCold = options.caches == Caches::Cold;
    if (isCold && entry.contender.before) {
      entry.contender.before(entry.turn);
    }
    if (isCold) {
      flush();
    } else {
      entry.contender.run(entry.turn++);
    }
    auto finish = [&] {
      if (isCold && entry.contender.after) {
        entry.contender.after(entry.turn - 1);
      }
    };
    if (device.isHost()) {
      pending.ms = clockMs(device, run, clock());
      finish();
      return pending;
    }
    pending.begin->record();
    run();
    pending.end->record();
    finish();
    return pending;
  } catch (const Error &error) {
    fail(entry, error.failure());
    return std::nullopt;
  }
}

/// Milliseconds of the runs themselves.
double Measurement::read(std::vector<Pending> &pending) {
  double all = 0;
  for (Pending &one : pending) {
    Entry &entry = entries[one.entry];
    try {
      double ms =
          device.isHost() ? one.ms : one.end->millisecondsSince(*one.begin);
      entry.samples.push_back(ms / double(entry.runs));
      entry.seconds += ms / 1e3;
      all += ms;
    } catch (const Error &error) {
      fail(entry, error.failure());
    }
  }
  return all;
}

void Measurement::rounds(size_t count, std::span<const size_t> of) {
  if (!isStarted) {
    start();
  }
  int64_t begin = clock().now();
  std::vector<Pending> pending;
  std::vector<size_t> order(of.begin(), of.end());
  for (size_t round = 0; round < count; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t index : order) {
      if (entries[index].failure) {
        continue;
      }
      if (auto one = sample(index)) {
        pending.push_back(std::move(*one));
      }
    }
  }
  double own = read(pending);
  // Time outside of all runs (flushing, waiting) is shared equally.
  double shared = std::max(0.0, clock().millisecondsSince(begin) - own);
  for (const Pending &one : pending) {
    entries[one.entry].seconds += shared / 1e3 / double(pending.size());
  }
}

bool Measurement::isDone(const Entry &entry) const {
  size_t samples = entry.samples.size();
  if (entry.failure || samples >= options.mostSamples) {
    return true;
  }
  double share = options.seconds / double(entries.size());
  if (samples < options.leastSamples) {
    return samples && entry.seconds > 4 * share;
  }
  // Samples in a hurry see one state of the machine's clocks.
  constexpr double leastSeconds = 0.05;
  return entry.seconds > share ||
         (entry.seconds > leastSeconds &&
          medianUncertainty(entry.samples) < options.precision);
}

/// On a GPU ever more rounds are queued at once, up to a thirtieth of a second
/// of them, so that it seldom waits for the host.
void Measurement::run() {
  constexpr size_t mostQueued = 32;
  constexpr double mostQueuedMs = 30;
  size_t queued = 1;
  int64_t begin = clock().now();
  while (true) {
    std::vector<size_t> left;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!isDone(entries[i])) {
        left.push_back(i);
      }
    }
    if (left.empty() || (options.stops && options.stops())) {
      return;
    }
    int64_t queuing = clock().now();
    rounds(queued, left);
    if (!device.isHost() && queued < mostQueued &&
        2 * clock().millisecondsSince(queuing) < mostQueuedMs) {
      queued *= 2;
    }
    if (options.progress) {
      double time = clock().secondsSince(begin) / options.seconds;
      double done = 1 - double(left.size() - 1) / double(entries.size());
      options.progress(std::min(std::max(time, done), 1.0));
    }
  }
}

Times Measurement::times(size_t contender) const {
  const Entry &entry = entries[contender];
  return {entry.contender.name, summarize(entry.samples), entry.runs,
          options.caches == Caches::Cold, entry.failure};
}

std::vector<Times> measure(Device device, std::vector<Contender> contenders,
                           MeasureOptions options) {
  Measurement measurement(device, std::move(options));
  for (Contender &contender : contenders) {
    measurement.add(std::move(contender));
  }
  measurement.run();
  std::vector<Times> times;
  for (size_t i = 0; i < measurement.size(); ++i) {
    times.push_back(measurement.times(i));
  }
  return times;
}

} // namespace nereid::bench
