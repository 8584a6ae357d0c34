//===- KnobsTest.cpp - What the environment may say -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Knobs.h"

#include "nereid/Support/Files.h"
#include "nereid/Support/testing/GeneratedPage.h"

#include <gtest/gtest.h>

#include <thread>

using namespace nereid;

static Knobs parse(const Environment &environment,
                   std::vector<std::string> &complaints) {
  complaints.clear();
  return parseKnobs(environment, complaints);
}

TEST(Knobs, ReadsEveryKind) {
  std::vector<std::string> complaints;
  Knobs k = parse({{"NEREID_DUMP", "/tmp/dump"},
                   {"NEREID_TIME", "1"},
                   {"NEREID_LOG", "cache,tune"},
                   {"NEREID_CACHE_SIZE", "64M"},
                   {"NEREID_NUM_THREADS", "8"},
                   {"PATH", "/bin"}},
                  complaints);
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(k.dump, "/tmp/dump");
  EXPECT_TRUE(k.time);
  EXPECT_TRUE(k.logs("cache"));
  EXPECT_TRUE(k.logs("tune"));
  EXPECT_FALSE(k.logs("launch"));
  EXPECT_EQ(k.cacheSize, uint64_t{64} << 20);
  EXPECT_EQ(k.numThreads, 8);
  EXPECT_FALSE(k.interp);
}

TEST(Knobs, Sizes) {
  std::vector<std::string> complaints;
  const std::pair<const char *, uint64_t> cases[] = {
      {"0", 0},        {"123", 123},       {"2k", 2048},
      {"1G", 1 << 30}, {"3MiB", 3u << 20}, {"4KB", 4096}};
  for (auto [text, bytes] : cases) {
    Knobs k = parse({{"NEREID_CACHE_SIZE", text}}, complaints);
    EXPECT_EQ(k.cacheSize, bytes) << text;
    EXPECT_TRUE(complaints.empty()) << text;
  }
  for (const char *text : {"", "x", "1T", "-1", "1Gx", "99999999999G"}) {
    Knobs k = parse({{"NEREID_CACHE_SIZE", text}}, complaints);
    EXPECT_FALSE(k.cacheSize.has_value()) << text;
    ASSERT_EQ(complaints.size(), 1u) << text;
    EXPECT_NE(complaints[0].find("NEREID_CACHE_SIZE"), std::string::npos);
  }
}

TEST(Knobs, UnknownVariableIsReportedWithASuggestion) {
  std::vector<std::string> complaints;
  parse({{"NEREID_DMP", "x"}, {"NEREID_QQQQQQQQ", "x"}}, complaints);
  ASSERT_EQ(complaints.size(), 2u);
  EXPECT_NE(complaints[0].find("did you mean 'NEREID_DUMP'"),
            std::string::npos);
  EXPECT_NE(complaints[1].find("docs/KNOBS.md"), std::string::npos);
}

TEST(Knobs, UnknownWordAndBadNumberAreReported) {
  std::vector<std::string> complaints;
  Knobs k = parse({{"NEREID_CHECK", "oob,nann"}}, complaints);
  EXPECT_TRUE(k.checks("oob"));
  EXPECT_FALSE(k.checks("nan"));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].find("did you mean 'nan'"), std::string::npos);
  for (const char *text : {"0", "-3", "two", "5000", ""}) {
    k = parse({{"NEREID_NUM_THREADS", text}}, complaints);
    EXPECT_FALSE(k.numThreads.has_value()) << text;
    EXPECT_EQ(complaints.size(), 1u) << text;
  }
}

TEST(Knobs, AChoiceIsOneWord) {
  std::vector<std::string> complaints;
  EXPECT_EQ(parse({{"NEREID_LANGUAGE", "3.7"}}, complaints).language.word,
            "3.7");
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(parse({{"NEREID_LANGUAGE", ""}}, complaints).language.word, "");
  EXPECT_TRUE(complaints.empty());
  for (auto [text, complaint] :
       {std::pair("3.8x", "NEREID_LANGUAGE: '3.8x' is ignored; known are "
                          "3.6,3.7,3.8,3.9; did you mean '3.8'?"),
        std::pair("3.7,3.8", "NEREID_LANGUAGE=3.7,3.8 is ignored: expected one "
                             "of 3.6,3.7,3.8,3.9; did you mean '3.7'?"),
        std::pair("latest", "NEREID_LANGUAGE: 'latest' is ignored; known are "
                            "3.6,3.7,3.8,3.9")}) {
    EXPECT_EQ(parse({{"NEREID_LANGUAGE", text}}, complaints).language.word, "");
    EXPECT_EQ(complaints, std::vector<std::string>{complaint});
  }
}

TEST(Knobs, PoliciesAreWords) {
  std::vector<std::string> complaints;
  Knobs k = parse(
      {{"NEREID_DISABLE", "matrix-instructions,prefetc,recomputed-invariants"}},
      complaints);
  EXPECT_EQ(k.disable, (std::vector<std::string>{"matrix-instructions",
                                                 "recomputed-invariants"}));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].find("did you mean 'prefetch'"), std::string::npos);
}

TEST(Knobs, AScopeIsItsThreadsAlone) {
  Knobs own;
  own.cacheDir = "/own";
  const std::string ofProcess = processKnobs().cacheDir;
  KnobsScope scope(&own);
  EXPECT_EQ(knobs().cacheDir, "/own");
  EXPECT_EQ(processKnobs().cacheDir, ofProcess);
  std::thread([&] { EXPECT_EQ(knobs().cacheDir, ofProcess); }).join();
  {
    KnobsScope inner(nullptr);
    EXPECT_EQ(knobs().cacheDir, ofProcess);
  }
  EXPECT_EQ(knobs().cacheDir, "/own");
}

TEST(Knobs, DocumentationIsCurrent) {
  Expected<std::string> text = readFile(NEREID_SOURCE_DIR "/docs/KNOBS.md");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(differenceOfPage("docs/KNOBS.md", *text, knobsMarkdown()), "");
}

TEST(GeneratedPage, TheFirstDifferenceIsTold) {
  auto of = [](std::string_view page, std::string_view made) {
    return differenceOfPage("docs/A.md", page, made);
  };
  EXPECT_EQ(of("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(of("a\nbd\nx\n", "a\nbc\ny\n"),
            "docs/A.md:2: expected 'bc', got 'bd'; run scripts/update-docs");
  EXPECT_EQ(of("a\n", "a\nb\n"),
            "docs/A.md:2: expected 'b', got the end; run scripts/update-docs");
  EXPECT_EQ(of("ab", "a"),
            "docs/A.md:1: expected 'a', got 'ab'; run scripts/update-docs");
  EXPECT_EQ(of("", "a"),
            "docs/A.md:1: expected 'a', got the end; run scripts/update-docs");
}
