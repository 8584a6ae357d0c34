//===- FaultTest.cpp - Checks that stop a kernel, and device_print --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/fault/Fault.h"

#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/FloatFormats.h"
#include "nereid/Support/Knobs.h"

#include <bit>

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::HasSubstr;

namespace {
class Faults : public LaunchFixture {
protected:
  /// A kernel `k(x_ptr, n)` whose program is `body`, with one site.
  Kernel faulty(ImageSite::Kind kind,
                std::function<void(const FakeCall &)> body,
                std::vector<int64_t> shape = {}) {
    FakeKernel k;
    k.description.name = "k";
    k.description.parameters = {parameter("x_ptr"), parameter("n")};
    ImageSite site;
    site.kind = kind;
    site.message = kind == ImageSite::Kind::Assert ? "n is positive" : "";
    site.location = {"k.py", 7, 5, 7, 12};
    site.sourceLine = "    tl.load(x_ptr + offsets)";
    site.parameter = 0;
    site.elementBytes = 4;
    site.shape = shape;
    k.sites = {site};
    k.program = std::move(body);
    world->kernels["k"] = k;
    return kernel("k");
  }

  Error faultOf(const Kernel &k, Grid grid, const Tensor &x) {
    Knobs settings = knobs();
    settings.check = {"oob"};
    Knobs saved = exchangeKnobs(settings);
    std::optional<Error> caught;
    try {
      k[grid](x, 5);
    } catch (const Error &error) {
      caught = error;
    }
    exchangeKnobs(saved);
    EXPECT_TRUE(caught);
    return caught.value_or(Error(Failure{}));
  }
};
} // namespace

TEST_F(Faults, AssertNamesSourceProgramAndElement) {
  Kernel k = faulty(ImageSite::Kind::Assert,
                    [](const FakeCall &call) {
                      if (call.program(0) == 3) {
                        call.frame->services->fail(call.frame, 0, 17, 0);
                      }
                    },
                    {4, 8});
  Error error = faultOf(k, Grid(4), zeros({8}));
  EXPECT_EQ(error.code(), ErrorCode::KernelFault);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("k.py:7:5: error: device_assert failed: n is "
                              "positive"),
                    HasSubstr("    tl.load(x_ptr + offsets)\n"),
                    HasSubstr("      ^^^^^^^\n"),
                    HasSubstr("in program (3, 0, 0) of kernel 'k', element "
                              "(2, 1) of the tile")));
}

TEST_F(Faults, TheFirstFailingProgramOfASequentialRunIsTold) {
  Kernel k = faulty(ImageSite::Kind::Nan, [](const FakeCall &call) {
    if (call.program(0) >= 5) {
      call.frame->services->fail(call.frame, 0, 0, 0);
    }
  });
  Error error = faultOf(k, Grid(100), zeros({8}, f32, Device::interp()));
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("error: NaN"), HasSubstr("program (5, 0, 0)")));
}

/// The failing thread may lose its core right before it fails: so the others
/// wait for it after as many programs as a failure may let run.
TEST_F(Faults, OtherThreadsStopSoon) {
  constexpr int threads = 4, most = 100000;
  std::atomic<int> ran = 0;
  Kernel k = faulty(ImageSite::Kind::Assert, [&](const FakeCall &call) {
    int before = ran++;
    if (before == 1000) {
      call.frame->services->fail(call.frame, 0, 0, 0);
    }
    while (before >= most) {
      call.frame->services->wait(call.frame); // returns until it is stopped
    }
  });
  setNumThreads(threads);
  faultOf(k, Grid(100000000), zeros({8}));
  setNumThreads(0);
  EXPECT_LT(ran, most + threads);
  // The pool is as good as new.
  Tensor seen = zeros({1000}, i32);
  kernel("count")[1000](seen);
  EXPECT_THAT(seen.toVector<int>(), testing::Each(1));
}

TEST_F(Faults, BoundsSeeTheTensorsOfTheLaunch) {
  std::vector<int> answers;
  Kernel k = faulty(ImageSite::Kind::Bounds, [&](const FakeCall &call) {
    auto base = static_cast<int64_t>(call.slot("x_ptr"));
    for (int64_t offset : {0, 36, 40, -4, 37, 33}) {
      answers.push_back(call.frame->services->inBounds(
          call.frame, static_cast<uint64_t>(base + offset), 4));
    }
    call.frame->services->fail(call.frame, 0, 2,
                               static_cast<uint64_t>(base + 40));
  });
  // Ten elements of a larger allocation: the view is what counts.
  Tensor x = zeros({100}).slice(0, 20, 30);
  Error error = faultOf(k, Grid(1), x);
  EXPECT_EQ(answers, (std::vector<int>{1, 1, 0, 0, 0, 1}));
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("out-of-bounds access: element 10 of 'x_ptr', "
                              "which is fp32[10]: its elements are 0 to 9"),
                    HasSubstr("k.py:7:5"), HasSubstr("hint: mask")));
}

TEST_F(Faults, StridedViewsAreBoundedByTheirExtent) {
  std::vector<int> answers;
  Kernel k = faulty(ImageSite::Kind::Bounds, [&](const FakeCall &call) {
    uint64_t base = call.slot("x_ptr");
    for (uint64_t offset : {0, 36, 40}) { // the last element is 1 * 5 + 4
      answers.push_back(
          call.frame->services->inBounds(call.frame, base + offset, 4));
    }
    call.frame->services->fail(call.frame, 0, 0, base - 3);
  });
  Tensor x = zeros({5, 10}).transpose(0, 1).slice(0, 0, 1).select(0, 0);
  EXPECT_EQ(x.str(), "fp32[5] with strides [10]");
  Error error = faultOf(k, Grid(1), x.slice(0, 0, 1).expand({4}));
  EXPECT_THAT(error.what(), HasSubstr("element -1 of 'x_ptr'"));
  answers.clear();
  faultOf(k, Grid(1), zeros({3, 5}).transpose(0, 1).slice(1, 0, 2));
  EXPECT_EQ(answers, (std::vector<int>{1, 1, 0}));
}

TEST_F(Faults, UnknownPointersAreToldByTheNearestTensor) {
  Kernel k = faulty(ImageSite::Kind::Bounds, [](const FakeCall &call) {
    call.frame->services->fail(call.frame, 0, 0, call.slot("x_ptr") + 400);
  });
  world->kernels["k"].sites[0].parameter = -1;
  Error error = faultOf(kernel("k"), Grid(1), zeros({10}));
  EXPECT_THAT(error.what(), AllOf(HasSubstr("outside every argument"),
                                  HasSubstr("element 100 of 'x_ptr'")));
}

TEST_F(Faults, CheckKnobsReachTheCompiler) {
  Knobs settings = knobs();
  settings.check = {"oob", "nan"};
  Knobs saved = exchangeKnobs(settings);
  Tensor seen = zeros({1}, i32);
  kernel("count")[1](seen);
  exchangeKnobs(saved);
  EXPECT_EQ(world->requests.back().options.checks,
            uint32_t{CheckBounds | CheckNan});
  kernel("count")[1](seen);
  EXPECT_EQ(world->requests.back().options.checks, 0u);
}

//===----------------------------------------------------------------------===//
// device_print
//===----------------------------------------------------------------------===//

static std::string printed(DType dtype, std::vector<int64_t> shape,
                           const void *data, int64_t count, bool hex = false,
                           std::string prefix = " x: ") {
  ImageSite site;
  site.message = std::move(prefix);
  site.dtype = dtype;
  site.shape = std::move(shape);
  site.hex = hex;
  return formatPrint(site, {1, 2, 3}, data, count);
}

TEST(DevicePrint, OneLineAnElement) {
  int32_t values[] = {0, -1, 7, 100};
  EXPECT_EQ(printed(i32, {2, 2}, values, 4),
            "pid (1, 2, 3) idx (0, 0) x: 0\n"
            "pid (1, 2, 3) idx (0, 1) x: -1\n"
            "pid (1, 2, 3) idx (1, 0) x: 7\n"
            "pid (1, 2, 3) idx (1, 1) x: 100\n");
  EXPECT_EQ(printed(i32, {}, values, 1), "pid (1, 2, 3) idx () x: 0\n");
  EXPECT_EQ(printed(i32, {}, nullptr, 0, false, " here"),
            "pid (1, 2, 3) here\n");
}

TEST(DevicePrint, IndicesLineUp) {
  std::vector<int8_t> values(128);
  std::string text = printed(i8, {128}, values.data(), 128);
  EXPECT_THAT(text, AllOf(HasSubstr("idx (  7) x: 0\n"),
                          HasSubstr("idx ( 42) x: 0\n"),
                          HasSubstr("idx (127) x: 0\n")));
}

TEST(DevicePrint, EveryDType) {
  auto one = [](DType dtype, auto value, bool hex = false) {
    std::string text = printed(dtype, {}, &value, 1, hex);
    return text.substr(text.find("x: ") + 3);
  };
  EXPECT_EQ(one(i1, uint8_t{1}), "1\n");
  EXPECT_EQ(one(i64, INT64_MIN), "-9223372036854775808\n");
  EXPECT_EQ(one(u64, UINT64_MAX), "18446744073709551615\n");
  EXPECT_EQ(one(u8, uint8_t{200}), "200\n");
  EXPECT_EQ(one(f32, 1.5f), "1.500000\n");
  EXPECT_EQ(one(f64, -2.25), "-2.250000\n");
  EXPECT_EQ(one(f16, encodeFloat16(0.5)), "0.500000\n");
  EXPECT_EQ(one(bf16, encodeBFloat16(3)), "3.000000\n");
  EXPECT_EQ(one(fp8e5, encodeFloat8E5M2(2)), "2.000000\n");
  EXPECT_EQ(one(fp8e4nv, encodeFloat8E4M3(-4)), "-4.000000\n");
  EXPECT_EQ(one(i32, int32_t{-1}, true), "0xffffffff\n");
  EXPECT_EQ(one(i8, int8_t{10}, true), "0x0a\n");
  EXPECT_EQ(one(f32, 1.5f, true), "0x1.8p+0\n");
  EXPECT_EQ(one(f64, -0.1, true), "-0x1.999999999999ap-4\n");
  EXPECT_EQ(one(f16, encodeFloat16(0.5), true), "0x1p-1\n");
  EXPECT_GT(one(f64, 1e308).size(), 300u);
}

TEST_F(Faults, PrintsOfManyThreadsDoNotMix) {
  FakeKernel k;
  k.description.name = "k";
  k.sites.resize(1);
  k.sites[0].message = " v: ";
  k.sites[0].dtype = i32;
  k.sites[0].shape = {3};
  k.program = [](const FakeCall &call) {
    int32_t p = call.program(0), values[3] = {p, p, p};
    call.frame->services->print(call.frame, 0, values, 3);
  };
  world->kernels["k"] = k;
  testing::internal::CaptureStdout();
  setNumThreads(4);
  kernel("k")[200]();
  setNumThreads(0);
  std::istringstream text(testing::internal::GetCapturedStdout());
  std::string line;
  std::vector<int> lines(200);
  for (int i = 0; std::getline(text, line); ++i) {
    int p = std::stoi(line.substr(5));
    EXPECT_EQ(line, "pid (" + std::to_string(p) + ", 0, 0) idx (" +
                        std::to_string(i % 3) + ") v: " + std::to_string(p));
    ++lines[p];
  }
  EXPECT_THAT(lines, testing::Each(3));
}
