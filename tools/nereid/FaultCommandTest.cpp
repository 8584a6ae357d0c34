//===- FaultCommandTest.cpp - Kernels that leave their arrays -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

using testing::AllOf;
using testing::HasSubstr;

namespace nereid {

class FaultCommand : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    ASSERT_TRUE(writeFileAtomically(root + "/far.py", R"(import triton
import triton.language as tl


@triton.jit
def pick(x_ptr, at):
    return tl.load(x_ptr + at)


@triton.jit
def far(x_ptr, y_ptr, at, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i)
    x = tl.load(x_ptr + at + i)
    tl.store(y_ptr + i, x + y)


@triton.jit
def copy(x_ptr, y_ptr, at, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + at + i, tl.load(x_ptr + i))


@triton.jit
def through_a_call(x_ptr, y_ptr, at):
    tl.store(y_ptr, pick(x_ptr, at))


@triton.jit
def row(y_ptr, width):
    tl.store(y_ptr + tl.program_id(0), tl.program_id(0) * width)
)")
                    .ok());
  }
  static constexpr const char *arrays =
      " --grid 1 x_ptr=zeros:f32[64] y_ptr=zeros:f32[64] at=-1099511627776 ";
};

TEST_F(FaultCommand, TheLineAndTheArrayAreTold) {
  CommandResult r = run(std::string("run far.py:far BLOCK=64") + arrays);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(
      r.err,
      AllOf(HasSubstr("far: the kernel was stopped"),
            HasSubstr("far.py:14:9: error: segmentation fault at address 0x"),
            HasSubstr("x = tl.load(x_ptr + at + i)"),
            HasSubstr("in front of '"),
            HasSubstr("which is fp32[64] (element -109951"),
            HasSubstr("NEREID_CHECK=oob")));
}

TEST_F(FaultCommand, TheLineIsThatOfTheFunctionCalled) {
  CommandResult r = run(std::string("run far.py:through_a_call") + arrays);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("far.py:7:12: error: segmentation fault"));
}

TEST_F(FaultCommand, TheSameLineComesFromACachedImage) {
  for (int i = 0; i < 2; ++i) {
    CommandResult r = run(std::string("run far.py:far BLOCK=64") + arrays);
    EXPECT_THAT(r.err, HasSubstr("far.py:14:9: error: segmentation fault"));
  }
}

/// Arrays lie between pages that no thread may touch.
TEST_F(FaultCommand, AKernelThatLeavesItsArraysByLittleIsStopped) {
  struct {
    const char *size, *at, *block;
  } cases[] = {{"1000", "0", "1024"},
               {"1000", "-1000", "64"},
               {"70000", "0", "131072"},
               {"70000", "-1000", "64"},
               // Of huge pages.
               {"1500000", "1400000", "131072"}};
  for (const auto &[size, at, block] : cases) {
    CommandResult r =
        run(std::string("run far.py:copy --grid 1 --device cpu at=") + at +
            " x_ptr=zeros:f32[131072] y_ptr=zeros:f32[" + size +
            "] BLOCK=" + block);
    EXPECT_EQ(r.code, 1) << size << at;
    EXPECT_THAT(r.err, AllOf(HasSubstr("copy: the kernel was stopped"),
                             HasSubstr("far.py:21:5: error: segmentation"),
                             HasSubstr("of 'y_ptr', which is fp32["),
                             HasSubstr("NEREID_CHECK=oob")))
        << size << at;
  }
}

TEST_F(FaultCommand, AKernelThatStaysInItsArraysIsNotStopped) {
  for (int size : {1, 15, 16, 1023, 1024, 1025, 4096}) {
    std::string shape = ":f32[" + std::to_string(size) + "]";
    CommandResult r = run("run far.py:copy --grid 1 --device cpu at=" +
                          std::to_string(size - 1) + " x_ptr=full:3" + shape +
                          " y_ptr=zeros" + shape + " BLOCK=1 --print y_ptr");
    EXPECT_EQ(r.code, 0) << size << r.err;
    EXPECT_THAT(r.out, HasSubstr("3"));
  }
}

TEST_F(FaultCommand, ArraysOfLaunchFilesLieBetweenGuards) {
  ASSERT_TRUE(writeFileAtomically(root + "/l.json", R"({
    "kernel": "far.py:copy", "grid": [1],
    "storages": [{"bytes": 4096}, {"bytes": 64}],
    "arguments": {
      "x_ptr": {"tensor": {"storage": 0, "dtype": "fp32", "shape": [1024]}},
      "y_ptr": {"tensor": {"storage": 1, "dtype": "fp32", "shape": [16]}},
      "at": 0, "BLOCK": 1024}})")
                  .ok());
  CommandResult r = run("run --launch l.json --device cpu");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.out + r.err, HasSubstr("of 'y_ptr', which is fp32[16]"));
}

TEST_F(FaultCommand, ChecksFindWhatTheHintSaysTheyFind) {
  CommandResult r =
      run(std::string("run far.py:far BLOCK=64") + arrays, "NEREID_CHECK=oob");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, HasSubstr("far.py:14:9: error: out-of-bounds access"));
}

TEST_F(FaultCommand, ChecksFindIntegersThatOverflow) {
  std::string command = "run far.py:row --grid 4 y_ptr=zeros:i32[4] width=";
  for (const char *device : {" --device cpu", " --device interp"}) {
    CommandResult r =
        run(command + "715827883" + device, "NEREID_CHECK=overflow");
    EXPECT_EQ(r.code, 1);
    EXPECT_THAT(r.err, AllOf(HasSubstr("far.py:31:40: error:"),
                             HasSubstr("int32 overflow in '*'"),
                             HasSubstr("in program (3, 0, 0)")));
    r = run(command + "715827882" + device, "NEREID_CHECK=overflow");
    EXPECT_EQ(r.code, 0) << r.err;
  }
}

TEST_F(FaultCommand, TheReferenceExecutorSaysWhichKernel) {
  CommandResult r =
      run(std::string("run far.py:far BLOCK=64 --device interp") + arrays);
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("error: segmentation fault"),
                           HasSubstr("in kernel 'far' on interp"),
                           HasSubstr("'x_ptr', fp32[64], lies at 0x")));
}

TEST_F(FaultCommand, LinesOfTheMachineCodeCanBeLookedAt) {
  CommandResult r = run("compile far.py:far --emit lines --signature "
                        "'*fp32,*fp32,i64,BLOCK=64'");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr(" 14 9 14 32 far.py\n"));
}

//===----------------------------------------------------------------------===//
// --check
//===----------------------------------------------------------------------===//

TEST_F(FaultCommand, CheckSaysWhereAKernelLeavesItsArrays) {
  CommandResult r = run("run far.py:far --check BLOCK=64 --grid 1 "
                        "x_ptr=zeros:f32[100] y_ptr=zeros:f32[64] at=40");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("far: the kernel leaves its arrays"),
                    HasSubstr("far.py:14:9: error: this loads outside of "
                              "the launch's arrays: element 100 of "
                              "'x_ptr'")));
}

TEST_F(FaultCommand, CheckTakesTheNameOfTheReference) {
  std::string launch = " run k.py:scale --grid 'cdiv(n, BLOCK_SIZE)' "
                       "x_ptr=randn:bf16[1000] y_ptr=zeros:bf16[1000] n=1000 "
                       "a=0.3 ";
  for (const char *spelling : {"--check", "--check interp", "--check=interp",
                               "--check interp --time"}) {
    CommandResult r = run(launch + spelling);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(r.out, AllOf(HasSubstr("check x_ptr on cpu: bf16[1000]: right, "
                                       "equal\n"),
                             HasSubstr("check y_ptr on cpu: bf16[1000]: right, "
                                       "max diff ")));
  }
  CommandResult r = run(launch + "--check=cpu");
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err, HasSubstr("--check 'cpu': expected interp"));
}

/// As the format strings of upstream's 3.9 and 3.8.
TEST_F(FaultCommand, PrintsFloatsAsUpstreamDoes) {
  ASSERT_TRUE(writeFileAtomically(root + "/print.py", R"(import triton
import triton.language as tl


@triton.jit
def show(x, h, n):
    tl.device_print("x", tl.load(x + tl.arange(0, 2)), hex=True)
    tl.device_print("h", tl.load(h), hex=True)
    tl.device_print("n", n, hex=True)
)")
                  .ok());
  for (const char *device : {"cpu", "interp", "cuda:0"}) {
    auto shown = [&](const char *language) {
      return run("run print.py:show x=full:1.5:f32[2] h=full:-0.25:f16[1] "
                 "n=255 --grid 1 --device " +
                     std::string(device),
                 "NEREID_CUDA_DRIVER=simulator NEREID_LANGUAGE=" +
                     std::string(language))
          .out;
    };
    EXPECT_EQ(shown("3.9"), "pid (0, 0, 0) idx (0) x: 0x1.8p+0\n"
                            "pid (0, 0, 0) idx (1) x: 0x1.8p+0\n"
                            "pid (0, 0, 0) idx () h: -0x1p-2\n"
                            "pid (0, 0, 0) idx () n: 0x000000ff\n")
        << device;
    EXPECT_EQ(shown("3.8"), "pid (0, 0, 0) idx (0) x: 0x3fc00000\n"
                            "pid (0, 0, 0) idx (1) x: 0x3fc00000\n"
                            "pid (0, 0, 0) idx () h: 0xb400\n"
                            "pid (0, 0, 0) idx () n: 0x000000ff\n")
        << device;
  }
}

} // namespace nereid
