//===- Profiler.h - What a program did, as a trace --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records launches, copies, compilations, look-ups in the cache and memory, and
// writes them in Chrome's trace-event format, which chrome://tracing and
// ui.perfetto.dev open.
//
//   nereid::TraceFile trace("out.json");   // records from here on
//   ...
//   trace.finish();                        // or the end of the scope
//
// or step by step:
//
//   nereid::Profiler profiler;
//   profiler.start();
//   {
//     nereid::TraceRange range("forward"); // Runtime/Observer.h
//     kernel[grid](x, y);
//   }
//   profiler.stop();
//   profiler.write("out.json");
//
// One Profiler of a process records at a time, and one of each context beside
// it. While none does, a launch costs one load more than without this library;
// docs/Prof.md says what it costs while one does. All functions are
// thread-safe, and throw Error.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_PROFILER_H
#define NEREID_PROF_PROFILER_H

#include "nereid/Machine/Clock.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace nereid {

class Context;

namespace prof {
class Recording;
} // namespace prof

struct ProfilerOptions {
  /// Records of launches and their activity on devices, 72 bytes each, beside
  /// the first 4096 of each thread. Later ones are only counted.
  size_t mostRecords = size_t{1} << 20;
  /// The clock of the times on the host. Those of GPUs are laid onto it.
  SharedClock clock = {};
};

class Profiler {
public:
  explicit Profiler(ProfilerOptions options = {});
  /// Stops.
  ~Profiler();
  Profiler(const Profiler &) = delete;
  Profiler &operator=(const Profiler &) = delete;

  /// InvalidArgument while another Profiler records. A second start goes on
  /// after what was recorded before.
  void start();
  /// The same of what is done for this context alone: its kernels, and what
  /// threads do in a ContextScope. A Profiler of the process does not record
  /// it meanwhile.
  void start(Context &context);
  /// No effect where it does not record. Work that GPUs have been given so far
  /// belongs to the trace and is waited for.
  void stop();
  bool isRecording() const;

  /// The trace up to now. Waits for the work of GPUs.
  std::string json();
  /// Into a file, which appears whole or not at all.
  void write(const std::string &path);
  /// What the trace lacks, and why: "GPU times are those of events: ...".
  std::vector<std::string> notes() const;

private:
  std::shared_ptr<prof::Recording> recording;
};

/// A Profiler that records while it lives.
class TraceFile {
public:
  /// Fails at once where the file cannot be written.
  explicit TraceFile(std::string path, ProfilerOptions options = {});
  /// finish(); what goes wrong is reported on standard error.
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Stops and writes; once.
  void finish();
  Profiler &profiler() { return recorder; }

private:
  std::string path;
  Profiler recorder;
};

} // namespace nereid

#endif // NEREID_PROF_PROFILER_H
