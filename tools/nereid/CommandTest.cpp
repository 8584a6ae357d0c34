//===- CommandTest.cpp - The program, as a user runs it -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include "nereid/Support/CpuLevels.h"

using namespace nereid;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Result = CommandResult;

TEST_F(Command, RunOnBothDevices) {
  for (const char *device : {"cpu", "interp"}) {
    Result r = run("run k.py:scale --device " + std::string(device) +
                   " --grid 'cdiv(n, BLOCK_SIZE)' x_ptr=arange:f32[100] "
                   "y_ptr=empty:f32[100] n=100 a=2.5 --out y_ptr=y.npy");
    ASSERT_EQ(r.code, 0) << r.err;
    std::vector<double> y = npy("y.npy");
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(y[i], 2.5 * i);
    }
  }
}

TEST_F(Command, RunReadsFilesAndWritesSeveral) {
  saveNpy(root + "/x.npy", arange({4}, f32));
  Result r = run("run k.py:scale --grid 1 x_ptr=@x.npy y_ptr=zeros:f32[4] n=4 "
                 "a=3 BLOCK_SIZE=16 num_warps=2 --out y_ptr=y.npy --out "
                 "x_ptr=again.npy --print y_ptr");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(npy("y.npy"), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(npy("again.npy"), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(r.out, "y_ptr: fp32[4] 0 3 6 9\n");
}

TEST_F(Command, RawBitsThatNumpyCannotName) {
  saveNpy(root + "/x.npy", arange({4}, bf16)); // V2 in the file
  Result r = run("run k.py:scale --grid 1 x_ptr=@x.npy:bf16 "
                 "y_ptr=zeros:f32[4] n=4 a=2 --out y_ptr=y.npy");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(npy("y.npy"), ElementsAre(0, 2, 4, 6));
}

TEST_F(Command, GridsOfTwoDimensionsAndStrings) {
  for (const char *mode : {"rows", "columns"}) {
    Result r = run("run k.py:fill2d --grid 'ROWS, COLS' y_ptr=zeros:i32[2,3] "
                   "ROWS=2 COLS=3 'MODE=\"" +
                   std::string(mode) + "\"' --out y_ptr=y.npy");
    ASSERT_EQ(r.code, 0) << r.err;
    if (mode[0] == 'r') {
      EXPECT_THAT(npy("y.npy"), ElementsAre(0, 0, 0, 1, 1, 1));
    } else {
      EXPECT_THAT(npy("y.npy"), ElementsAre(0, 1, 2, 0, 1, 2));
    }
  }
}

TEST_F(Command, IntegersUpToTwoToThe64) {
  ASSERT_TRUE(writeFileAtomically(root + "/big.py", R"(import triton
import triton.language as tl


@triton.jit
def halves(y_ptr, n, K: tl.constexpr):
    tl.static_assert(n.dtype == tl.uint64)
    tl.store(y_ptr, n >> 32)
    tl.store(y_ptr + 1, n & 0xFFFFFFFF)
    tl.store(y_ptr + 2, K >> 32)
    tl.store(y_ptr + 3, K & 0xFFFFFFFF)
)")
                  .ok());
  for (const char *device : {"cpu", "interp"}) {
    Result r = run("run big.py:halves --grid 1 y_ptr=zeros:i64[4] "
                   "n=18446744073709551614 K=0x8000000000000001 --out "
                   "y_ptr=y.npy --device " +
                   std::string(device));
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(npy("y.npy"),
                ElementsAre(4294967295.0, 4294967294.0, 2147483648.0, 1));
  }
  Result r = run("run big.py:halves --grid 1 y_ptr=zeros:i64[4] "
                 "n=18446744073709551616 K=1");
  EXPECT_NE(r.code, 0);
  EXPECT_THAT(r.err, HasSubstr("n=18446744073709551616"));
}

TEST_F(Command, SeedsAreRepeatableAndArraysDiffer) {
  auto draw = [&](const std::string &seed) {
    Result r = run("run k.py:scale --grid 0 x_ptr=randn:f32[50] "
                   "y_ptr=randn:f32[50] n=50 a=1 --seed " +
                   seed + " --out x_ptr=x.npy --out y_ptr=y.npy");
    EXPECT_EQ(r.code, 0) << r.err;
    return std::pair(npy("x.npy"), npy("y.npy"));
  };
  auto [x, y] = draw("1");
  EXPECT_NE(x, y);
  EXPECT_EQ(draw("1"), std::pair(x, y));
  EXPECT_NE(draw("2").first, x);
}

TEST_F(Command, CheckComparesDevices) {
  Result r = run("run k.py:scale --grid 'cdiv(n, BLOCK_SIZE)' "
                 "x_ptr=randn:f32[1000] y_ptr=zeros:f32[1000] n=1000 a=0.3 "
                 "--check");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_THAT(r.out,
              HasSubstr("check y_ptr on cpu: fp32[1000]: right, max diff"));
}

TEST_F(Command, TimePrintsMilliseconds) {
  Result r = run("run k.py:scale --grid 1 x_ptr=zeros:f32[64] "
                 "y_ptr=zeros:f32[64] n=64 a=1 --repeat 5");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out,
              AllOf(HasSubstr("grid 1: first launch"),
                    HasSubstr("scale: median"), HasSubstr("5 launches")));
}

TEST_F(Command, RunErrorsSayWhatToDo) {
  struct Case {
    const char *arguments, *expected;
  } cases[] = {
      {"run k.py:scal --grid 1", "did you mean 'scale'"},
      {"run k.py --grid 1", "has the kernels"},
      {"run none.py:k --grid 1", "none.py"},
      {"run k.py:scale --grid 1 --device cup", "did you mean 'cpu'"},
      {"run k.py:scale --grid 1 x_ptr=1,", "x_ptr=1,: expected a number"},
      {"run k.py:scale --grid 1 x_ptr", "expected NAME=VALUE"},
      {"run k.py:scale --grid 1 x_ptr=rnd:f32[4]", "did you mean 'rand'"},
      {"run k.py:scale --grid 1 x_ptr=rand:f33[4]",
       "expected a dtype such as f32 or i64, got 'f33'"},
      {"run k.py:scale --grid 1 x_ptr=full:f32[4]", "full:2.5:f32[8]"},
      {"run k.py:scale --grid 1 x_ptr=rand:f32[a]",
       "expected an integer of 64 bits, got 'a'"},
      {"run k.py:scale --grid 1 x_ptr=@none.npy", "none.npy"},
      {"run k.py:scale --grid 1 x_ptr=rand:i32[4]", "use randint"},
      {"run k.py:scale --grid 1 x_ptr=zeros:f32[4] --out y=f.npy",
       "expected the name of an array argument (x_ptr), got 'y'"},
      {"run k.py:scale --grid 1 x_ptr=zeros:f32[4]", "missing arguments"},
      {"run k.py:scale --grid 1,1,1,1", "one to three sizes"},
      {"run k.py:scale --grid 1.5 x_ptr=zeros:f32[1] y_ptr=zeros:f32[1] n=0 "
       "a=1",
       "expected integers, got 1.5"},
      {"run k.py:scale --grid m x_ptr=zeros:f32[1] y_ptr=zeros:f32[1] n=0 a=1",
       "'m'"},
      {"run k.py:scale --grid -1 x_ptr=zeros:f32[1] y_ptr=zeros:f32[1] n=0 a=1",
       "grid dimension 0 is -1"},
      {"run k.py:wrong --grid 1 x_ptr=zeros:f32[4] BLOCK=4",
       "k.py:24:43: error: the name 'undefined_name' is not defined"},
  };
  for (const Case &c : cases) {
    Result r = run(c.arguments);
    EXPECT_NE(r.code, 0) << c.arguments;
    EXPECT_LE(r.code, 2) << c.arguments << r.err;
    EXPECT_THAT(r.err, HasSubstr(c.expected)) << c.arguments;
  }
}

TEST_F(Command, CompileEmitsEveryStage) {
  std::string head = "compile k.py:scale --signature '*fp32:16, *fp32:16, i32, "
                     "fp32' --emit ";
  const std::pair<const char *, const char *> stages[] = {
      {"ast", "FunctionDef"}, {"tile", "tile."},  {"tile-opt", "tile."},
      {"cpu", "scale"},       {"llvm", "define"}, {"asm", ".text"}};
  for (auto [stage, expected] : stages) {
    Result r = run(head + stage);
    EXPECT_EQ(r.code, 0) << stage << r.err;
    EXPECT_THAT(r.out, HasSubstr(expected)) << stage;
  }
  Result r = run(head + "obj");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(*readFile(root + "/scale.o"), StartsWith("\x7f"
                                                       "ELF"));
  r = run(head + "asm -o s.s --num-warps 8 --target x86-64-v3");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(*readFile(root + "/s.s"), HasSubstr("scale"));
}

TEST_F(Command, CompileEmitsEveryStageOfAGpu) {
  std::string head = "compile k.py:scale --signature '*fp32:16, *fp32:16, i32, "
                     "fp32' --target sm_90a --emit ";
  const std::pair<const char *, const char *> stages[] = {
      {"tilegpu", "#tilegpu.layout"},
      {"gpu", "nvvm.kernel"},
      {"llvm", "ptx_kernel"},
      {"ptx", ".visible .entry scale"}};
  for (auto [stage, expected] : stages) {
    Result r = run(head + stage);
    EXPECT_EQ(r.code, 0) << stage << r.err;
    EXPECT_THAT(r.out, HasSubstr(expected)) << stage;
  }
}

TEST_F(Command, ChecksAreCompiledForAGpu) {
  Result r =
      run("compile k.py:scale --signature '*fp32:16, *fp32:16, i32, "
          "fp32' --target sm_90a --emit ptx --instrument oob,nan,assert");
  EXPECT_EQ(r.code, 0) << r.err;
  // The first thread to fail takes the record.
  EXPECT_THAT(r.out, AllOf(HasSubstr("atom"), HasSubstr(".cas.b32")));
}

TEST_F(Command, CompileShowsItsTimes) {
  setenv("NEREID_TIME", "1", 1);
  Result r = run("compile k.py:scale --signature '*fp32:16, *fp32:16, i32, "
                 "fp32' --emit obj");
  unsetenv("NEREID_TIME");
  EXPECT_THAT(r.err, testing::ContainsRegex(
                         "scale .cpu. compiled in .* irgen .*codegen"));
}

TEST_F(Command, CompileErrors) {
  struct Case {
    const char *arguments, *expected;
  } cases[] = {
      {"compile k.py:scale", "for example: --signature 'x_ptr=*fp32"},
      {"compile k.py:scale --emit tiles", "did you mean 'tile'"},
      {"compile k.py:scale --emit ptx",
       "expected a stage of the target 'cpu', which are ast, tile"},
      {"compile k.py:scale --emit ptx --target H100",
       "--target: 'H100' is a chip; expected its architecture, sm_90a"},
      {"compile k.py:scale --emit hsaco --target MI300X",
       "--target: 'MI300X' is a chip; expected its architecture, gfx942"},
      {"compile k.py:scale --emit asm --target sm_90a",
       "expected a stage of the target 'sm_90a', which are ast, tile"},
      {"compile k.py:scale --signature '*fp32, *fp32, i32, fp32' --target "
       "sm_91",
       "no GPU architecture 'sm_91'; expected one of sm_70"},
      {"compile k.py:scale --signature '*fp32, *fp32, i32, fp32' --target "
       "sm_80 --num-warps 3",
       "num_warps is 3; expected 1, 2, 4, 8, 16 or 32 for sm_80"},
      {"compile k.py:scale --signature 'x=*fp32'",
       "expected a parameter of scale (x_ptr, y_ptr, n, a, BLOCK_SIZE), got "
       "'x'"},
      {"compile k.py:scale --signature '*fp33'", "got '*fp33'"},
      {"compile k.py:scale --signature '*fp32:8'", "got ':8'"},
      {"compile k.py:scale --signature '*fp32,x_ptr=*fp32'",
       "expected one entry for 'x_ptr', got two"},
      {"compile k.py:scale --signature '1,2,3,4,5,6'", "has 5 parameters"},
      {"compile k.py:scale --signature '*fp32,*fp32,i32,fp32:16'",
       "expected a float type alone, got ':16'"},
      {"compile k.py:scale --instrument race", "oob, nan, assert or overflow"},
      {"compile k.py:wrong --signature '*fp32,4'", "undefined_name"},
  };
  for (const Case &c : cases) {
    Result r = run(c.arguments);
    EXPECT_NE(r.code, 0) << c.arguments;
    EXPECT_LE(r.code, 2) << c.arguments << r.err;
    EXPECT_THAT(r.err, HasSubstr(c.expected)) << c.arguments;
  }
}

TEST_F(Command, Doctor) {
  Result r = run("doctor");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("processor"), HasSubstr("runs on cpu"),
                           HasSubstr("gave the right result"),
                           HasSubstr(root + "/cache"), HasSubstr("ptxas")));
  EXPECT_THAT(
      run("doctor", "NEREID_PTXAS=none").out,
      HasSubstr("none: kernels compiled ahead of time are kept as PTX"));
  r = run("doctor", "PATH=/nonexistent");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_THAT(r.out,
              AnyOf(HasSubstr("none: kernels compiled ahead of time are kept"),
                    HasSubstr("/usr/local/cuda/bin/ptxas")));
  EXPECT_THAT(run("doctor --knobs-markdown").out,
              HasSubstr("`NEREID_CACHE_SIZE`"));
  r = run("doctor", "NEREID_CACHE_SIZ=1");
  EXPECT_THAT(r.err, HasSubstr("did you mean 'NEREID_CACHE_SIZE'"));
}

TEST_F(Command, MachinesWithoutHipSayWhatIsMissing) {
  const std::string none = "NEREID_HIP_DRIVER=none",
                    absent = "NEREID_HIP_DRIVER=/nonexistent/libamdhip64.so";
  Result r = run("doctor", absent);
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("hip          no HIP library: "
                               "/nonexistent/libamdhip64.so cannot be loaded; "
                               "install the HIP runtime of ROCm"));
  EXPECT_THAT(
      run("doctor", none).out,
      HasSubstr("hip devices are turned off by NEREID_HIP_DRIVER=none"));
  for (const char *command :
       {"run k.py:scale --grid 1 ", "bench k.py:scale --grid 1 --vary n=64 ",
        "tune k.py:scale --grid 1 "}) {
    r = run(std::string(command) + "--device hip:0", absent);
    EXPECT_EQ(r.code, 1) << command;
    EXPECT_THAT(r.err, AllOf(HasSubstr("no device 'hip:0': no HIP library"),
                             HasSubstr("expected one of this machine's: ")))
        << command;
  }
}

TEST_F(Command, KernelsRunOnASimulatedAmdGpu) {
  const std::string launch =
      "run k.py:scale --grid 'cdiv(n, BLOCK_SIZE)' x_ptr=randn:f32[1000] "
      "y_ptr=zeros:f32[1000] n=1000 a=2.5 BLOCK_SIZE=256 --device hip:0 "
      "--check";
  for (const char *architecture :
       {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"}) {
    Result r = run(launch, std::string("NEREID_HIP_DRIVER=simulator "
                                       "NEREID_SIMULATOR=races,") +
                               architecture);
    EXPECT_EQ(r.code, 0) << architecture << r.err;
    EXPECT_THAT(r.out, HasSubstr("y_ptr on interp: fp32[1000]: right"))
        << architecture;
  }
  EXPECT_THAT(
      run(launch, "NEREID_HIP_DRIVER=simulator NEREID_SIMULATOR=gfx9").err,
      HasSubstr("NEREID_SIMULATOR: 'gfx9': for hip devices expected gfx90a, "
                "gfx942"));
}

TEST_F(Command, ExplainHasWhatIsKnownOfAmdChips) {
  const std::string launch =
      "explain k.py:scale --grid 'cdiv(n, BLOCK_SIZE)' x_ptr=randn:f32[1000] "
      "y_ptr=zeros:f32[1000] n=1000 a=2.5 BLOCK_SIZE=256 ";
  Result r = run(launch + "--chip mi300x");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(
      r.out,
      AllOf(HasSubstr("scale, gfx942 as of an mi300x: 4 programs of 4 waves"),
            HasSubstr(" SGPRs, 0 and 0 spilled, 0 B LDS, 0 B scratch a lane: "
                      "4 of 32 waves resident (limit: the grid; 32 by "),
            HasSubstr("memory      4 kB read, 4 kB written at least"),
            HasSubstr("time        not predicted: latencies and caches of "
                      "AMD's chips are not in the model"),
            HasSubstr("64 B (least)"), HasSubstr("load      x_ptr")));
  EXPECT_THAT(run(launch + "--chip rx7900xtx").out,
              HasSubstr("gfx1100 as of an rx7900xtx: 4 programs of 4 waves"));
  r = run(launch + "--chip mi300x --against 'k.py:scale BLOCK_SIZE=128'");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("asked for"), Not(HasSubstr("predicted")),
                           Not(HasSubstr("bound by"))));
}

TEST_F(Command, Builtins) {
  EXPECT_THAT(run("builtins").out,
              AllOf(HasSubstr("load("), HasSubstr("dot(")));
  EXPECT_THAT(run("builtins --json").out, HasSubstr("\"signature\""));
  EXPECT_THAT(run("builtins softmx").err, HasSubstr("did you mean 'softmax'"));
}

TEST_F(Command, TopLevel) {
  Result r = run("--version");
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.out, StartsWith("nereid "));
  EXPECT_EQ(run("").code, 2);
  r = run("rn");
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("did you mean 'run'"), HasSubstr("doctor")));
  EXPECT_EQ(run("run --bogus").code, 2);
  for (const char *command : {"", "run ", "compile ", "doctor ", "builtins "}) {
    EXPECT_EQ(run(std::string(command) + "--help").code, 0) << command;
  }
}

/// Whatever trials ran, the sum is that of one launch; and none run when the
/// block is given.
TEST_F(Command, TrialsDoNotAddUp) {
  std::string text = R"(import triton
import triton.language as tl


def clear(nargs):
    if nargs["n"] > 1:
        nargs["sum_ptr"].zero_()


@triton.autotune(configs=[triton.Config({"BLOCK": b}, pre_hook=clear) for b in [16, 64, 256]], key=["n"])
@triton.jit
def total(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sum_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in [16, 64, 256]], key=["n"])
@triton.jit
def plain(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sum_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))
)";
  ASSERT_TRUE(writeFileAtomically(root + "/t.py", text).ok());
  auto sum = [&](const std::string &kernel, const std::string &more) {
    Result r = run("run t.py:" + kernel +
                       " --grid 'cdiv(n, BLOCK)' x_ptr=full:1:f32[1000] "
                       "sum_ptr=full:5:f32[1] n=1000 --out sum_ptr=s.npy " +
                       more,
                   "NEREID_LOG=tune");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err.find("uses") == std::string::npos, !more.empty()) << r.err;
    return npy("s.npy")[0];
  };
  EXPECT_EQ(sum("total", ""), 1000);
  EXPECT_EQ(sum("total", "BLOCK=64"), 1005); // as total.fn would have it
  EXPECT_EQ(sum("total", "--device interp"), 1000);
  EXPECT_EQ(sum("plain", ""), 1005);
}

TEST_F(Command, TheLevelOfTheProcessorIsASetting) {
  auto scale = [&](const std::string &environment) {
    return run("run k.py:scale --grid 1 x_ptr=arange:f32[64] "
               "y_ptr=empty:f32[64] n=64 a=2 --print y_ptr --device cpu",
               environment);
  };
  for (const char *level : {"x86-64", "x86-64-v2", "x86-64-v3"}) {
    std::string setting = std::string("NEREID_TIME=1 NEREID_CPU=") + level;
    if (!cpu::runsHere(*cpu::resolve(level))) {
      continue;
    }
    // What is kept of one level is not taken for another.
    CommandResult first = scale(setting), second = scale(setting);
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(first.out, second.out);
    EXPECT_THAT(first.out, HasSubstr("y_ptr: "));
    EXPECT_THAT(first.err, testing::Not(HasSubstr("from the disk cache")))
        << level;
    EXPECT_THAT(second.err, HasSubstr("from the disk cache")) << level;
    EXPECT_THAT(run("doctor", setting).out,
                HasSubstr(std::string("target       ") + level +
                          " (NEREID_CPU; this machine runs up to "));
  }
  CommandResult wrong = scale("NEREID_CPU=x86-64v3");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("NEREID_CPU=x86-64v3: expected a level that this "
                        "machine can run, one of 'x86-64'"));
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'x86-64-v3'?"));
  EXPECT_THAT(run("doctor", "NEREID_CPU=x86-64v3").out, HasSubstr("PROBLEM: "));
  if (cpu::machineLevel() < 6) {
    CommandResult tooHigh = scale("NEREID_CPU=x86-64-v4-amx");
    EXPECT_EQ(tooHigh.code, 2);
    EXPECT_THAT(tooHigh.err, HasSubstr("got a higher one"));
  }
}

TEST_F(Command, DecisionsAreToldWhateverIsCached) {
  // What is decided differs by level; below this one loads are masked lane by
  // lane.
  if (cpu::machineLevel() < 3) {
    GTEST_SKIP() << "this machine does not run x86-64-v3";
  }
  auto told = [&](const std::string &environment) {
    CommandResult r = run("run k.py:scale --grid 1 x_ptr=arange:f32[64] "
                          "y_ptr=empty:f32[64] n=64 a=2 --device cpu",
                          "NEREID_CPU=x86-64-v3 " + environment);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.err;
  };
  const char *line = "k.py:8:9: remark: load: a vector of neighbours\n";
  EXPECT_THAT(told("NEREID_LOG=dispatch"), HasSubstr(line));
  // The first run stored the kernel, and the log needs a compilation.
  EXPECT_THAT(told("NEREID_LOG=dispatch"), HasSubstr(line));
  EXPECT_THAT(told("NEREID_TIME=1"), HasSubstr("from the disk cache"));
  EXPECT_EQ(told(""), "");
}

TEST_F(Command, DecisionsNameTheCallThatLedToThem) {
  std::string text = R"(import triton
import triton.language as tl


@triton.jit
def twice(p):
    return tl.load(p) * 2


@triton.jit
def k(x_ptr):
    i = tl.arange(0, 16)
    tl.store(x_ptr + i, twice(x_ptr + i) + twice(x_ptr + 16 + i))
)";
  ASSERT_TRUE(writeFileAtomically(root + "/c.py", text).ok());
  CommandResult r =
      run("compile c.py:k --signature '*fp32:16' --target sm_80 -v -o o");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("c.py:7:12: remark: load: "));
  EXPECT_THAT(r.err, HasSubstr("(called from c.py:13:25)\n"));
  EXPECT_THAT(r.err, HasSubstr("(called from c.py:13:44)\n"));
}
