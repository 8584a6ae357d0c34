//===- Trace.h - A trace, and its text --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_TRACE_H
#define NEREID_PROF_TRACE_H

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::prof {

/// A group of tracks: the host's process, or a device.
struct TraceProcess {
  int64_t pid = 0;
  std::string name;
};

struct TraceTrack {
  size_t process = 0; ///< index
  int64_t tid = 0;
  std::string name;
  bool isDevice = false;
};

/// Something that took time on a track. Slices of a track are disjoint or one
/// lies within the other.
struct TraceSlice {
  size_t track = 0; ///< index
  int64_t beginNs = 0, endNs = 0;
  const char *name = "", *category = "";
  /// What was compiled in, for a kernel.
  const char *constants = "";
  std::array<int32_t, 3> grid = {0, 0, 0};
  uint64_t bytes = 0;
  /// Not 0: the slice of the host that queued it has the same.
  uint32_t number = 0;
  /// Further lines of text; may be null.
  const std::vector<std::pair<const char *, std::string>> *details = nullptr;
};

struct TraceMemory {
  size_t process = 0; ///< index
  int64_t ns = 0;
  uint64_t used = 0, cached = 0;
};

struct Trace {
  std::vector<TraceProcess> processes;
  std::vector<TraceTrack> tracks;
  std::vector<TraceSlice> slices;
  std::vector<TraceMemory> memory;
  std::vector<std::string> notes;
};

/// In Chrome's trace-event format: an object of JSON, one event a line, tracks
/// in order of time. Slices of devices that overlap by the clock's error begin
/// where the one before them ends; each also makes a step of its track's
/// counter of GB/s.
std::string jsonText(Trace trace);

/// The events of several such texts, as one.
std::string mergedJson(const std::vector<std::string> &texts,
                       const std::vector<std::string> &notes);

} // namespace nereid::prof

#endif // NEREID_PROF_TRACE_H
