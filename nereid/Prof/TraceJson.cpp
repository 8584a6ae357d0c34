//===- TraceJson.cpp - A trace in Chrome's format -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Trace.h"

#include "nereid/Support/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

namespace nereid::prof {

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string jsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = decodeUtf8(text, at);
    if (c == invalidCharacter) {
      out += '?'; // no UTF-8, such as a path of another encoding
    } else if (c < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c == '"' || c == '\\' ? "\\" : "";
      out += text.substr(begin, at - begin);
    }
  }
  return out + "\"";
}

/// Microseconds, as the format has them, exact to the nanosecond.
static std::string timeText(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%lld.%03lld",
                static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return text;
}

static std::string numberText(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

namespace {
class Writer {
public:
  explicit Writer(const Trace &trace) : trace(trace) {}
  std::string run();

private:
  /// {"ph":...,"pid":...,"tid":...,"name":... without the end.
  void open(const char *phase, size_t process, int64_t tid,
            std::string_view name);
  void close() { text += "},\n"; }
  void addNames();
  void addSlice(const TraceSlice &slice);
  void addRate(const TraceSlice &slice);
  void addMemory(const TraceMemory &memory);

  const Trace &trace;
  std::string text;
};
} // namespace

void Writer::open(const char *phase, size_t process, int64_t tid,
                  std::string_view name) {
  text += "{\"ph\":\"";
  text += phase;
  text += "\",\"pid\":" + std::to_string(trace.processes[process].pid) +
          ",\"tid\":" + std::to_string(tid) + ",\"name\":" + jsonString(name);
}

void Writer::addNames() {
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    open("M", i, 0, "process_name");
    text += ",\"args\":{\"name\":" + jsonString(trace.processes[i].name) + "}";
    close();
    open("M", i, 0, "process_sort_index");
    text += ",\"args\":{\"sort_index\":" + std::to_string(i) + "}";
    close();
  }
  for (const TraceTrack &track : trace.tracks) {
    open("M", track.process, track.tid, "thread_name");
    text += ",\"args\":{\"name\":" + jsonString(track.name) + "}";
    close();
  }
}

/// GB/s, or 0 where nothing is known.
static double rateOf(const TraceSlice &slice) {
  int64_t ns = slice.endNs - slice.beginNs;
  return ns > 0 ? double(slice.bytes) / double(ns) : 0;
}

void Writer::addSlice(const TraceSlice &slice) {
  const TraceTrack &track = trace.tracks[slice.track];
  open("X", track.process, track.tid, slice.name);
  text += ",\"cat\":" + jsonString(slice.category) +
          ",\"ts\":" + timeText(slice.beginNs) +
          ",\"dur\":" + timeText(slice.endNs - slice.beginNs);
  std::string arguments;
  auto add = [&](const char *name, const std::string &json) {
    arguments += (arguments.empty() ? "" : ",") + jsonString(name) + ":" + json;
  };
  if (slice.grid[0]) {
    add("grid", jsonString(std::to_string(slice.grid[0]) + "x" +
                           std::to_string(slice.grid[1]) + "x" +
                           std::to_string(slice.grid[2])));
  }
  if (*slice.constants) {
    add("compiled for", jsonString(slice.constants));
  }
  if (slice.bytes) {
    add("bytes", std::to_string(slice.bytes));
    if (track.isDevice) {
      add("GB/s", numberText(rateOf(slice)));
    }
  }
  if (slice.details) {
    for (const auto &[name, value] : *slice.details) {
      add(name, jsonString(value));
    }
  }
  if (!arguments.empty()) {
    text += ",\"args\":{" + arguments + "}";
  }
  close();
  if (slice.number) {
    // An arrow from the call on the host to the work on the device.
    open(track.isDevice ? "f" : "s", track.process, track.tid, "queued");
    text += ",\"cat\":\"queue\",\"id\":\"" +
            std::to_string(trace.processes[0].pid) + "." +
            std::to_string(slice.number) + "\"" +
            (track.isDevice ? ",\"bp\":\"e\"" : "") +
            ",\"ts\":" + timeText(slice.beginNs);
    close();
  }
}

void Writer::addRate(const TraceSlice &slice) {
  const TraceTrack &track = trace.tracks[slice.track];
  if (!track.isDevice || !slice.bytes || slice.endNs <= slice.beginNs) {
    return;
  }
  for (auto [ns, rate] :
       {std::pair(slice.beginNs, rateOf(slice)), std::pair(slice.endNs, 0.0)}) {
    open("C", track.process, 0, "GB/s, " + track.name);
    text += ",\"ts\":" + timeText(ns) +
            ",\"args\":{\"GB/s\":" + numberText(rate) + "}";
    close();
  }
}

void Writer::addMemory(const TraceMemory &memory) {
  open("C", memory.process, 0, "memory [MB]");
  text += ",\"ts\":" + timeText(memory.ns) +
          ",\"args\":{\"in use\":" + numberText(double(memory.used) / 1e6) +
          ",\"kept\":" + numberText(double(memory.cached) / 1e6) + "}";
  close();
}

static std::string head(const std::vector<std::string> &notes) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":"
                     "\"nereid trace 1\",\"clock\":\"CLOCK_MONOTONIC\"";
  for (size_t i = 0; i < notes.size(); ++i) {
    text += ",\"note " + std::to_string(i + 1) + "\":" + jsonString(notes[i]);
  }
  return text + "},\n\"traceEvents\":[\n";
}

/// After the last event, which has a comma like all others.
static void finish(std::string &text) {
  if (text.ends_with(",\n")) {
    text.resize(text.size() - 2);
    text += "\n";
  }
  text += "]}\n";
}

std::string Writer::run() {
  constexpr size_t sliceBytes = 256; // about
  text = head(trace.notes);
  text.reserve(text.size() + sliceBytes * trace.slices.size());
  addNames();
  for (const TraceSlice &slice : trace.slices) {
    addSlice(slice);
    addRate(slice);
  }
  for (const TraceMemory &memory : trace.memory) {
    addMemory(memory);
  }
  finish(text);
  return std::move(text);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

std::string jsonText(Trace trace) {
  std::sort(trace.slices.begin(), trace.slices.end(),
            [](const TraceSlice &a, const TraceSlice &b) {
              if (a.track != b.track) {
                return a.track < b.track;
              }
              return a.beginNs != b.beginNs ? a.beginNs < b.beginNs
                                            : a.endNs > b.endNs;
            });
  std::vector<int64_t> ends(trace.tracks.size(), 0);
  for (TraceSlice &slice : trace.slices) {
    if (trace.tracks[slice.track].isDevice) {
      slice.beginNs = std::max(slice.beginNs, ends[slice.track]);
    }
    slice.endNs = std::max(slice.beginNs, slice.endNs);
    ends[slice.track] = slice.endNs;
  }
  std::sort(
      trace.memory.begin(), trace.memory.end(),
      [](const TraceMemory &a, const TraceMemory &b) { return a.ns < b.ns; });
  return Writer(trace).run();
}

std::string mergedJson(const std::vector<std::string> &texts,
                       const std::vector<std::string> &notes) {
  std::string merged = head(notes);
  std::set<std::string_view> names;
  for (std::string_view text : texts) {
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.starts_with("{\"ph\":")) {
        continue; // the head and the end
      }
      line = line.substr(0, line.find_last_of('}') + 1);
      if (line.starts_with("{\"ph\":\"M\"") && !names.insert(line).second) {
        continue;
      }
      merged += line;
      merged += ",\n";
    }
  }
  finish(merged);
  return merged;
}

} // namespace nereid::prof
