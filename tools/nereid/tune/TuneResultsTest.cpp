//===- TuneResultsTest.cpp - No configuration that computes wrongly -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each file of test/tune/wrong is a kernel whose list has configurations that
// compute something else. Its first lines say so:
//
//   # what is wrong, in words
//   # launch: arguments and grid
//   # wrong: NAME=VALUE ...   of a configuration that must not be chosen
//   # decided                 a choice is expected, and not status 1
//
// None of the wrong ones may be chosen, or kept.
//
//===----------------------------------------------------------------------===//

#include "tools/nereid/CommandFixture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace nereid;
using testing::HasSubstr;
using testing::Not;

namespace {

struct WrongKernel {
  std::string path, launch;
  std::vector<std::string> wrong;
  bool isDecided = false;
};

WrongKernel readKernel(const std::filesystem::path &path) {
  WrongKernel kernel{path.string(), "", {}, false};
  std::istringstream lines(*readFile(kernel.path));
  for (std::string line; std::getline(lines, line) && line[0] == '#';) {
    auto rest = [&](const std::string &begin) {
      return std::istringstream(
          line.starts_with(begin) ? line.substr(begin.size()) : std::string());
    };
    auto launch = rest("# launch: "), wrong = rest("# wrong: ");
    for (std::string word; launch >> word;) {
      kernel.launch += " '" + word + "'";
    }
    for (std::string word; wrong >> word;) {
      kernel.wrong.push_back(word);
    }
    kernel.isDecided |= line == "# decided";
  }
  return kernel;
}

std::vector<WrongKernel> wrongKernels() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry :
       std::filesystem::directory_iterator(NEREID_WRONG_KERNELS)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<WrongKernel> kernels;
  for (const auto &path : paths) {
    kernels.push_back(readKernel(path));
  }
  return kernels;
}

std::string nameOf(const WrongKernel &kernel) {
  return std::filesystem::path(kernel.path).stem().string();
}

class TuneResults : public Command {
protected:
  size_t kept() {
    std::error_code none;
    size_t count = 0;
    for (const auto &entry :
         std::filesystem::directory_iterator(root + "/cache/tuned", none)) {
      count += entry.path().extension() == ".json";
    }
    return count;
  }
};

class WrongConfigurations : public TuneResults,
                            public testing::WithParamInterface<WrongKernel> {};

} // namespace

TEST_P(WrongConfigurations, AreNeverChosen) {
  const WrongKernel &kernel = GetParam();
  // No load of the machine makes a trial that ends look hung.
  CommandResult tuned =
      run("tune " + kernel.path + ":kernel" + kernel.launch +
          " --rounds 2 --limit 3600 --json r.json --export e.json");
  if (tuned.code == 0) {
    auto record = nlohmann::json::parse(*readFile(root + "/r.json"));
    for (const std::string &word : kernel.wrong) {
      EXPECT_THAT(" " + tuned.out.substr(0, tuned.out.find('\n')) + " ",
                  Not(HasSubstr(" " + word + " ")));
    }
    EXPECT_EQ(kept(), 1u);
    return;
  }
  EXPECT_EQ(tuned.code, 1) << tuned.err;
  EXPECT_FALSE(kernel.isDecided) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("configurations disagree"));
  EXPECT_THAT(tuned.err, HasSubstr("nothing is kept and nothing is exported"));
  EXPECT_THAT(tuned.out, HasSubstr("no choice"));
  EXPECT_EQ(kept(), 0u);
  EXPECT_FALSE(std::filesystem::exists(root + "/e.json") &&
               std::filesystem::file_size(root + "/e.json"));
}

INSTANTIATE_TEST_SUITE_P(All, WrongConfigurations,
                         testing::ValuesIn(wrongKernels()),
                         [](const auto &info) { return nameOf(info.param); });

TEST_F(TuneResults, ThereAreFortyKernels) {
  EXPECT_GE(wrongKernels().size(), 40u);
}

TEST_F(TuneResults, ALaunchSaysThatItsConfigurationsDisagree) {
  WrongKernel kernel =
      readKernel(std::string(NEREID_WRONG_KERNELS) + "/disjoint_halves.py");
  std::string launch = "run " + kernel.path + ":kernel" + kernel.launch;
  for (int process = 0; process < 2; ++process) {
    CommandResult ran = run(launch);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("configurations disagree, and nothing says "
                                   "which is right"));
    EXPECT_THAT(ran.err, HasSubstr("no choice is kept"));
    EXPECT_EQ(kept(), 0u);
  }
}

TEST_F(TuneResults, WhatWritesLessIsNamed) {
  WrongKernel kernel = readKernel(std::string(NEREID_WRONG_KERNELS) +
                                  "/softmax_block_too_small.py");
  CommandResult tuned = run("tune " + kernel.path + ":kernel" + kernel.launch +
                            " --rounds 2 --limit 3600");
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("it writes 16384 of the 64000 elements of "
                                   "'y' that others write"));
}

/// Narrow blocks are the fastest of a search, and there are more of them.
TEST_F(TuneResults, ASearchDoesNotEndWithABlockThatIsTooSmall) {
  ASSERT_TRUE(writeFileAtomically(root + "/l.py", R"(import triton
import triton.language as tl


@triton.jit
def backward(dx, x, dy, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    for r in range(ROWS):
        at = (tl.program_id(0) * ROWS + r) * n + c
        v = tl.load(x + at, mask=c < n, other=0.0)
        g = tl.load(dy + at, mask=c < n, other=0.0)
        tl.store(dx + at, g - v * (tl.sum(v * g, axis=0) / n), mask=c < n)
)")
                  .ok());
  CommandResult tuned =
      run("tune l.py:backward dx=zeros:f32[64,100] x=randn:f32[64,100] "
          "dy=randn:f32[64,100] n=100 --grid 'cdiv(64,ROWS)' --search "
          "--values ROWS=1,2,4 --values BLOCK=8,16,32,64,128,256 "
          "--rounds 2 --seconds 600 --limit 3600 --json r.json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  auto record = nlohmann::json::parse(*readFile(root + "/r.json"));
  EXPECT_GE(record["config"]["BLOCK"], 128) << tuned.out;
  // Nor does one by powers of two, none of whose first guesses is wide enough.
  tuned = run("tune l.py:backward dx=zeros:f32[128,300] x=randn:f32[128,300] "
              "dy=randn:f32[128,300] n=300 --grid 'cdiv(128,ROWS)' --search "
              "--rounds 2 --seconds 600 --limit 3600 --json r.json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  record = nlohmann::json::parse(*readFile(root + "/r.json"));
  EXPECT_GE(record["config"]["BLOCK"], 512) << tuned.out;
}
