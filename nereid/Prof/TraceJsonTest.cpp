//===- TraceJsonTest.cpp - A trace in Chrome's format ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Trace.h"

#include "nereid/Prof/testing/TraceReader.h"

#include <gmock/gmock.h>

using namespace nereid::prof;
using testing::ElementsAre;
using testing::SizeIs;

static Trace oneSlice(const char *name, int64_t pid = 10) {
  Trace trace;
  trace.processes = {{pid, "host"}, {5000002, "cuda:0"}};
  trace.tracks = {{0, pid, "main thread", false}, {1, 1, "stream 1", true}};
  trace.slices.push_back({.track = 0,
                          .beginNs = 1500,
                          .endNs = 4000,
                          .name = name,
                          .category = "launch"});
  return trace;
}

TEST(TraceJson, TimesAreMicrosecondsToTheNanosecond) {
  std::string text = jsonText(oneSlice("add"));
  EXPECT_THAT(text, testing::HasSubstr("\"ts\":1.500,\"dur\":2.500"));
}

TEST(TraceJson, TextsAreQuoted) {
  // The last three bytes would be a surrogate.
  const char *name = "a\"b\\c\x01\xC3\xA9\xFF\xED\xA0\x80";
  ReadTrace trace(jsonText(oneSlice(name)));
  EXPECT_THAT(trace.names("launch"), ElementsAre("a\"b\\c\x01\xC3\xA9????"));
}

TEST(TraceJson, ATraceWithoutEventsIsOne) {
  ReadTrace trace(jsonText({}));
  EXPECT_THAT(trace.events, SizeIs(0));
}

TEST(TraceJson, SlicesOfADeviceDoNotOverlapByItsClocksError) {
  Trace trace = oneSlice("add");
  trace.slices.push_back({.track = 1,
                          .beginNs = 2000,
                          .endNs = 3000,
                          .name = "first",
                          .category = "kernel"});
  trace.slices.push_back({.track = 1,
                          .beginNs = 2990,
                          .endNs = 4000,
                          .name = "second",
                          .category = "kernel"});
  ReadTrace read(jsonText(trace));
  EXPECT_EQ(read.slices("kernel")[1]["ts"], 3.0);
  EXPECT_EQ(read.slices("kernel")[1]["dur"], 1.0);
}

TEST(TraceJson, TheOuterSliceComesFirst) {
  Trace trace = oneSlice("inner");
  trace.slices.push_back({.track = 0,
                          .beginNs = 1500,
                          .endNs = 9000,
                          .name = "outer",
                          .category = "launch"});
  EXPECT_THAT(ReadTrace(jsonText(trace)).names("launch"),
              ElementsAre("outer", "inner"));
}

TEST(TraceJson, TracesOfSeveralProcessesBecomeOne) {
  std::string merged =
      mergedJson({jsonText(oneSlice("one", 10)), jsonText(oneSlice("two", 11))},
                 {"a worker is missing"});
  ReadTrace trace(merged);
  EXPECT_THAT(trace.names("launch"), ElementsAre("one", "two"));
  EXPECT_THAT(trace.notes(), ElementsAre("a worker is missing"));
  size_t devices = 0;
  for (const auto &name : trace.phase("M")) {
    devices += name["name"] == "process_name" && name["pid"] == 5000002;
  }
  EXPECT_EQ(devices, 1u); // named once
}
