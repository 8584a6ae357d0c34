//===- EventFileTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/EventFile.h"

#include "nereid/Weights/Testing.h"

#include <cstring>
#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

/// The events of a file, whose lengths are taken as they are.
static std::vector<std::string> eventsOf(const std::string &bytes) {
  std::vector<std::string> events;
  for (size_t at = 0; at + 12 <= bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    events.push_back(bytes.substr(at + 12, length));
    at += 16 + length;
  }
  return events;
}

TEST(EventFile, writesWhatTensorBoardReads) {
  TestFolder folder;
  EventFile file(folder / "events", 1.5);
  file.write(2.5, 300, {{"loss", 0.5}, {"lr", -2}});
  std::string bytes = contentOf(folder / "events");
  std::vector<std::string> events = eventsOf(bytes);
  ASSERT_EQ(events.size(), 2U);
  std::string one("\x09\0\0\0\0\0\0\xf8\x3f\x10\0", 11);
  EXPECT_EQ(events[0], one + "\x1a\x0d"
                             "brain.Event:2");
  std::string two("\x09\0\0\0\0\0\0\x04\x40\x10\xac\x02", 12),
      loss("\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 13),
      rate("\x0a\x09\x0a\x02lr\x15\0\0\0\xc0", 11);
  EXPECT_EQ(events[1], two + "\x2a\x18" + loss + rate);
}

/// Of a record whose checksums were computed by a table that was checked with
/// the value that CRC-32C's definition gives, E3069283 for "123456789".
TEST(EventFile, hasMaskedChecksums) {
  TestFolder folder;
  EventFile file(folder / "events", 0);
  std::string bytes = contentOf(folder / "events");
  uint32_t ofLength = 0, ofEvent = 0;
  std::memcpy(&ofLength, bytes.data() + 8, 4);
  std::memcpy(&ofEvent, bytes.data() + bytes.size() - 4, 4);
  EXPECT_EQ(ofLength, 769170194u);
  EXPECT_EQ(ofEvent, 2345133617u);
}

TEST(EventFile, saysWhereItCannotWrite) {
  EXPECT_THAT(errorOf([] { EventFile file("/nonexistent/events", 0); }),
              HasSubstr("cannot write to /nonexistent/events: No such file"));
  EXPECT_THAT(eventFileName(12.5),
              ::testing::StartsWith("events.out.tfevents.12."));
}
