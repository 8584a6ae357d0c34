//===- DumpCommandTest.cpp - Stages written and read again ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/nereid/CommandFixture.h"

#include <set>

using namespace nereid;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

namespace {

class Dump : public Command {
protected:
  static constexpr const char *signature =
      " --signature '*fp32:16, *fp32:16, i32, fp32' ";

  CommandResult compile(const std::string &arguments,
                        const std::string &environment) {
    return run("compile k.py:scale" + std::string(signature) + arguments,
               environment);
  }
  /// Names of what is in a folder of the test's.
  std::set<std::string> list(const std::string &folder) {
    std::set<std::string> names;
    for (const auto &entry :
         std::filesystem::directory_iterator(root + "/" + folder)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
};

} // namespace

TEST_F(Dump, EveryStageIsANumberedFile) {
  ASSERT_EQ(compile("--target sm_90a --emit ptx", "NEREID_DUMP=d").code, 0);
  std::set<std::string> folders = list("d");
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_THAT(*folders.begin(), MatchesRegex("scale-[0-9a-f]{8}"));
  std::string folder = "d/" + *folders.begin();
  EXPECT_THAT(list(folder),
              ElementsAre("00.ast.txt", "10.tile.mlir", "20.tile-opt.mlir",
                          "30.tilegpu.mlir", "35.gpu.mlir", "40.llvm.mlir",
                          "50.ll", "60.ptx"));
  EXPECT_THAT(*readFile(root + "/" + folder + "/30.tilegpu.mlir"),
              HasSubstr("tilegpu.target = \"sm_90a\""));
}

TEST_F(Dump, TheStagesOfACpu) {
  ASSERT_EQ(
      compile("--target x86-64-v3 --emit obj -o s.o", "NEREID_DUMP=d").code, 0);
  ASSERT_EQ(list("d").size(), 1u);
  EXPECT_THAT(list("d/" + *list("d").begin()),
              ElementsAre("00.ast.txt", "10.tile.mlir", "20.tile-opt.mlir",
                          "30.cpu.mlir", "40.llvm.mlir", "50.ll", "60.s",
                          "70.o"));
}

TEST_F(Dump, SpecializationsOfOneKernelAreApart) {
  ASSERT_EQ(compile("--target sm_80 --emit ptx", "NEREID_DUMP=d").code, 0);
  ASSERT_EQ(compile("--target sm_90a --emit ptx", "NEREID_DUMP=d").code, 0);
  ASSERT_EQ(
      compile("--target sm_80 --emit ptx --num-warps 8", "NEREID_DUMP=d").code,
      0);
  EXPECT_EQ(list("d").size(), 3u);
  // The same again, from an edited source.
  std::string edited = commandKernels;
  edited.replace(edited.find("x * a"), 5, "a + x");
  ASSERT_TRUE(replaceFile(root + "/k.py", edited).ok());
  ASSERT_EQ(compile("--target sm_80 --emit ptx", "NEREID_DUMP=d").code, 0);
  EXPECT_EQ(list("d").size(), 3u);
}

TEST_F(Dump, AnEditedStageTakesTheStagesPlace) {
  ASSERT_EQ(compile("--target sm_90a --emit ptx", "NEREID_DUMP=d").code, 0);
  std::string path = root + "/d/" + *list("d").begin() + "/20.tile-opt.mlir";
  std::string text = *readFile(path);
  size_t multiply = text.find("arith.mulf");
  ASSERT_NE(multiply, std::string::npos) << text;
  text.replace(multiply, 10, "arith.divf");
  ASSERT_TRUE(replaceFile(path, text).ok());
  CommandResult r = compile("--target sm_90a --emit ptx",
                            "NEREID_OVERRIDE=d NEREID_LOG=compile");
  EXPECT_EQ(r.code, 0) << r.err;
  // The stages before it are what they were; those after it, which are in the
  // folder too, are made from it.
  EXPECT_THAT(r.err, HasSubstr("stage tile-opt from an edited file"));
  EXPECT_THAT(r.err, Not(HasSubstr("stage tile from")));
  EXPECT_THAT(r.err, Not(HasSubstr("stage tilegpu from")));
  EXPECT_THAT(r.out, HasSubstr("div."));
  // Another specialization is not touched.
  r = compile("--target sm_80 --emit ptx", "NEREID_OVERRIDE=d");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, Not(HasSubstr("div.")));
}

TEST_F(Dump, AnEditedStageThatIsNoIR) {
  ASSERT_EQ(compile("--target sm_90a --emit ptx", "NEREID_DUMP=d").code, 0);
  std::string path = root + "/d/" + *list("d").begin() + "/30.tilegpu.mlir";
  ASSERT_TRUE(replaceFile(path, "module {").ok());
  CommandResult r = compile("--target sm_90a --emit ptx", "NEREID_OVERRIDE=d");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err,
              HasSubstr("30.tilegpu.mlir:1:7: error: expected operation"));
}

TEST_F(Dump, TimesOfPasses) {
  CommandResult r = compile("--target sm_90a --emit ptx", "NEREID_TIME=1");
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char *pass :
       {" irgen ", " tile-simplify ", " cse ", " tile-to-tilegpu ",
        " tilegpu-schedule-loops ", " tilegpu-expand-loops ",
        " tilegpu-to-llvm ", " to-llvm "}) {
    EXPECT_THAT(r.err, HasSubstr(pass));
  }
}
