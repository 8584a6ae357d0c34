//===- InterpTest.cpp - Whole kernels on the reference executor -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/FloatFormat.h"
#include "nereid/Interp/KernelRunner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace nereid;
using namespace nereid::interp;

namespace {

std::vector<float> randomFloats(size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  std::generate(x.begin(), x.end(), [&] { return normal(random); });
  return x;
}

const char *const vectorAdd = R"(
  %pid = tile.program_id 0
  %c64 = arith.constant 64 : i32
  %first = arith.muli %pid, %c64 : i32
  %r = tile.range 0, 64 : tensor<64xi32>
  %b = tile.splat %first : i32 -> tensor<64xi32>
  %o = arith.addi %b, %r : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %xp, %m : tensor<64x!tile.ptr<f32>>
  %c = tile.load %yp, %m : tensor<64x!tile.ptr<f32>>
  %s = arith.addf %a, %c : tensor<64xf32>
  tile.store %yp, %s, %m : tensor<64x!tile.ptr<f32>>
)";

TEST(InterpTest, MaskedVectorAddTouchesNothingElse) {
  KernelRunner kernel("%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32",
                      vectorAdd);
  for (int n : {1, 63, 64, 65, 127, 200}) {
    std::vector<float> x = randomFloats(n), y = randomFloats(n + 64, 2);
    std::vector<float> expected = y;
    for (int i = 0; i < n; ++i) {
      expected[i] = x[i] + y[i];
    }
    kernel.arguments.clear();
    kernel.pass(x).pass(y).pass(n).run((n + 63) / 64);
    EXPECT_EQ(y, expected);
  }
}

TEST(InterpTest, AccessesOfOtherDialectsAreLoadsAndStores) {
  KernelRunner kernel("%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32",
                      tile::testing::increment);
  std::vector<float> x = randomFloats(100), y(100, -1.0f), expected = y;
  for (int i = 0; i < 70; ++i) {
    expected[i] = x[i] + 1.0f;
  }
  kernel.pass(x).pass(y).pass(70).run();
  EXPECT_EQ(y, expected);
}

TEST(InterpTest, ProgramIdsFollowTheLinearOrder) {
  KernelRunner kernel("%p: !tile.ptr<i32>", R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tile.program_id 0
    %y = tile.program_id 1
    %z = tile.program_id 2
    %gx = tile.num_programs 0
    %gy = tile.num_programs 1
    %t0 = arith.muli %z, %gy : i32
    %t1 = arith.addi %t0, %y : i32
    %t2 = arith.muli %t1, %gx : i32
    %t3 = arith.addi %t2, %x : i32
    %q = tile.addptr %p, %t3 : !tile.ptr<i32>, i32
    tile.store %q, %t3 : !tile.ptr<i32>)");
  std::vector<int> out(2 * 3 * 4, -1), expected(out.size());
  std::iota(expected.begin(), expected.end(), 0);
  kernel.pass(out).run(4, 3, 2);
  EXPECT_EQ(out, expected);
}

TEST(InterpTest, LoopsCarryAndSwap) {
  // Fibonacci: the carried values change places in every iteration.
  KernelRunner kernel("%p: !tile.ptr<i64>, %n: i32", R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = arith.constant 0 : i64
    %b = arith.constant 1 : i64
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
        -> (i64, i64) : i32 {
      %s = arith.addi %x, %y : i64
      scf.yield %y, %s : i64, i64
    }
    tile.store %p, %r#0 : !tile.ptr<i64>)");
  for (auto [n, expected] : {std::pair(0, 0), {1, 1}, {10, 55}, {50, 0}}) {
    std::vector<int64_t> out(1);
    kernel.arguments.clear();
    kernel.pass(out).pass(n).run();
    EXPECT_EQ(out[0], n == 50 ? 12586269025 : expected);
  }
}

TEST(InterpTest, WhileRunsUntilItsConditionFails) {
  KernelRunner kernel("%p: !tile.ptr<i32>, %n: i32", R"(
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %r:2 = scf.while (%x = %n, %steps = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x, %c1 : i32
      scf.condition(%go) %x, %steps : i32, i32
    } do {
    ^bb0(%x: i32, %steps: i32):
      %odd = arith.trunci %x : i32 to i1
      %next = scf.if %odd -> i32 {
        %t = arith.muli %x, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        %h = arith.divsi %x, %c2 : i32
        scf.yield %h : i32
      }
      %more = arith.addi %steps, %c1 : i32
      scf.yield %next, %more : i32, i32
    }
    tile.store %p, %r#1 : !tile.ptr<i32>)");
  std::vector<int> out(1);
  kernel.pass(out).pass(27).run();
  EXPECT_EQ(out[0], 111); // Collatz
}

TEST(InterpTest, ArgMaxTakesTheFirstOfEqualMaxima) {
  KernelRunner kernel("%x: !tile.ptr<i32>, %r: !tile.ptr<i32>", R"(
    %i = tile.range 0, 12 : tensor<12xi32>
    %xs = tile.splat %x : !tile.ptr<i32> -> tensor<12x!tile.ptr<i32>>
    %xp = tile.addptr %xs, %i : tensor<12x!tile.ptr<i32>>, tensor<12xi32>
    %v = tile.load %xp : tensor<12x!tile.ptr<i32>>
    %v2 = tile.reshape %v : tensor<12xi32> -> tensor<3x4xi32>
    %i2 = tile.reshape %i : tensor<12xi32> -> tensor<3x4xi32>
    %m:2 = "tile.reduce"(%v2, %i2) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %ai: i32, %b: i32, %bi: i32):
      %g = arith.cmpi sgt, %b, %a : i32
      %mv = arith.select %g, %b, %a : i32
      %mi = arith.select %g, %bi, %ai : i32
      tile.yield %mv, %mi : i32, i32
    }) : (tensor<3x4xi32>, tensor<3x4xi32>) -> (tensor<3xi32>, tensor<3xi32>)
    %j = tile.range 0, 3 : tensor<3xi32>
    %rs = tile.splat %r : !tile.ptr<i32> -> tensor<3x!tile.ptr<i32>>
    %rp = tile.addptr %rs, %j : tensor<3x!tile.ptr<i32>>, tensor<3xi32>
    tile.store %rp, %m#1 : tensor<3x!tile.ptr<i32>>)");
  std::vector<int> x = {1, 7, 7, 0, -3, -5, -3, -9, 2, 2, 2, 2}, r(3);
  kernel.pass(x).pass(r).run();
  EXPECT_EQ(r, (std::vector<int>{1, 4, 8}));
}

/// A region with control flow takes the lane-by-lane path.
TEST(InterpTest, ScanBothWaysWithAndWithoutControlFlow) {
  const char *const plain = "%c = arith.addi %a, %b : i32\n";
  const char *const branching = R"(
      %z = arith.constant 0 : i32
      %g = arith.cmpi sge, %b, %z : i32
      %c = scf.if %g -> i32 {
        %s = arith.addi %a, %b : i32
        scf.yield %s : i32
      } else {
        %s = arith.addi %b, %a : i32
        scf.yield %s : i32
      })";
  for (const char *combine : {plain, branching}) {
    for (bool reverse : {false, true}) {
      KernelRunner kernel("%x: !tile.ptr<i32>",
                          std::string(R"(
        %i = tile.range 0, 6 : tensor<6xi32>
        %xs = tile.splat %x : !tile.ptr<i32> -> tensor<6x!tile.ptr<i32>>
        %xp = tile.addptr %xs, %i : tensor<6x!tile.ptr<i32>>, tensor<6xi32>
        %v = tile.load %xp : tensor<6x!tile.ptr<i32>>
        %v2 = tile.reshape %v : tensor<6xi32> -> tensor<3x2xi32>
        %s = "tile.scan"(%v2) <{axis = 0 : i32)") +
                              (reverse ? ", reverse" : "") +
                              "}> ({\n^bb0(%a: i32, %b: i32):\n" + combine + R"(
          tile.yield %c : i32
        }) : (tensor<3x2xi32>) -> tensor<3x2xi32>
        %w = tile.reshape %s : tensor<3x2xi32> -> tensor<6xi32>
        tile.store %xp, %w : tensor<6x!tile.ptr<i32>>)");
      std::vector<int> x = {1, -10, 2, 20, 3, 30};
      kernel.pass(x).run();
      EXPECT_EQ(x, reverse ? (std::vector<int>{6, 40, 5, 50, 3, 30})
                           : (std::vector<int>{1, -10, 3, 10, 6, 40}));
    }
  }
}

TEST(InterpTest, DotIsTheTripleLoop) {
  KernelRunner kernel(
      "%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %r: !tile.ptr<f32>", R"(
    %ia = tile.range 0, 15 : tensor<15xi32>
    %ib = tile.range 0, 35 : tensor<35xi32>
    %ir = tile.range 0, 21 : tensor<21xi32>
    %as = tile.splat %a : !tile.ptr<f16> -> tensor<15x!tile.ptr<f16>>
    %ap = tile.addptr %as, %ia : tensor<15x!tile.ptr<f16>>, tensor<15xi32>
    %bs = tile.splat %b : !tile.ptr<f16> -> tensor<35x!tile.ptr<f16>>
    %bp = tile.addptr %bs, %ib : tensor<35x!tile.ptr<f16>>, tensor<35xi32>
    %rs = tile.splat %r : !tile.ptr<f32> -> tensor<21x!tile.ptr<f32>>
    %rp = tile.addptr %rs, %ir : tensor<21x!tile.ptr<f32>>, tensor<21xi32>
    %av = tile.load %ap : tensor<15x!tile.ptr<f16>>
    %bv = tile.load %bp : tensor<35x!tile.ptr<f16>>
    %am = tile.reshape %av : tensor<15xf16> -> tensor<3x5xf16>
    %bm = tile.reshape %bv : tensor<35xf16> -> tensor<5x7xf16>
    %z = arith.constant dense<0.5> : tensor<3x7xf32>
    %d = tile.dot %am, %bm, %z : tensor<3x5xf16>, tensor<5x7xf16>, tensor<3x7xf32>
    %df = tile.reshape %d : tensor<3x7xf32> -> tensor<21xf32>
    tile.store %rp, %df : tensor<21x!tile.ptr<f32>>)");
  const FloatFormat &half =
      *findFormat(mlir::Float16Type::get(&kernel.context));
  std::vector<uint16_t> a(15), b(35);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint16_t>(encode(half, double(int(i * 7 % 13) - 6)));
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<uint16_t>(encode(half, double(int(i * 5 % 11) - 5)));
  }
  std::vector<float> r(21);
  kernel.pass(a).pass(b).pass(r).run();
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 7; ++n) {
      double sum = 0.5;
      for (int k = 0; k < 5; ++k) {
        sum += decode(half, a[m * 5 + k]) * decode(half, b[k * 7 + n]);
      }
      EXPECT_EQ(r[m * 7 + n], sum);
    }
  }
}

TEST(InterpTest, AtomicsApplyEveryElementAndReturnTheOldValue) {
  KernelRunner kernel("%p: !tile.ptr<i32>, %q: !tile.ptr<i32>", R"(
    %i = tile.range 0, 4 : tensor<4xi32>
    %ps = tile.splat %p : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %qs = tile.splat %q : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %qp = tile.addptr %qs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
    %c2 = arith.constant dense<2> : tensor<4xi32>
    %m = arith.cmpi ne, %i, %c2 : tensor<4xi32>
    %old = tile.atomic_rmw add, acq_rel, gpu, %ps, %i, %m : tensor<4x!tile.ptr<i32>>
    tile.store %qp, %old : tensor<4x!tile.ptr<i32>>
    %c4 = arith.constant 114 : i32
    %c9 = arith.constant 9 : i32
    %was = tile.atomic_cas acq_rel, gpu, %p, %c4, %c9 : !tile.ptr<i32>)");
  std::vector<int> p = {110}, q(4, -1);
  kernel.pass(p).pass(q).run();
  EXPECT_EQ(q, (std::vector<int>{110, 110, 0, 111}));
  EXPECT_EQ(p[0], 9);
}

TEST(InterpTest, GatherOutsideOfTheAxisGivesZero) {
  KernelRunner kernel("%p: !tile.ptr<i32>", R"(
    %i = tile.range 0, 4 : tensor<4xi32>
    %ps = tile.splat %p : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %pp = tile.addptr %ps, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
    %x = tile.load %pp : tensor<4x!tile.ptr<i32>>
    %s = arith.addi %i, %i : tensor<4xi32>
    %g = tile.gather %s[%x] {axis = 0 : i32} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    tile.store %pp, %g : tensor<4x!tile.ptr<i32>>)");
  std::vector<int> p = {3, -1, 4, 1};
  kernel.pass(p).run();
  EXPECT_EQ(p, (std::vector<int>{6, 0, 0, 2}));
}

//===----------------------------------------------------------------------===//
// Services
//===----------------------------------------------------------------------===//

struct Event {
  std::string what;
  uint32_t site;
  int64_t element;
  bool operator==(const Event &) const = default;
};
thread_local std::vector<Event> events;

const HostServices recorder = {
    [](const LaunchFrame *frame, uint32_t site, const void *elements,
       int64_t count) {
      int first = 0;
      std::memcpy(&first, elements, sizeof(first));
      events.push_back({"print " + std::to_string(first) + " in " +
                            std::to_string(frame->programId[0]),
                        site, count});
    },
    [](const LaunchFrame *, uint32_t site, int64_t element, uint64_t) {
      events.push_back({"fail", site, element});
    },
    [](const LaunchFrame *, uint64_t address, uint32_t) -> uint8_t {
      return address % 16 != 8;
    },
    /*wait=*/nullptr};

// The recorder's `fail` returns; the program is over all the same.
TEST(InterpTest, PrintsAndAssertionsNameTheirSite) {
  KernelRunner kernel("%p: i64", R"(
    %i = tile.range 7, 9 : tensor<2xi32>
    tile.print "i: " (%i) {dtype = "u32"} : tensor<2xi32>
    %c8 = arith.constant dense<8> : tensor<2xi32>
    %less = arith.cmpi slt, %i, %c8 : tensor<2xi32>
    tile.assert %less, "below 8" : tensor<2xi1>
    tile.print "never: " (%i) {dtype = "i32"} : tensor<2xi32>)");
  kernel.services = &recorder;
  ASSERT_EQ(kernel.sites.size(), 3u);
  EXPECT_EQ(kernel.sites[0].dtype, DType::UInt32);
  EXPECT_EQ(kernel.sites[0].shape, std::vector<int64_t>{2});
  EXPECT_EQ(kernel.sites[1].message, "below 8");
  EXPECT_GT(kernel.sites[1].location.line, kernel.sites[0].location.line);
  events.clear();
  kernel.pass(int64_t{4096}).run();
  EXPECT_EQ(events,
            (std::vector<Event>{{"print 7 in 0", 0, 2}, {"fail", 1, 1}}));
}

TEST(InterpTest, BoundsAreCheckedWhereTheMaskIsTrue) {
  KernelRunner kernel("%p: i64", R"(
    %i = tile.range 0, 2 : tensor<2xi32>
    %c1 = arith.constant dense<1> : tensor<2xi32>
    %less = arith.cmpi slt, %i, %c1 : tensor<2xi32>
    %q = tile.int_to_ptr %p : i64 -> !tile.ptr<f32>
    %qs = tile.splat %q : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
    %two = arith.addi %i, %i : tensor<2xi32>
    %qp = tile.addptr %qs, %two : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
    tile.check_bounds "load" %qp, %less : tensor<2x!tile.ptr<f32>>
    tile.check_bounds "load" %qp : tensor<2x!tile.ptr<f32>>)");
  kernel.services = &recorder;
  ASSERT_EQ(kernel.sites.size(), 2u);
  EXPECT_EQ(kernel.sites[1].elementBytes, 4u);
  events.clear();
  kernel.pass(int64_t{4096}).run();
  EXPECT_EQ(events, (std::vector<Event>{{"fail", 1, 1}}));
}

TEST(InterpTest, NanIsFound) {
  for (float value : {1.0f, NAN}) {
    KernelRunner kernel("%v: f32", R"(
      tile.check_nan "store" %v : f32)");
    kernel.services = &recorder;
    events.clear();
    kernel.pass(value).run();
    EXPECT_EQ(events.size(), std::isnan(value) ? 1u : 0u);
  }
}

//===----------------------------------------------------------------------===//
// Modes, errors, loading
//===----------------------------------------------------------------------===//

/// The sum of 100 elements %v, or of what `body` makes of them.
static std::string sumOf(const std::string &value,
                         const std::string &body = "") {
  return R"(
  %i = tile.range 0, 100 : tensor<100xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<100x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<100x!tile.ptr<f32>>, tensor<100xi32>
  %v = tile.load %xp : tensor<100x!tile.ptr<f32>>
  )" + body +
         R"(
  %s = "tile.reduce"()" +
         value + R"() <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<100xf32>) -> f32
  tile.store %r, %s : !tile.ptr<f32>
)";
}

TEST(InterpTest, TheOracleKnowsTheSumAndBoundsTheFloatOne) {
  KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>",
                      sumOf("%e", "%e = math.exp %v : tensor<100xf32>"));
  std::vector<float> x = randomFloats(100), r(1);
  kernel.pass(x).pass(r);
  double exact = 0;
  for (float v : x) {
    exact += std::exp(double(v));
  }
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  Oracle oracle;
  ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
  FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(r.data()));
  EXPECT_DOUBLE_EQ(bound.value, exact);
  EXPECT_FALSE(oracle.undecided);
  EXPECT_GT(bound.error, 0);
  EXPECT_LT(bound.error, 1e-3 * exact); // it is a bound, not a licence
  kernel.run();
  EXPECT_LE(std::fabs(r[0] - exact), bound.error);
}

// In index order every step may be exact while another order rounds.
TEST(InterpTest, TheOracleAllowsTf32WhereTheProductDoes) {
  for (auto [precision, x, error] :
       {std::tuple(0, 1.0f / 3, 2e-3), std::tuple(2, 1.0f / 3, 1e-6),
        std::tuple(1, 1.0f / 3, 3e-6), std::tuple(0, 0.75f, 1e-6)}) {
    KernelRunner kernel(
        "%x: f32, %r: !tile.ptr<f32>",
        R"(
    %a = tile.splat %x : f32 -> tensor<1x2xf32>
    %b = arith.constant dense<1.5> : tensor<2x1xf32>
    %z = arith.constant dense<0.0> : tensor<1x1xf32>
    %d = tile.dot %a, %b, %z {precision = )" +
            std::to_string(precision) +
            R"( : i32} : tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x1xf32>
    %p = tile.splat %r : !tile.ptr<f32> -> tensor<1x1x!tile.ptr<f32>>
    tile.store %p, %d : tensor<1x1x!tile.ptr<f32>>)");
    std::vector<float> r(1);
    kernel.pass(x).pass(r);
    Oracle oracle;
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    double bound = oracle.stored.begin()->second.error;
    EXPECT_LT(bound, error) << precision << " " << x;
    EXPECT_GT(bound, error / 10) << precision << " " << x;
    EXPECT_EQ(oracle.metTf32, precision != 2);
    oracle = Oracle();
    oracle.allowsTf32 = false;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    EXPECT_LT(oracle.stored.begin()->second.error, 1e-6);
  }
}

TEST(InterpTest, TheOracleAllowsOrdersThatRoundWhereItsOwnDoesNot) {
  for (const char *op : {"tile.scan", "tile.reduce"}) {
    bool isScan = op == std::string("tile.scan");
    KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>",
                        std::string(R"(
  %i = tile.range 0, 3 : tensor<3xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<3x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<3x!tile.ptr<f32>>, tensor<3xi32>
  %v = tile.load %xp : tensor<3x!tile.ptr<f32>>
  %s = ")") + op + R"("(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<3xf32>) -> )" +
                            (isScan ? R"(tensor<3xf32>
  %rs = tile.splat %r : !tile.ptr<f32> -> tensor<3x!tile.ptr<f32>>
  %rp = tile.addptr %rs, %i : tensor<3x!tile.ptr<f32>>, tensor<3xi32>
  tile.store %rp, %s : tensor<3x!tile.ptr<f32>>
)"
                                    : R"(f32
  tile.store %r, %s : !tile.ptr<f32>
)"));
    std::vector<float> x = {-1.5f, 1.0f, 0x1p-24f}, r(3);
    kernel.pass(x).pass(r);
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    Oracle oracle;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    FloatBound bound = oracle.stored.at(
        reinterpret_cast<uint64_t>(r.data() + (isScan ? 2 : 0)));
    EXPECT_EQ(bound.value, -0.5 + 0x1p-24);
    EXPECT_GT(bound.error, 0x1p-26) << op;
  }
}

TEST(InterpTest, WholeNumbersAddUpExactlyInEveryOrder) {
  KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>", sumOf("%v"));
  std::vector<float> x(100, 3), r(1);
  kernel.pass(x).pass(r);
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  Oracle oracle;
  ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
  FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(r.data()));
  EXPECT_EQ(bound.value, 300);
  EXPECT_EQ(bound.error, 0);
}

TEST(InterpTest, ProductsThatOverflowInAnotherGroupingAreUndecided) {
  // A linear recurrence: (a, b) then (c, d) is (a c, b c + d).
  const char *const recurrence = R"(
    %v = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
    %i = tile.range 0, 4 : tensor<4xi32>
    %p = tile.addptr %v, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    %l = tile.load %p : tensor<4x!tile.ptr<f32>>
    %s:2 = "tile.scan"(%l, %l) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %e = arith.mulf %a, %c : f32
      %f = arith.mulf %b, %c : f32
      %g = arith.addf %f, %d : f32
      tile.yield %e, %g : f32, f32
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %w = tile.splat %r : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
    %q = tile.addptr %w, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %q, %s#1 : tensor<4x!tile.ptr<f32>>)";
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (auto [x, undecided] :
       {std::pair(std::vector<float>{0.5f, 0, infinity, 2}, true),
        {{1e30f, 1e-30f, 1e30f, 3}, true},
        {{0.5f, 0, 1.25f, 2}, false}}) {
    KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>", recurrence);
    std::vector<float> in = x, out(4);
    kernel.pass(in).pass(out);
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    Oracle oracle;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    bool isUnknown = llvm::any_of(oracle.stored, [](const auto &entry) {
      return std::isinf(entry.second.error);
    });
    EXPECT_EQ(isUnknown, undecided) << x[2];
  }
}

TEST(InterpTest, AtomicSumsThatAreExactInOneOrderAreNotInAll) {
  for (auto [x, isExact] :
       {std::pair(std::vector<float>{0.5f, 0.25f}, false), {{3, 4}, true}}) {
    KernelRunner kernel("%x: !tile.ptr<f32>, %r: !tile.ptr<f32>", R"(
      %i = tile.range 0, 2 : tensor<2xi32>
      %v = tile.splat %x : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
      %p = tile.addptr %v, %i : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
      %l = tile.load %p : tensor<2x!tile.ptr<f32>>
      %q = tile.splat %r : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
      %o = tile.atomic_rmw fadd, relaxed, gpu, %q, %l : tensor<2x!tile.ptr<f32>>)");
    std::vector<float> in = x, out(1);
    kernel.pass(in).pass(out);
    LaunchFrame frame = kernel.makeFrame(1, 1, 1);
    Oracle oracle;
    ASSERT_TRUE(kernel.interpreter->runOracle(&frame, 0, 1, oracle).ok());
    FloatBound bound = oracle.stored.at(reinterpret_cast<uint64_t>(out.data()));
    EXPECT_EQ(bound.value, double(x[0]) + x[1]);
    EXPECT_EQ(bound.error == 0, isExact) << x[0];
  }
}

TEST(InterpTest, TheStepLimitEndsALoop) {
  KernelRunner kernel("%n: i32", R"(
    scf.while : () -> () {
      %true = arith.constant true
      scf.condition(%true)
    } do {
      scf.yield
    })",
                      {FloatMode::Declared, 1000});
  kernel.pass(0);
  LaunchFrame frame = kernel.makeFrame(1, 1, 1);
  EXPECT_FALSE(kernel.interpreter->run(&frame, 0, 1).ok());
}

TEST(InterpTest, LoadReadsTheTextOfAModule) {
  Expected<HostCode> code =
      interp::load("func.func @five(%p: !tile.ptr<i32>) {\n"
                   "  %c = arith.constant 5 : i32\n"
                   "  tile.store %p, %c : !tile.ptr<i32>\n  return\n}\n",
                   "five");
  ASSERT_TRUE(code.ok()) << code.failure().str();
  int out = 0;
  uint64_t argument = reinterpret_cast<uint64_t>(&out);
  LaunchFrame frame{&argument, {1, 1, 1}, 0, nullptr, nullptr, {0, 0, 0}};
  code->entry(code->self, &frame, 0, 1);
  EXPECT_EQ(out, 5);
}

TEST(InterpTest, WhatItCannotRunIsSaidWithItsPlace) {
  auto missing = interp::load("module {}", "five");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.failure().message.find("'five'"), std::string::npos);
  auto unread = interp::load("func.func @five( {", "five");
  ASSERT_FALSE(unread.ok());
  EXPECT_NE(unread.failure().message.find("cannot read"), std::string::npos);
  auto unknown = interp::load(
      "func.func @f() {\n  %a = \"builtin.unrealized_conversion_cast\"() : "
      "() -> i32\n  return\n}",
      "f");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.failure().message.find("unrealized_conversion_cast"),
            std::string::npos);
  auto recursive = interp::load(
      "func.func @f() {\n  func.call @f() : () -> ()\n  return\n}", "f");
  ASSERT_FALSE(recursive.ok());
  EXPECT_NE(recursive.failure().message.find("recursion"), std::string::npos);
}

} // namespace
