//===- LanguageVersionTest.cpp - Where versions of upstream differ --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What chooses the version, and differences that types do not show. The types
// are in test/semantics, which has a table for each version.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/testing/IRGenTesting.h"
#include "nereid/Support/Knobs.h"

#include "gmock/gmock.h"

namespace nereid::irgen {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

CompileRequest requestOf(llvm::StringRef body,
                         std::optional<LanguageVersion> language) {
  CompileRequest request;
  request.source = {
      "k.py", prelude + ("@triton.jit\ndef k(p, n):\n" + body).str(), {}};
  request.source.language = language;
  request.kernel = "k";
  request.arguments = {argumentOf("*fp32"), argumentOf("i32")};
  return request;
}

Compiled compiledAs(LanguageVersion language, llvm::StringRef body) {
  return compileRequest(requestOf(body, language));
}

std::string hashOf(const CompileRequest &request) {
  auto description = describe(request.source, request.kernel);
  EXPECT_TRUE(description.ok());
  return description.ok() ? description->sourceHash : "";
}

/// The process's settings with these words for NEREID_LANGUAGE, while it lives.
class Setting {
public:
  explicit Setting(std::string_view text) {
    Knobs knobs = parseKnobs({{"NEREID_LANGUAGE", std::string(text)}}, said);
    old = exchangeKnobs(knobs);
  }
  ~Setting() { exchangeKnobs(old); }
  std::vector<std::string> said;

private:
  Knobs old;
};

} // namespace

/// What upstream's format strings have: 0x%08x before, %a since.
TEST(LanguageVersion, HexadecimalFloats) {
  const char *body = "  tl.device_print('p', tl.load(p), n, hex=True)\n";
  EXPECT_THAT(compiledAs(LanguageVersion::V3_8, body).tile,
              AllOf(HasSubstr("{dtype = \"u32\", hex} : i32"),
                    HasSubstr("{dtype = \"i32\", hex} : i32"),
                    Not(HasSubstr("fp32\", hex"))));
  EXPECT_THAT(compiledAs(LanguageVersion::V3_9, body).tile,
              AllOf(HasSubstr("{dtype = \"fp32\", hex} : f32"),
                    HasSubstr("{dtype = \"i32\", hex} : i32")));
}

TEST(LanguageVersion, NegatedFloats) {
  const char *body = "  tl.store(p, -tl.load(p))\n";
  EXPECT_THAT(compiledAs(LanguageVersion::V3_7, body).tile,
              AllOf(HasSubstr("arith.subf"), Not(HasSubstr("arith.negf"))));
  EXPECT_THAT(compiledAs(LanguageVersion::V3_8, body).tile,
              AllOf(HasSubstr("arith.negf"), Not(HasSubstr("arith.subf"))));
}

TEST(LanguageVersion, NumbersInComparisons) {
  const char *body = "  x = tl.load(p).to(tl.int8)\n"
                     "  tl.store(p, (x < 200).to(tl.float32))\n";
  EXPECT_THAT(compiledAs(LanguageVersion::V3_8, body).tile,
              HasSubstr("arith.cmpi slt, %2, %c200_i32"));
  Compiled refused = compiledAs(LanguageVersion::V3_9, body);
  EXPECT_EQ(refused.marked(), "x < 200");
  EXPECT_THAT(refused.failure.str(),
              AllOf(HasSubstr("the number 200 is out of range for int8"),
                    HasSubstr("x.to(tl.int64)")));
}

TEST(LanguageVersion, ComparisonChains) {
  std::string tile =
      compiledAs(LanguageVersion::V3_6,
                 "  tl.store(p, (0 < n * 3 <= 8).to(tl.float32))\n")
          .tile;
  EXPECT_THAT(tile, AllOf(HasSubstr("arith.cmpi slt, %c0_i32"),
                          HasSubstr("arith.cmpi sle, %0, %c8_i32"),
                          HasSubstr("arith.andi")));
  EXPECT_EQ(llvm::StringRef(tile).count("arith.muli"), 1u) << tile;
  // What is known to be false ends it: nothing is asked of n.
  EXPECT_THAT(compiledAs(LanguageVersion::V3_9,
                         "  if 3 < 2 < n:\n    tl.store(p, 1.0)\n")
                  .tile,
              Not(HasSubstr("arith.cmpi")));
}

TEST(LanguageVersion, TheSourceSaysElseTheSetting) {
  const char *body = "  VERSION: tl.constexpr = triton.__version__\n"
                     "  tl.static_assert(False, VERSION)\n";
  auto version = [&](std::optional<LanguageVersion> language) {
    return compileRequest(requestOf(body, language)).failure.str();
  };
  EXPECT_THAT(version(std::nullopt), HasSubstr("3.9.0"));
  EXPECT_THAT(version(LanguageVersion::V3_6), HasSubstr("3.6.0"));
  Setting setting("3.7");
  EXPECT_TRUE(setting.said.empty());
  EXPECT_THAT(version(std::nullopt), HasSubstr("3.7.0"));
  EXPECT_THAT(version(LanguageVersion::V3_8), HasSubstr("3.8.0"));
}

TEST(LanguageVersion, UnknownSettingsAreTold) {
  Setting setting("3.5");
  EXPECT_THAT(setting.said,
              testing::ElementsAre(AllOf(HasSubstr("NEREID_LANGUAGE: '3.5'"),
                                         HasSubstr("3.6,3.7,3.8,3.9"))));
  EXPECT_EQ(knobs().languageVersion(), LanguageVersion::V3_9);
}

TEST(LanguageVersion, IsPartOfTheSourceHash) {
  const char *body = "  tl.store(p, 1.0)\n";
  std::string newest = hashOf(requestOf(body, std::nullopt));
  EXPECT_EQ(newest, hashOf(requestOf(body, LanguageVersion::V3_9)));
  EXPECT_NE(newest, hashOf(requestOf(body, LanguageVersion::V3_8)));
  Setting setting("3.8");
  EXPECT_NE(newest, hashOf(requestOf(body, std::nullopt)));
}

} // namespace nereid::irgen
