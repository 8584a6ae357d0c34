//===- DeviceCheckTest.cpp - Faults are found, and nothing else -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches of kernels of many kinds pass, on every device. Then faults are
// planted in what a device left behind - an element off by eight units in its
// last place beyond the bound, an element not written, two rows swapped - and
// each must be found.
//
//===----------------------------------------------------------------------===//

#include "Example.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

using namespace nereid;
using namespace nereid::check;
using namespace nereid::literals;
using testing::HasSubstr;

namespace {

const char *const kernels = R"(
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * 3 + 1, mask=i < n)


@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * n + i, (e / tl.sum(e, 0)).to(y_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def product(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * n + i[None, :]
    mask = (i[:, None] < n) & (i[None, :] < n)
    x = tl.load(x_ptr + at, mask=mask, other=0)
    w = tl.load(w_ptr + at, mask=mask, other=0)
    tl.store(y_ptr + at, tl.dot(x, w).to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def cumulative(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0)
    tl.store(y_ptr + row * n + i, tl.cumsum(x, 0), mask=i < n)


@triton.jit
def scale_every_second(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + 2 * i, mask=i < n)
    tl.store(y_ptr + 2 * i, x * 3 + 1, mask=i < n)


@triton.jit
def scale_behind_a_barrier(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.debug_barrier()
    tl.store(y_ptr + i, x * 3 + 1)


@triton.jit
def in_place(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * x + x, mask=i < n)


@triton.jit
def column_sums(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


@triton.jit
def noise(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.randn(42, i), mask=i < n)


@triton.jit
def signs(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    far = tl.exp(x) - 1
    tl.store(y_ptr + i, tl.where(far > 0, 1, -1), mask=i < n)


@triton.jit
def largest(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf"))
    tl.store(y_ptr + row, tl.argmax(tl.exp(x), 0))


@triton.jit
def tickets(c_ptr, y_ptr):
    slot = tl.atomic_add(c_ptr, 1)
    tl.store(y_ptr + slot, tl.program_id(0))


@triton.jit
def locked(x_ptr, lock_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(y_ptr + i, tl.load(y_ptr + i, mask=i < n) + x, mask=i < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def through(table_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x_ptr = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(y_ptr + tl.program_id(0) * BLOCK + i, tl.load(x_ptr + i) * 2)


@triton.jit
def loops_on_a_rounding(x_ptr, y_ptr):
    if tl.exp(tl.load(x_ptr)) - 1 > 0:
        tl.store(y_ptr, 1.0)


@triton.jit
def runs_past(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@triton.jit
def composite(pair, square, y_ptr):
    i = tl.arange(0, 16)
    x = tl.load(pair[0] + i) + tl.load(pair[1] + i)
    tl.store(y_ptr + i, x + tl.reshape(square.load([0, 0]), [16]))


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=[])
@triton.jit
def partial_sums(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), 0))
)";

std::vector<Example> examples() {
  std::vector<Example> all;
  int64_t seed = 0;
  for (DType dtype : {f32, f16, bf16, f64, i32, i64, i8}) {
    for (int64_t n : {1, 37, 300}) {
      all.push_back({kernels,
                     "scale",
                     cdiv(n, 64),
                     {{"x_ptr", numbers({n}, dtype, ++seed)},
                      {"y_ptr", nothing({n}, dtype)}},
                     {{"n", n}, {"BLOCK", 64}}});
    }
    int64_t m = 6, n = 50;
    Tensor x = numbers({m, n}, dtype, ++seed);
    all.push_back({kernels,
                   "cumulative",
                   m,
                   {{"x_ptr", x}, {"y_ptr", nothing({m, n}, dtype)}},
                   {{"n", n}, {"BLOCK", 64}}});
    all.push_back({kernels,
                   "in_place",
                   cdiv(m * n, 64),
                   {{"x_ptr", numbers({m, n}, dtype, ++seed)}},
                   {{"n", m * n}, {"BLOCK", 64}}});
    if (isFloat(dtype)) {
      all.push_back({kernels,
                     "softmax",
                     m,
                     {{"x_ptr", x}, {"y_ptr", nothing({m, n}, dtype)}},
                     {{"n", n}, {"BLOCK", 64}}});
    }
  }
  for (DType dtype : {f32, f16, bf16, i8}) {
    DType result = dtype == i8 ? i32 : dtype;
    for (int64_t n : {16, 29}) {
      all.push_back({kernels,
                     "product",
                     1,
                     {{"x_ptr", numbers({n, n}, dtype, ++seed)},
                      {"w_ptr", numbers({n, n}, dtype, ++seed)},
                      {"y_ptr", nothing({n, n}, result)}},
                     {{"n", n}, {"BLOCK", 32}}});
    }
  }
  for (DType dtype : {f32, i32}) {
    all.push_back({kernels,
                   "column_sums",
                   9,
                   {{"x_ptr", numbers({9, 50}, dtype, ++seed)},
                    {"y_ptr", numbers({50}, dtype, ++seed)}},
                   {{"n", 50}, {"BLOCK", 64}}});
  }
  all.push_back({kernels,
                 "noise",
                 4,
                 {{"y_ptr", nothing({200}, f32)}},
                 {{"n", 200}, {"BLOCK", 64}}});
  all.push_back({kernels,
                 "locked",
                 9,
                 {{"x_ptr", numbers({9, 50}, f32, ++seed)},
                  {"lock_ptr", nothing({1}, i32)},
                  {"y_ptr", numbers({50}, f32, ++seed)}},
                 {{"n", 50}, {"BLOCK", 64}}});
  return all;
}

TEST(DeviceCheckTest, RightResultsPass) {
  for (Example &example : examples()) {
    CheckReport report = checkLaunch(example.make());
    EXPECT_TRUE(report.passed()) << example.kernel << "\n" << report.text();
    for (const ArrayReport &array : report.arrays) {
      EXPECT_EQ(array.undecided, 0) << example.kernel << "\n" << report.text();
    }
  }
}

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

/// Spoils one thing in what a device left behind.
class Planter {
public:
  explicit Planter(const LaunchCheck &check) : arrays(check.arrays()) {}

  enum class Kind { OffByEight, NotWritten, RowsSwapped };

  /// False where the launch has no place for such a fault.
  bool plant(Kind kind, LaunchCheck::Run &run, std::mt19937_64 &random) const {
    for (int attempt = 0; attempt < 200; ++attempt) {
      const Arrays::View &view = arrays.views[random() % arrays.views.size()];
      int64_t element = static_cast<int64_t>(random() % view.tensor.numel());
      bool done = kind == Kind::OffByEight   ? offByEight(run, view, element)
                  : kind == Kind::NotWritten ? notWritten(run, view, element)
                                             : swapRows(run, view, random);
      if (done) {
        return true;
      }
    }
    return false;
  }

private:
  static int64_t bytesOf(const Arrays::View &view) {
    return static_cast<int64_t>(byteSize(view.tensor.dtype()));
  }
  int64_t offsetOf(const Arrays::View &view, int64_t element) const {
    return view.offset + element * bytesOf(view); // row-major here
  }
  bool isWritten(const LaunchCheck::Run &run, const Arrays::View &view,
                 int64_t offset) const {
    auto first = static_cast<size_t>(offset);
    const auto &now = run.reference->contents[view.region];
    const auto &then = run.before[view.region];
    return !std::equal(&now[first], &now[first] + bytesOf(view), &then[first]);
  }

  bool offByEight(LaunchCheck::Run &run, const Arrays::View &view,
                  int64_t element) const {
    int64_t offset = offsetOf(view, element);
    std::byte *place = &run.after[view.region][offset];
    const Reference::Bound *bound = run.reference->find(view.region, offset);
    uint64_t bits = 0;
    if (!isFloat(view.tensor.dtype())) {
      std::memcpy(&bits, place, bytesOf(view));
      bits += 8;
    } else if (bound && !bound->isUndecided()) {
      const interp::FloatFormat &format = *bound->is.format;
      double reach = std::fabs(bound->is.value) + bound->is.error;
      bits = interp::encode(
          format,
          interp::round(format, bound->is.value + bound->is.error +
                                    8 * interp::spacing(format, reach)));
    } else {
      return false;
    }
    std::memcpy(place, &bits, bytesOf(view));
    return true;
  }

  bool notWritten(LaunchCheck::Run &run, const Arrays::View &view,
                  int64_t element) const {
    int64_t offset = offsetOf(view, element);
    if (!isWritten(run, view, offset)) {
      return false;
    }
    std::memcpy(&run.after[view.region][offset],
                &run.before[view.region][offset], bytesOf(view));
    return true;
  }

  /// Two rows that differ by more than their bounds, being drawn apart.
  bool swapRows(LaunchCheck::Run &run, const Arrays::View &view,
                std::mt19937_64 &random) const {
    if (view.tensor.rank() != 2 || view.tensor.size(0) < 2 ||
        !isWritten(run, view, view.offset)) {
      return false;
    }
    int64_t rows = view.tensor.size(0),
            bytes = view.tensor.size(1) * bytesOf(view);
    int64_t a = static_cast<int64_t>(random() % rows), b = (a + 1) % rows;
    std::byte *first = &run.after[view.region][view.offset];
    std::swap_ranges(first + a * bytes, first + (a + 1) * bytes,
                     first + b * bytes);
    return true;
  }

  const Arrays &arrays;
};

TEST(DeviceCheckTest, PlantedFaultsAreFound) {
  std::mt19937_64 random(15);
  int planted[3] = {0, 0, 0};
  for (Example &example : examples()) {
    LaunchCheck check(example.make());
    LaunchCheck::Run run = check.run(Device::cpu());
    for (int k = 0; k < 9; ++k) {
      LaunchCheck::Run spoilt = run;
      auto kind = static_cast<Planter::Kind>(k % 3);
      if (!Planter(check).plant(kind, spoilt, random)) {
        continue;
      }
      ++planted[k % 3];
      CheckReport report;
      check.judge(spoilt, report);
      EXPECT_FALSE(report.passed()) << example.kernel << ", fault " << k << "\n"
                                    << report.text();
    }
  }
  EXPECT_GE(planted[0] + planted[1] + planted[2], 200);
  for (int count : planted) {
    EXPECT_GE(count, 40);
  }
}

//===----------------------------------------------------------------------===//
// What is reported
//===----------------------------------------------------------------------===//

TEST(DeviceCheckTest, AMissingElementIsSaidToBeMissing) {
  Example example{
      kernels,
      "scale",
      1,
      {{"x_ptr", numbers({8}, f32, 1)}, {"y_ptr", nothing({8}, f32)}},
      {{"n", 8}, {"BLOCK", 64}}};
  LaunchCheck check(example.make());
  LaunchCheck::Run run = check.run(Device::cpu());
  size_t x = check.arrays().views[0].region, y = check.arrays().views[1].region;
  std::memcpy(&run.after[y][12], &run.before[y][12], 4);
  std::memset(&run.after[x][8], 0, 4); // an input
  CheckReport report;
  check.judge(run, report);
  EXPECT_THAT(report.text(), HasSubstr("element 3: not written on cpu"));
  EXPECT_THAT(report.text(), HasSubstr("element 2: 0 on cpu, expected "));
  EXPECT_THAT(report.text(), HasSubstr("WRONG, 1 of 8 elements"));
}

TEST(DeviceCheckTest, WritesBetweenAndAroundTheElementsAreFound) {
  Tensor wide = nothing({4, 8}, f32);
  Example example{kernels,
                  "scale",
                  1,
                  {{"x_ptr", numbers({4}, f32, 1)},
                   {"y_ptr", wide.slice(1, 0, 1).squeeze(1)}},
                  {{"n", 1}, {"BLOCK", 64}}};
  LaunchCheck check(example.make());
  for (bool isAround : {false, true}) {
    LaunchCheck::Run run = check.run(Device::cpu());
    size_t region = check.arrays().views[1].region;
    if (isAround) {
      run.damagedRegion = static_cast<int64_t>(region);
    } else {
      run.after[region][5] ^= std::byte{1};
    }
    CheckReport report;
    check.judge(run, report);
    EXPECT_FALSE(report.passed());
    EXPECT_THAT(report.text(),
                HasSubstr(isAround
                              ? "in front of it or after it is changed"
                              : "1 bytes between the elements are changed"));
  }
}

TEST(DeviceCheckTest, DecisionsWithinARoundingAreUndecidedOneByOne) {
  Tensor x = numbers({64}, f32, 3);
  static_cast<float *>(x.data())[7] = 0; // exp(0) - 1 is 0, give or take
  Example example{kernels,
                  "signs",
                  1,
                  {{"x_ptr", x}, {"y_ptr", nothing({64}, i32)}},
                  {{"n", 64}, {"BLOCK", 64}}};
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_EQ(report.arrays[1].undecided, 1) << report.text();
  EXPECT_THAT(report.text(),
              HasSubstr("1 of 64 elements hang on a rounding or an order"));
}

TEST(DeviceCheckTest, TiesOfComputedNumbersAreUndecided) {
  Tensor x = numbers({4, 32}, f32, 5);
  auto *values = static_cast<float *>(x.data());
  values[32 + 3] = values[32 + 9] = 10; // row 1
  Example example{kernels,
                  "largest",
                  4,
                  {{"x_ptr", x}, {"y_ptr", nothing({4}, i32)}},
                  {{"n", 32}, {"BLOCK", 32}}};
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_EQ(report.arrays[1].undecided, 1) << report.text();
}

TEST(DeviceCheckTest, WhatHangsOnTheOrderOfProgramsIsUndecided) {
  Example example{kernels,
                  "tickets",
                  8,
                  {{"c_ptr", nothing({1}, i32)}, {"y_ptr", nothing({9}, i32)}},
                  {}};
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_EQ(report.arrays[0].undecided, 0) << report.text(); // the counter
  EXPECT_EQ(report.arrays[1].undecided, 8) << report.text();
}

// 1 - 0.5 + 2^-24 is exact from the first row on and from the last one on, and
// rounds in the order 1 + 2^-24 - 0.5.
TEST(DeviceCheckTest, SumsUnderALockMayRoundInOtherOrders) {
  Tensor x = Tensor::fromVector<float>({1, -0.5f, 0x1p-24f}, Shape{3, 1});
  Example example{kernels,
                  "locked",
                  3,
                  {{"x_ptr", x},
                   {"lock_ptr", nothing({1}, i32)},
                   {"y_ptr", nothing({1}, f32)}},
                  {{"n", 1}, {"BLOCK", 64}}};
  LaunchCheck check(example.make());
  LaunchCheck::Run run = check.run(Device::cpu());
  size_t region = check.arrays().views[2].region;
  for (auto [value, isRight] : {std::pair(0.5f, true), {0.5001f, false}}) {
    std::memcpy(&run.after[region][0], &value, 4);
    CheckReport report;
    check.judge(run, report);
    EXPECT_EQ(report.passed(), isRight) << report.text();
  }
}

TEST(DeviceCheckTest, ControlFlowWithinARoundingDecidesNothing) {
  Example example{kernels,
                  "loops_on_a_rounding",
                  1,
                  {{"x_ptr", nothing({1}, f32)}, {"y_ptr", nothing({1}, f32)}},
                  {}};
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed());
  EXPECT_THAT(report.text(), HasSubstr("nothing is decided"));
}

TEST(DeviceCheckTest, AKernelThatLeavesItsArraysIsSaidToDoSo) {
  Example example{
      kernels,
      "runs_past",
      1,
      {{"x_ptr", nothing({15}, f32)}, {"y_ptr", nothing({16}, f32)}},
      {{"BLOCK", 16}}};
  try {
    checkLaunch(example.make());
    FAIL() << "passes";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::KernelFault);
    EXPECT_THAT(error.what(), HasSubstr("loads outside of the launch's arrays: "
                                        "element 15 of 'x_ptr', which is "
                                        "fp32[15]"));
    EXPECT_THAT(error.what(), HasSubstr("NEREID_CHECK=oob"));
  }
}

//===----------------------------------------------------------------------===//
// What is copied
//===----------------------------------------------------------------------===//

TEST(DeviceCheckTest, ArraysThatShareMemoryShareItInTheCopies) {
  // y begins in the middle of x. Without the barrier the order of one program's
  // loads and stores would be the target's: as many elements at a time as its
  // vectors hold.
  Tensor memory = numbers({200}, f32, 7);
  Example example{
      kernels,
      "scale_behind_a_barrier",
      1,
      {{"x_ptr", memory.slice(0, 0, 64)}, {"y_ptr", memory.slice(0, 32, 96)}},
      {{"BLOCK", 64}}};
  LaunchCheck check(example.make());
  EXPECT_EQ(check.arrays().regions.size(), 1u);
  CheckReport report;
  check.judge(check.run(Device::cpu()), report);
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_THAT(report.text(),
              testing::StartsWith("check note: arrays overlap: bytes 128 to "
                                  "256 of x_ptr are bytes 0 to 128 of y_ptr, "
                                  "and the kernel stores there."));
}

TEST(DeviceCheckTest, OnlyBytesInCommonThatAreStoredToAreNoted) {
  auto notesOf = [](const char *kernel, Tensor x, Tensor y, int64_t n) {
    Example example{kernels,
                    kernel,
                    1,
                    {{"x_ptr", std::move(x)}, {"y_ptr", std::move(y)}},
                    {{"n", n}, {"BLOCK", 64}}};
    CheckReport report = checkLaunch(example.make());
    EXPECT_TRUE(report.passed()) << report.text();
    return report.notes;
  };
  Tensor memory = numbers({200}, f32, 7);
  auto part = [&](int64_t begin, int64_t end) {
    return memory.slice(0, begin, end);
  };
  EXPECT_THAT(notesOf("scale", part(0, 64), part(64, 128), 64),
              testing::IsEmpty());
  // They overlap where nothing is stored.
  EXPECT_THAT(notesOf("scale", part(32, 64), part(0, 64), 32),
              testing::IsEmpty());
  // In place: the arrays are one.
  EXPECT_THAT(
      notesOf("scale", part(0, 64), part(0, 64), 64),
      testing::ElementsAre(HasSubstr("bytes 0 to 256 of x_ptr are bytes 0 to "
                                     "256 of y_ptr")));
  // Two columns of one array: each lies in the gaps of the other.
  Tensor columns = numbers({64, 2}, f32, 8);
  EXPECT_THAT(notesOf("scale_every_second", columns.slice(1, 0, 1),
                      columns.slice(1, 1, 2), 64),
              testing::IsEmpty());
}

TEST(DeviceCheckTest, AddressesLeadIntoTheCopies) {
  Tensor a = numbers({16}, f32, 8), b = numbers({16}, f32, 9);
  auto address = [](const Tensor &t) {
    return static_cast<int64_t>(reinterpret_cast<uint64_t>(t.data()));
  };
  Tensor table = Tensor::fromVector<int64_t>({address(b), address(a)});
  Example example{kernels,
                  "through",
                  2,
                  {{"table_ptr", table}, {"y_ptr", nothing({2, 16}, f32)}},
                  {{"BLOCK", 16}}};
  CheckedLaunch &launch = example.make();
  launch.reachable = {{"a", a}, {"b", b}};
  CheckReport report = checkLaunch(launch);
  EXPECT_TRUE(report.passed()) << report.text();
}

TEST(DeviceCheckTest, TensorsOfTuplesAndDescriptorsAreCopied) {
  Tensor a = numbers({16}, f32, 1), b = numbers({16}, f32, 2),
         c = numbers({4, 4}, f32, 3), y = nothing({16}, f32);
  Tuple pair{a, b};
  TensorDescriptor square(c, {4, 4});
  Example example{kernels, "composite", 1, {{"y_ptr", y}}};
  example.make();
  example.arguments.emplace_back("pair", Argument(pair));
  example.arguments.emplace_back("square", Argument(square));
  example.launch.arguments = example.arguments;
  CheckReport report = checkLaunch(example.launch);
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_THAT(report.text(),
              HasSubstr("check pair[1] on cpu: fp32[16]: right"));
  EXPECT_THAT(report.text(), HasSubstr("check square on cpu: fp32[4, 4]"));
  EXPECT_THAT(y.toFloat64(),
              testing::Each(0.0)); // the launch's own is as it was
}

TEST(DeviceCheckTest, TheReferenceTakesTheConfigurationThatTuningChose) {
  Example example{
      kernels,
      "partial_sums",
      [](const Meta &meta) { return Grid(cdiv(300, meta["BLOCK"])); },
      {{"x_ptr", numbers({300}, f32, 11)}, {"y_ptr", nothing({20}, f32)}},
      {{"n", 300}}};
  CheckReport report = checkLaunch(example.make());
  EXPECT_TRUE(report.passed()) << report.text();
}

} // namespace
