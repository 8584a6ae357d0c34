//===- BenchCommandTest.cpp - nereid bench --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandFixture.h"

#include <nlohmann/json.hpp>

using namespace nereid;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr const char *more = R"(import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, y_ptr, n, a, BLOCK_SIZE: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x + x + 0.25, mask=i < n)


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def far(x_ptr, y_ptr, n, a, distance, BLOCK_SIZE: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(y_ptr + i.to(tl.int64) * distance, tl.load(x_ptr + i))


@triton.jit
def row_sum(x, y, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(y + row, tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0)))


@triton.jit
def product(a, b, c, m, n, k, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    l = tl.arange(0, BLOCK)
    x = tl.load(a + i * k + l[None, :], mask=(i < m) & (l[None, :] < k), other=0.0)
    y = tl.load(b + l[:, None] * n + j, mask=(l[:, None] < k) & (j < n), other=0.0)
    tl.store(c + i * n + j, tl.dot(x, y), mask=(i < m) & (j < n))
)";

class Bench : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    ASSERT_TRUE(writeFileAtomically(root + "/more.py", more).ok());
  }
  static constexpr const char *scale =
      "bench k.py:scale 'x_ptr=rand:f32[n]' 'y_ptr=empty:f32[n]' a=2.0 --grid "
      "'cdiv(n, BLOCK_SIZE)' --seconds 0 --roofline none ";
  CommandResult benchScale(const std::string &options,
                           const std::string &environment = "") {
    return run(scale + options, environment);
  }
  nlohmann::json json(const std::string &command,
                      const std::string &environment = "", int code = 0) {
    std::string roofline =
        command.find("--roofline") == command.npos ? " --roofline none" : "";
    CommandResult r = run(command + roofline + " --json -", environment);
    EXPECT_EQ(r.code, code) << r.err;
    return nlohmann::json::parse(r.out);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// What it prints
//===----------------------------------------------------------------------===//

/// The rates are those of the kept roofline: measured, or of another moment.
/// What measures it again is in test/bench/RooflineTest.cpp, by a clock of its
/// own.
TEST_F(Bench, ATableHasUnitsARowForEachPointAndSharesOfTheRoofline) {
  CommandResult r = run("bench vector_add n=256..4096*4 --seconds 0");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out,
              AllOf(HasSubstr("vector add, dtype=fp32 on cpu"),
                    HasSubstr("time [ms]"), HasSubstr("bandwidth [GB/s]"),
                    HasSubstr("roofline [%]"), HasSubstr(" 256  vector_add"),
                    HasSubstr("1024  vector_add"),
                    HasSubstr("4096  vector_add")));
  EXPECT_EQ(r.err, ""); // progress is for terminals
  std::string path;
  for (const auto &entry :
       std::filesystem::directory_iterator(root + "/cache")) {
    if (entry.path().filename().string().starts_with("roofline-")) {
      path = entry.path();
    }
  }
  ASSERT_FALSE(path.empty());
  auto roofline = nlohmann::json::parse(*readFile(path));
  EXPECT_GT(roofline["copy [GB/s]"], 0);
  EXPECT_GT(roofline["cache [GB/s]"], 0);
  EXPECT_GT(roofline["operations [TFLOP/s]"]["fp32"], 0);
  roofline["copy [GB/s]"] = 12345;
  ASSERT_TRUE(replaceFile(path, roofline.dump()).ok());
  r = run("bench vector_add n=256 --seconds 0 --json -");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(r.out)["roofline"]["copy [GB/s]"], 12345);
  // One that every kernel beats is of a busy moment.
  roofline["copy [GB/s]"] = roofline["cache [GB/s]"] = 1e-9;
  ASSERT_TRUE(replaceFile(path, roofline.dump()).ok());
  r = run("bench vector_add n=256 --seconds 0");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out,
              HasSubstr("The roofline of cpu was measured again, since a "
                        "kernel beat the kept one."));
  EXPECT_GT(nlohmann::json::parse(*readFile(path))["copy [GB/s]"], 1e-6);
}

TEST_F(Bench, BytesAreCountedFromWhatTheKernelTouches) {
  auto report = json(std::string(scale) + "--vary n=1000,70000,8000000");
  EXPECT_EQ(report["rows"][0]["bytes"], 8000);
  EXPECT_EQ(report["rows"][1]["bytes"], 560000);
  EXPECT_FALSE(report["rows"][1]["counted from a sample"]);
  EXPECT_EQ(report["rows"][2]["counted from a sample"], true);
  EXPECT_NEAR(report["rows"][2]["bytes"].get<double>() / 64e6, 1, 0.02);
}

TEST_F(Bench, OperationsAreOfElementsThatMasksLetThrough) {
  auto report = json("bench vector_add n=1024,5000 --seconds 0");
  EXPECT_EQ(report["rows"][0]["float operations"], 1024);
  EXPECT_EQ(report["rows"][1]["float operations"], 5000);
}

/// Threads that have the same element, and all those that exchange partial
/// sums, add more often than is asked for.
TEST_F(Bench, ASumOfNElementsIsOfAsManyOperationsLessOne) {
  auto rows =
      json("bench more.py:row_sum 'x=randn:f32[64,N]' 'y=empty:f32[64]' "
           "n=N BLOCK='next_power_of_2(N)' --grid 64 "
           "--vary N=32,100,1000 --seconds 0")["rows"];
  EXPECT_EQ(rows[0]["float operations"], 64 * 31);
  EXPECT_EQ(rows[1]["float operations"], 64 * 99);
  EXPECT_EQ(rows[2]["float operations"], 64 * 999);
}

/// Of a product of 40 x 24 x 56 in blocks of 32 x 32 x 32.
TEST_F(Bench, ProductsAreOfElementsThatMasksLetThrough) {
  auto rows = json("bench more.py:product 'a=randn:f16[40,24]' "
                   "'b=randn:f16[24,56]' 'c=empty:f32[40,56]' m=40 k=24 "
                   "BLOCK=32 --grid 2,2 --seconds 0 --vary n=56")["rows"];
  EXPECT_EQ(rows[0]["product operations"]["bf16"], 2 * 40 * 24 * 56);
}

/// However many warps have copies of the one block.
TEST_F(Bench, ProductsAreCountedOnceOnAllWarps) {
  for (const char *warps : {"1", "4", "8"}) {
    std::string arguments =
        "more.py:product 'a=randn:f16[16,16]' 'b=randn:f16[16,16]' "
        "'c=empty:f32[16,16]' m=16 n=16 k=16 BLOCK=16 --grid 1,1 num_warps=" +
        std::string(warps);
    auto row = json("bench " + arguments + " --seconds 0")["rows"][0];
    EXPECT_EQ(row["product operations"]["bf16"], 2 * 16 * 16 * 16) << warps;
    CommandResult r = run("explain " + arguments + " --json -");
    ASSERT_EQ(r.code, 0) << r.err;
    auto report = nlohmann::json::parse(r.out);
    EXPECT_EQ(report["asked_product_operations"], 2 * 16 * 16 * 16) << warps;
  }
}

TEST_F(Bench, WhatProgramsShareIsCountedOnce) {
  auto rows =
      json("bench matmul --vary N=512,1024 dtype=fp16 --seconds 0")["rows"];
  for (double n : {512.0, 1024.0}) {
    const auto &row = rows[n == 512 ? 0 : 1];
    // Of 1024 some of the 64 programs tell.
    EXPECT_NEAR(row["bytes"].get<double>() / (2 * n * n * 2 + n * n * 4), 1,
                0.05);
    EXPECT_EQ(row["product operations"]["bf16"], 2 * n * n * n);
    EXPECT_LT(row["max diff"], 1e-2);
  }
}

TEST_F(Bench, VariablesStandInShapesTypesAndValues) {
  auto report = json("bench k.py:scale 'x_ptr=rand:type[2*N]' "
                     "'y_ptr=empty:type[N + N]' n=2*N a=N/4 --grid "
                     "'cdiv(2*N, 64)' --vary N=64,128 --vary type=fp32,fp16 "
                     "--seconds 0 --programs 0");
  ASSERT_EQ(report["rows"].size(), 4u);
  EXPECT_EQ(report["variables"], (std::vector<std::string>{"N", "type"}));
  EXPECT_EQ(report["rows"][0]["bytes"], 2 * 128 * 4);
  EXPECT_EQ(report["rows"][3]["bytes"], 2 * 256 * 2);
  EXPECT_EQ(report["rows"][3]["point"]["type"], "fp16");
}

TEST_F(Bench, AVariableMayBeAParameterOrAnOption) {
  auto report =
      json(std::string(scale) +
           "--vary n=1000 --vary BLOCK_SIZE=64,128 --vary num_warps=1,2");
  EXPECT_EQ(report["rows"].size(), 4u);
}

//===----------------------------------------------------------------------===//
// Others beside it
//===----------------------------------------------------------------------===//

TEST_F(Bench, AnotherKernelTakesTheSameArguments) {
  auto report =
      json(std::string(scale) + "--vary n=1000 --against 'more.py:twice "
                                "BLOCK_SIZE=64'",
           "", 1); // its results differ
  ASSERT_EQ(report["rows"].size(), 2u);
  EXPECT_EQ(report["rows"][1]["provider"], "more.py:twice BLOCK_SIZE=64");
  EXPECT_FLOAT_EQ(report["rows"][0]["max diff"], 0.25);
  EXPECT_TRUE(report["rows"][0].contains("speed-up [x]"));
}

TEST_F(Bench, TheReferenceIsInterpWhereItIsBeside) {
  auto report = json(std::string(scale) +
                         "--vary n=1000 --against more.py:twice --against "
                         "interp",
                     "", 1); // the second one's results differ
  EXPECT_EQ(report["reference"], "interp");
  EXPECT_EQ(report["rows"][0]["max diff"], 0);
  EXPECT_FLOAT_EQ(report["rows"][1]["max diff"], 0.25);
}

// Each begins with the array as it was.
TEST_F(Bench, AKernelThatChangesItsInputIsComparedAllTheSame) {
  auto report = json("bench more.py:add_one x_ptr=rand:f32[512] n=512 BLOCK=64 "
                     "--grid 8 --seconds 0 --against interp");
  EXPECT_EQ(report["rows"][0]["max diff"], 0);
}

TEST_F(Bench, AProviderThatFailsIsToldAndTheOthersGoOn) {
  CommandResult r = benchScale("--vary n=64 --against 'k.py:wrong BLOCK=64'");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("k.py:wrong BLOCK=64: failed:"),
                           HasSubstr("undefined_name"), HasSubstr("scale")));
}

TEST_F(Bench, ShippedKernels) {
  for (const char *kernel :
       {"layer_norm M=64 N=256,512", "softmax M=64 N=256,512",
        "vector_add n=3000,65536"}) {
    auto report = json(std::string("bench ") + kernel + " --seconds 0");
    for (const auto &row : report["rows"]) {
      EXPECT_LT(row["max diff"], 1e-5) << kernel;
      EXPECT_GT(row["bandwidth [GB/s]"], 0) << kernel;
    }
  }
}

TEST_F(Bench, OnAGpu) {
  auto report =
      json("bench layer_norm M=16 N=256,512 --seconds 0 --device cuda:0",
           "NEREID_CUDA_DRIVER=simulator");
  ASSERT_EQ(report["rows"].size(), 4u);
  EXPECT_LT(report["rows"][0]["max diff"], 1e-5);
  EXPECT_GT(report["rows"][0]["speed-up [x]"], 0);
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

TEST_F(Bench, Mistakes) {
  const struct {
    const char *arguments, *message;
    int code = 2;
  } cases[] = {
      {"--vary m=1..2", "--vary m: nothing uses 'm': expected a parameter of "
                        "scale, a launch option, or a name"},
      {"--vary blok_size=64", "nothing uses 'blok_size'"},
      {"--vary n=9..1", "--vary n=9..1: the range is empty: it begins at 9 and "
                        "ends at 1"},
      {"--vary n=1..9*1", "a factor of at least 2"},
      {"--vary n=0..9*2", "a beginning of at least 1"},
      {"--vary n=1..9+0", "a step of at least 1"},
      {"--vary n=1..x", "in integers, got 'x'"},
      {"--vary n=1..1000000", "at most 10000 values"},
      {"--vary n=", "expected values"},
      {"--vary n=1,,2", "expected values"},
      {"--vary n", "expected NAME=VALUE"},
      {"--vary 9=1", "expected a name"},
      {"--vary n=1 --vary n=2", "it is varied twice"},
      {"--vary n=64 --device tpu", "'tpu'", 1},
      {"--vary n=64 --device cuda:7", "cuda", 1},
      {"--vary n=64 --device hip:7", "hip", 1},
      {"--vary n=64 --against k.py:scal", "scale", 1},
      {"--vary n=64 --against nothing.py:k", "nothing.py", 1},
      {"--vary n=64 --against 'k.py:scale a'", "expected NAME=VALUE"},
      {"--vary n=64 --seconds -1", "from 0 on"},
      {"--vary n=64 --csv none/f.csv", "there is no folder", 1},
      {"--vary n=64 --csv same --json same", "same"},
      {"--vary n=64 --html /dev/full", "No space left on device", 1},
      {"--vary n=64 b=3", "'b'"},
  };
  for (const auto &one : cases) {
    CommandResult r = benchScale(one.arguments);
    EXPECT_EQ(r.code, one.code) << one.arguments << ": " << r.err;
    EXPECT_THAT(r.err, HasSubstr(one.message)) << one.arguments;
  }
}

TEST_F(Bench, NoSuchKernel) {
  EXPECT_THAT(run("bench layer_nrom").err,
              HasSubstr("got 'layer_nrom'; did you mean 'layer_norm'?"));
  EXPECT_THAT(run("bench k.py:scle --grid 1").err, HasSubstr("scale"));
  EXPECT_THAT(run("bench k.py:scale n=1").err, HasSubstr("got no --grid"));
  EXPECT_THAT(run("bench layer_norm --roofline maybe").err, HasSubstr("maybe"));
  EXPECT_THAT(run("bench").err, HasSubstr("expected FILE:KERNEL, or one of"));
  EXPECT_THAT(run("bench layer_norm Q=3").err,
              HasSubstr("one of the variables of layer_norm, N, M, dtype"));
}

// The second point leaves its array: what was measured is reported, and
// written.
TEST_F(Bench, ADeviceThatIsGone) {
  CommandResult r =
      run("bench more.py:far x_ptr=zeros:f32[64] y_ptr=zeros:f32[64] n=64 a=1 "
          "--grid 1 --vary distance=1,100000000,2 --seconds 0 --device cuda:0 "
          "--times-only --csv out.csv",
          "NEREID_CUDA_DRIVER=simulator");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.out, AllOf(HasSubstr("far distance=100000000: failed:"),
                           HasSubstr("ILLEGAL_ADDRESS"),
                           HasSubstr("does no more after this fault")));
  std::string csv = *readFile(root + "/out.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\r'), 3);
}

TEST_F(Bench, NothingIsLeftOfAFileThatCannotBeWritten) {
  CommandResult r =
      benchScale("--vary n=64 --html page.html", "true; ulimit -f 4;");
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_FALSE(std::filesystem::exists(root + "/page.html"));
  for (const auto &entry : std::filesystem::directory_iterator(root)) {
    EXPECT_FALSE(isTemporaryName(entry.path().filename().string()));
  }
}

//===----------------------------------------------------------------------===//
// What cannot be, and what is only partly there
//===----------------------------------------------------------------------===//

TEST_F(Bench, ArraysThatMemoryCannotHoldAreRefused) {
  for (const char *command :
       {"run k.py:scale 'x_ptr=randn:f32[1000000000000]' 'y_ptr=empty:f32[8]' "
        "n=8 a=2.0 --grid 1",
        "bench k.py:scale 'x_ptr=randn:f32[N]' 'y_ptr=empty:f32[8]' n=8 a=2.0 "
        "--grid 1 --vary N=1000000000000 --seconds 0 --times-only"}) {
    CommandResult r = run(command);
    EXPECT_EQ(r.code, 1) << r.out;
    EXPECT_THAT(r.err, AllOf(HasSubstr("x_ptr=randn:f32[1000000000000]: "
                                       "expected a shape that fits the "),
                             HasSubstr("of memory of this machine, got 3.64 "
                                       "TiB")));
  }
}

TEST_F(Bench, ATypeThatAGeneratorRefusesLeavesTheOthers) {
  CommandResult r = run("bench k.py:scale 'x_ptr=randn:type[64]' "
                        "'y_ptr=empty:type[64]' n=64 a=2.0 --grid 1 --vary "
                        "type=i32,fp32 --seconds 0 --times-only");
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.out, AllOf(HasSubstr("scale type=i32: failed:"),
                           HasSubstr("fp32  scale")));
}

TEST_F(Bench, ProvidersHaveLabelsAndGridsWithBlanks) {
  CommandResult r = benchScale(
      "--vary n=64,100 --times-only --against "
      "'the same=k.py:scale --grid cdiv(n, BLOCK_SIZE)' --against "
      "'as typed=k.py:scale --grid=cdiv(n,64)' --against oracle=interp");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("  the same  "), HasSubstr("  as typed  "),
                           HasSubstr("  oracle  "),
                           HasSubstr("speed-up: the same's time divided by the "
                                     "provider's.")));
  EXPECT_THAT(run("bench k.py:scale 'x_ptr=rand:f32[8]' 'y_ptr=empty:f32[8]' "
                  "n=8 a=1.0 --grid 1 --against 'k.py:scale --grid'")
                  .err,
              HasSubstr("expected sizes after --grid"));
}

TEST_F(Bench, ResultsThatDifferAreMarked) {
  CommandResult r = benchScale("--vary n=64 --times-only --against "
                               "'other=more.py:twice'");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("2.5e-01!"),
                           HasSubstr("max diff (!): more than rounding "
                                     "explains")));
}

TEST_F(Bench, AReportSaysHowItCameAbout) {
  auto report = json(std::string(scale) + "--vary n=64 --times-only",
                     "SOURCE_DATE_EPOCH=86400");
  EXPECT_EQ(report["made"]["date"], "1970-01-02 00:00 UTC");
  EXPECT_THAT(report["made"]["command"].get<std::string>(),
              AllOf(HasSubstr("nereid bench k.py:scale"),
                    HasSubstr("--grid 'cdiv(n, BLOCK_SIZE)'")));
  CommandResult r =
      benchScale("--vary n=64 --times-only", "SOURCE_DATE_EPOCH=86400");
  EXPECT_THAT(r.out, HasSubstr(", 1970-01-02 00:00 UTC: nereid bench k.py"));
}

TEST_F(Bench, OneOutputIsTheStandardOne) {
  CommandResult r = benchScale("--vary n=64 --csv - --json -");
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err, HasSubstr("expected one of --csv, --json, --svg, --html "
                               "and --trace on standard output, got 2"));
  EXPECT_EQ(benchScale("--vary n=64 --csv ''").code, 2);
}

TEST_F(Bench, TheConfigurationThatIsTimedIsNamed) {
  ASSERT_TRUE(writeFileAtomically(root + "/tuned.py", R"(import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i, mask=i < n)
)")
                  .ok());
  auto report = json("bench tuned.py:fill 'x_ptr=empty:f32[n]' --vary n=64 "
                     "--grid 'cdiv(n, BLOCK)' --seconds 0 --times-only");
  EXPECT_EQ(report["rows"][0]["configuration"],
            "BLOCK=32 num_stages=3 num_warps=4");
}
