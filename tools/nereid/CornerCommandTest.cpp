//===- CornerCommandTest.cpp - Arithmetic at its ends, by the command -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops whose counter reaches the end of its type or does not move, and
// divisions by zero: every executor ends, with the same numbers.
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include <filesystem>

using namespace nereid;
using testing::ElementsAre;

namespace {

class Corners : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    const char *text = R"(import triton
import triton.language as tl


@triton.jit
def up(q, n, m, s, STEP: tl.constexpr):
    count = 0
    for i in range(n, m, STEP):
        count += 1
    tl.store(q, count)
    count = 0
    for i in range(n, m, s):
        count += 1
    tl.store(q + 1, count)


@triton.jit
def step(q, n, m, s):
    count = 0
    for i in range(n, m, s):
        count += 1
    tl.store(q, count)
    count = 0
    low, high = n.to(tl.uint32), m.to(tl.uint32)
    for i in range(low, high, s.to(tl.uint32)):
        count += 1
    tl.store(q + 1, count)


@triton.jit
def ahead(p, q, n, m, s):
    o = tl.arange(0, 16)
    at = o[:, None] * 16 + o[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for i in range(n, m, s):
        tile = tl.load(p + i * 256 + at)
        total = tl.dot(tile, tile, total)
    tl.store(q, tl.max(tl.max(total, 1), 0))


@triton.jit
def divide(p, q, n):
    o = tl.arange(0, 16)
    x = tl.load(p + o)
    tl.store(q, 7 // n)
    tl.store(q + 1, 7 % n)
    tl.store(q + 2, tl.sum(x // (x - x)))
    tl.store(q + 3, tl.sum(x % (x - x)))
    wide = x.to(tl.int64)
    tl.store(q + 4, tl.sum(wide // (wide - wide)).to(tl.int32))
    byte = x.to(tl.uint8)
    tl.store(q + 5, tl.sum((byte // (byte - byte)).to(tl.int32)))
)";
    ASSERT_TRUE(writeFileAtomically(root + "/c.py", text).ok());
  }

  std::vector<double> result(const std::string &arguments,
                             const std::string &device) {
    CommandResult r = run("run c.py:" + arguments + " --grid 1 --device " +
                              device + " --out q=q.npy",
                          "timeout 30");
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? npy("q.npy") : std::vector<double>();
  }

  /// With the machine's GPU, if it has one.
  std::vector<std::string> devices() {
    std::vector<std::string> all = {"cpu", "interp"};
    if (std::filesystem::exists("/dev/nvidiactl")) {
      all.push_back("cuda:0");
    }
    return all;
  }
};

} // namespace

TEST_F(Corners, LoopsEnd) {
  for (const char *device : {"cpu", "interp"}) {
    auto loops = [&](const std::string &bounds) {
      return result("up q=zeros:i32[2] " + bounds, device);
    };
    EXPECT_THAT(loops("n=2147483637 m=2147483647 s=4 STEP=4"),
                ElementsAre(3, 3));
    EXPECT_THAT(loops("n=2147483600 m=2147483647 s=2147483647 STEP=64"),
                ElementsAre(1, 1));
    EXPECT_THAT(loops("n=-2147483648 m=-2147483640 s=3 STEP=2147483647"),
                ElementsAre(1, 3));
    EXPECT_THAT(loops("n=0 m=10 s=0 STEP=3"), ElementsAre(4, 0));
    EXPECT_THAT(loops("n=0 m=10 s=-1 STEP=10"), ElementsAre(1, 0));
    EXPECT_THAT(loops("n=5 m=5 s=2 STEP=2"), ElementsAre(0, 0));
  }
}

TEST_F(Corners, LoopsWithARunTimeStepEnd) {
  for (const std::string &device : devices()) {
    auto loops = [&](const std::string &bounds) {
      return result("step q=zeros:i32[2] " + bounds, device);
    };
    EXPECT_THAT(loops("n=0 m=10 s=3"), ElementsAre(4, 4)) << device;
    EXPECT_THAT(loops("n=0 m=10 s=0"), ElementsAre(0, 0)) << device;
    // Without sign, -1 is the largest step, and the largest end.
    EXPECT_THAT(loops("n=0 m=10 s=-1"), ElementsAre(0, 1)) << device;
    EXPECT_THAT(loops("n=-9 m=-1 s=3"), ElementsAre(3, 3)) << device;
    EXPECT_THAT(loops("n=2147483637 m=2147483647 s=4"), ElementsAre(3, 3))
        << device;
    EXPECT_THAT(loops("n=5 m=-1 s=2147483647"), ElementsAre(0, 2)) << device;
  }
}

/// The copies in front of the loop and in it stay within the range.
TEST_F(Corners, CopiesAheadOfARunTimeStepStayInside) {
  for (const std::string &device : devices()) {
    auto loops = [&](const std::string &bounds) {
      return result("ahead p=full:1:f16[768] q=zeros:f32[1] " + bounds, device);
    };
    EXPECT_THAT(loops("n=0 m=3 s=2"), ElementsAre(32)) << device;
    EXPECT_THAT(loops("n=0 m=3 s=0"), ElementsAre(0)) << device;
    EXPECT_THAT(loops("n=0 m=3 s=-1000000"), ElementsAre(0)) << device;
    EXPECT_THAT(loops("n=2 m=3 s=2147483647"), ElementsAre(16)) << device;
    EXPECT_THAT(loops("n=2 m=3 s=4611686018427387904"), ElementsAre(16))
        << device;
    EXPECT_THAT(loops("n=0 m=3 s=-4611686018427387904"), ElementsAre(0))
        << device;
  }
}

TEST_F(Corners, ADivisorOfZeroCountsAsOne) {
  for (const char *device : {"cpu", "interp"}) {
    EXPECT_THAT(result("divide p=full:3:i32[16] q=zeros:i32[6] n=0", device),
                ElementsAre(7, 0, 48, 0, 48, 48));
  }
}
