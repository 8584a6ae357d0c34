//===- ReportTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Report.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::gpt2;

TEST(Report, tellsOfACheckpoint) {
  EXPECT_EQ(saidOfCheckpoint(250, 2.20814, {}, true),
            "step 250, validation loss 2.2081, the best so far");
  EXPECT_EQ(saidOfCheckpoint(500, 2.5, {}, false),
            "step 500, validation loss 2.5000");
  EXPECT_EQ(saidOfCheckpoint(501, {}, 1.25, false),
            "step 501, loss of the last batch 1.2500");
}

TEST(Report, tellsHowARunEnded) {
  RunEnd end{"out", 100, 2000, 54.31, 1.8575, 1750, true};
  EXPECT_EQ(
      summaryOf(end),
      "1900 steps, to step 2000, in 54.3 s; best validation loss 1.8575, at "
      "step 1750\ncheckpoints in out; texts: nereid-gpt2 sample "
      "--out_dir=out; on: nereid-gpt2 train --init_from=resume --out_dir=out "
      "--max_iters=N\n");
  EXPECT_EQ(summaryOf({"out", 0, 3, 250.9, {}, 0, false}),
            "3 steps, to step 3, in 4 min 10 s\n");
  EXPECT_EQ(summaryOf({"out", 0, 3, 11599, {}, 0, false}),
            "3 steps, to step 3, in 3 h 13 min\n");
}

TEST(Report, listsTheSettings) {
  Options options;
  options.dataset = "books";
  options.batchSize = 7;
  std::string table = settingsTable(options);
  EXPECT_EQ(table.substr(0, table.find("\nmodel")),
            "data       dataset=books, batch_size=7, block_size=1024, "
            "gradient_accumulation_steps=40");
  EXPECT_EQ(table.find("num_samples"), std::string::npos);
  EXPECT_NE(table.find("\noptimiser  weight_decay=0.1, "), std::string::npos)
      << table;
  for (size_t begin = 0; begin < table.size();) {
    size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 111U);
    begin = end + 1;
  }
}

TEST(Report, showsForeignTextsWithoutTheirControlCharacters) {
  EXPECT_EQ(noteText("a\x1b[31mb"), "note: a\\x1b[31mb\n");
  Options options;
  options.dataset = "a\x1b[31mb";
  EXPECT_EQ(settingsTable(options).find("data       dataset=a\\x1b[31mb, "),
            0U);
}
