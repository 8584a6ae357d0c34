//===- BindCommandTest.cpp - What the command line says of host code ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

using namespace nereid;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Result = CommandResult;

namespace {

class Bind : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    const char *text = R"(import triton
import triton.language as tl
import host

FAST = host.is_fast()
SIZE: tl.constexpr = 4 if FAST else 2


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in host.blocks() + [8]], key=[])
@triton.heuristics({"TWICE": lambda args: host.twice(args["BLOCK"])})
@triton.jit
def k(p, BLOCK: tl.constexpr, TWICE: tl.constexpr, MORE: tl.constexpr = host.more() + 1):
    tl.store(p + tl.arange(0, BLOCK), SIZE * TWICE + MORE)
)";
    ASSERT_TRUE(writeFileAtomically(root + "/b.py", text).ok());
  }
};

} // namespace

TEST_F(Bind, GlobalsOfTheHost) {
  std::string launch = "run b.py:k --grid 1 p=zeros:i32[2] BLOCK=2 TWICE=3 "
                       "MORE=1 --out p=p.npy";
  EXPECT_THAT(run(launch).err,
              AllOf(HasSubstr("'host.is_fast(...)'"),
                    HasSubstr("--bind SIZE=VALUE"), HasSubstr("docs/HOST.md")));
  Result r = run(launch + " --bind FAST=True");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(npy("p.npy"), ElementsAre(13, 13));
  r = run(launch + " --bind FAST=False --device interp");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(npy("p.npy"), ElementsAre(7, 7));
  EXPECT_THAT(run(launch + " --bind FAST").err, HasSubstr("NAME=VALUE"));
  EXPECT_THAT(run(launch + " --bind FAST=maybe").err,
              AllOf(HasSubstr("--bind FAST=maybe"), HasSubstr("no value")));
}

TEST_F(Bind, WhatIsNotGivenIsAskedFor) {
  // The host code that would say it is named.
  Result r = run("run b.py:k --grid 1 p=zeros:i32[2] BLOCK=2 TWICE=3 --bind "
                 "FAST=True");
  EXPECT_NE(r.code, 0);
  EXPECT_THAT(r.err, AllOf(HasSubstr("missing argument 'MORE'"),
                           HasSubstr("host.more")));
}

TEST_F(Bind, Compile) {
  std::string command = "compile b.py:k --emit tile --signature 'p=*i32, "
                        "BLOCK=2, TWICE=3, MORE=0'";
  EXPECT_THAT(run(command).err, HasSubstr("--bind SIZE=VALUE"));
  Result r = run(command + " --bind SIZE=7");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("21"));
  EXPECT_THAT(run("compile b.py:k --emit tile --bind SIZE=7 --signature "
                  "'p=*i32, BLOCK=2, TWICE=3'")
                  .err,
              AllOf(HasSubstr("expected an entry for 'MORE', got none"),
                    HasSubstr("host.more")));
}

TEST_F(Bind, MistakesInDecoratorsAreWarnings) {
  const char *text = R"(import triton
@triton.autotune(configs=[triton.Config({}, num_warp=4)], key=[])
@triton.jit
def k(n):
    pass
)";
  ASSERT_TRUE(writeFileAtomically(root + "/w.py", text).ok());
  Result r = run("run w.py:k --grid 1 n=1");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("w.py:2"), HasSubstr("warning"),
                           HasSubstr("no parameter 'num_warp'")));
}

TEST_F(Bind, AnswersAreListed) {
  EXPECT_THAT(run("builtins --host").out, HasSubstr("torch.version.hip"));
}
