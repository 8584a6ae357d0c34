//===- TensorTest.cpp - Tensors: views, copies, conversions, makers -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Tensor.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/FloatFormats.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <numbers>
#include <random>
#include <sys/resource.h>

using namespace nereid;
using testing::ElementsAre;
using testing::HasSubstr;

static const DType allDTypes[] = {i1,  i8,  i16,     i32,   i64, u8,   u16, u32,
                                  u64, f16, fp8e4nv, fp8e5, f32, bf16, f64};

/// The message of the Error that `f` throws.
template <typename F>
static std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Tensor, OwnedMemoryIsAlignedAndDescribed) {
  for (DType dtype : allDTypes) {
    for (int64_t n : {0, 1, 63, 5000, 3000000}) {
      Tensor t = empty({n}, dtype);
      uintptr_t align = t.bytes() >= (4 << 20) ? 2 << 20
                        : t.bytes() >= 4096    ? 4096
                                               : 64;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % align, 0u);
      EXPECT_EQ(t.numel(), n);
      EXPECT_EQ(t.bytes(), n * static_cast<int64_t>(byteSize(dtype)));
    }
  }
  Tensor t = zeros({2, 3}, bf16);
  EXPECT_EQ(t.str(), "bf16[2, 3]");
  EXPECT_EQ(t.transpose(0, 1).str(), "bf16[3, 2] with strides [1, 3]");
  EXPECT_EQ(t.stride(0), 3);
  EXPECT_EQ(t.stride(-1), 1);
  EXPECT_FALSE(Tensor().defined());
}

/// A strided view and its elements, by brute force over the indices.
static std::vector<double> elements(const Tensor &t) {
  std::vector<double> out;
  Shape index(t.rank(), 0);
  Tensor wide = t.to(f64);
  auto *data = static_cast<const double *>(wide.data());
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t offset = 0;
    for (int d = 0; d < t.rank(); ++d) {
      offset += index[d] * wide.stride(d);
    }
    out.push_back(data[offset]);
    for (int d = t.rank(); d-- > 0 && ++index[d] == t.size(d);) {
      index[d] = 0;
    }
  }
  return out;
}

TEST(Tensor, ViewsSelectTheElementsTheySay) {
  Tensor t = arange({4, 6}, i32);
  EXPECT_THAT(t.slice(0, 1, 3).slice(1, 0, 6, 2).toVector<int>(),
              ElementsAre(6, 8, 10, 12, 14, 16));
  EXPECT_THAT(t.select(1, -1).toVector<int>(), ElementsAre(5, 11, 17, 23));
  EXPECT_THAT(t.slice(0, -1).toVector<int>(),
              ElementsAre(18, 19, 20, 21, 22, 23));
  EXPECT_EQ(t.slice(0, 3, 1).numel(), 0);
  EXPECT_EQ(t.slice(1, 4, 100).shape(), (Shape{4, 2}));
  EXPECT_THAT(t.transpose(0, 1).slice(0, 0, 2).toVector<int>(),
              ElementsAre(0, 6, 12, 18, 1, 7, 13, 19));
  EXPECT_EQ(t.view({2, -1, 3}).shape(), (Shape{2, 4, 3}));
  EXPECT_EQ(t.at({2, 3}), 15);
  EXPECT_EQ(t.permute({1, 0}).strides(), (Shape{1, 6}));
  Tensor row = t.select(0, 1).expand({3, 6});
  EXPECT_EQ(row.stride(0), 0);
  EXPECT_EQ(row.extentBytes(), 6 * 4);
  EXPECT_EQ(elements(row).size(), 18u);
  EXPECT_EQ(t.unsqueeze(1).shape(), (Shape{4, 1, 6}));
  EXPECT_EQ(t.unsqueeze(-1).squeeze(-1).shape(), t.shape());
}

TEST(Tensor, ViewsShareMemoryCopiesDoNot) {
  Tensor t = zeros({2, 3}, f32);
  t.transpose(0, 1).select(0, 1).fill(7);
  EXPECT_THAT(t.toVector<float>(), ElementsAre(0, 7, 0, 0, 7, 0));
  Tensor c = t.clone();
  c.fill(1);
  EXPECT_EQ(t.at({0, 0}), 0);
  EXPECT_EQ(t.transpose(0, 1).reshape({6}).at({1}), 0);
}

/// The places in memory of t's elements, in its order.
static std::vector<int64_t> placesOf(const Tensor &t) {
  std::vector<int64_t> places = {0};
  for (int axis = 0; axis < t.rank(); ++axis) {
    std::vector<int64_t> next;
    for (int64_t place : places) {
      for (int64_t i = 0; i < t.size(axis); ++i) {
        next.push_back(place + i * t.stride(axis));
      }
    }
    places = std::move(next);
  }
  return places;
}

/// Can a tensor of `shape` have its elements at `places`? Its strides would be
/// the distances of neighbours.
static bool canHave(const Shape &shape, const std::vector<int64_t> &places) {
  std::vector<int64_t> expected = {0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t step = 1;
    for (size_t inner = axis + 1; inner < shape.size(); ++inner) {
      step *= shape[inner];
    }
    std::vector<int64_t> next;
    for (int64_t place : expected) {
      for (int64_t i = 0; i < shape[axis]; ++i) {
        next.push_back(place + (shape[axis] > 1
                                    ? i * places[static_cast<size_t>(step)]
                                    : 0));
      }
    }
    expected = std::move(next);
  }
  return expected == places;
}

/// `view` finds a view exactly where there is one, and `reshape` is that view
/// or a copy with the same values.
TEST(Tensor, ViewsAreFoundWhereStridesAllowThem) {
  std::mt19937 random(11);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int found = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const int64_t sizes[] = {1, 2, 3, 4, 6};
    Tensor t = arange({sizes[pick(5)], sizes[pick(5)], sizes[pick(5)], 4}, i32);
    if (pick(2)) {
      t = t.transpose(int(pick(4)), int(pick(4)));
    }
    if (pick(2)) {
      int axis = int(pick(4));
      t = t.slice(axis, 0, 1 + pick(t.size(axis)));
    }
    if (pick(4) == 0) {
      t = t.select(int(pick(4)), 0).unsqueeze(1).expand({-1, 2, -1, -1});
    }
    Shape shape = {1};
    for (int64_t left = t.numel(); left > 1 || shape.size() < 2;) {
      int64_t factor = 1 + pick(left);
      while (left % factor) {
        ++factor;
      }
      shape.push_back(factor);
      left /= factor;
    }
    bool isView = canHave(shape, placesOf(t));
    (isView ? found : refused) += 1;
    std::string what = t.str() + " as " + zeros(shape).str();
    Tensor reshaped = t.reshape(shape);
    EXPECT_EQ(reshaped.toVector<int>(), t.toVector<int>()) << what;
    EXPECT_EQ(reshaped.data() == t.data(), isView) << what;
    EXPECT_EQ(errorOf([&] { t.view(shape); }).empty(), isView) << what;
  }
  EXPECT_GT(found, 200);
  EXPECT_GT(refused, 200);
}

/// Random views of a random tensor: copyFrom against the brute-force walk.
TEST(Tensor, CopiesOfRandomViewsMatchBruteForce) {
  std::mt19937 random(7);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Shape shape;
    for (int64_t d = 1 + pick(4); d; --d) {
      shape.push_back(1 + pick(7));
    }
    Tensor t = arange(shape, allDTypes[1 + pick(4)]);
    for (int step = 0; step < 3; ++step) {
      int axis = static_cast<int>(pick(t.rank()));
      switch (pick(4)) {
      case 0:
        t = t.transpose(axis, static_cast<int>(pick(t.rank())));
        break;
      case 1:
        t = t.slice(axis, pick(t.size(axis) + 1), INT64_MAX, 1 + pick(3));
        break;
      case 2:
        t = t.unsqueeze(axis);
        break;
      case 3:
        if (t.size(axis) == 1) {
          Shape wider = t.shape();
          wider[axis] = 1 + pick(4);
          t = t.expand(wider);
        }
        break;
      }
    }
    std::vector<double> expected = elements(t);
    EXPECT_EQ(t.toFloat64(), expected) << t.str();
    EXPECT_EQ(t.clone().toFloat64(), expected) << t.str();
    Tensor target = zeros(t.shape(), f32).transpose(0, t.rank() - 1);
    Tensor source = t.transpose(0, t.rank() - 1);
    target.copyFrom(source);
    EXPECT_EQ(elements(target), elements(source)) << t.str();
  }
}

// Both dimensions are gone over in blocks, which sizes do not fill.
TEST(Tensor, CopiesOfTransposedTensorsMatchBruteForce) {
  for (Shape shape : {Shape{37, 21}, {8, 8}, {3, 530, 19}, {2, 9, 3, 40}}) {
    for (DType from : {f32, i16, f16, f64}) {
      Tensor t = arange(shape, from);
      for (int axis = 0; axis + 1 < t.rank(); ++axis) {
        Tensor view = t.transpose(axis, t.rank() - 1);
        std::vector<double> expected = elements(view);
        EXPECT_EQ(view.contiguous().toFloat64(), expected) << view.str();
        EXPECT_EQ(view.to(f32).toFloat64(), expected) << view.str();
        Tensor every = view.slice(0, 0, INT64_MAX, 2),
               target = zeros(t.shape(), f64)
                            .transpose(axis, t.rank() - 1)
                            .slice(0, 0, INT64_MAX, 2);
        target.copyFrom(every);
        EXPECT_EQ(elements(target), elements(every)) << every.str();
      }
    }
  }
}

TEST(Tensor, OverlappingCopyBehavesAsIfThroughATemporary) {
  Tensor t = arange({8}, i32);
  t.slice(0, 1).copyFrom(t.slice(0, 0, 7));
  EXPECT_THAT(t.toVector<int>(), ElementsAre(0, 0, 1, 2, 3, 4, 5, 6));
}

TEST(Tensor, ParallelCopyOfAStridedTensorIsComplete) {
  Tensor t = arange({700, 900}, i32);
  Tensor u = t.transpose(0, 1).contiguous();
  for (int64_t i = 0; i < 900; i += 37) {
    for (int64_t j = 0; j < 700; j += 41) {
      ASSERT_EQ(u.at({i, j}), static_cast<double>(j * 900 + i));
    }
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The rules at the head of Tensor.h, value by value, in long double.
static long double reference(long double v, DType to) {
  auto round = [&](auto encode, auto decode) {
    return static_cast<long double>(decode(encode(static_cast<double>(v))));
  };
  switch (to) {
  case DType::Int1:
    return v != 0;
  case DType::Float32:
    return static_cast<float>(v);
  case DType::Float64:
    return static_cast<double>(v);
  case DType::Float16:
    return round(encodeFloat16, decodeFloat16);
  case DType::BFloat16:
    return round(encodeBFloat16, decodeBFloat16);
  case DType::Float8E5M2:
    return round(encodeFloat8E5M2, decodeFloat8E5M2);
  case DType::Float8E4M3:
    return round(encodeFloat8E4M3, decodeFloat8E4M3);
  default:
    break;
  }
  if (std::isnan(v)) {
    return 0;
  }
  bool sign = isSigned(to);
  unsigned bits = bitWidth(to);
  long double low = sign ? -std::ldexp(1.0L, bits - 1) : 0;
  long double high = std::ldexp(1.0L, sign ? bits - 1 : bits) - 1;
  return std::clamp(std::trunc(v), low, high);
}

TEST(Tensor, FloatsConvertToEveryTypeByTheRules) {
  std::vector<double> values = {
      0,        -0.0,      0.5,   -0.5,  1,      1.5,   -1.5,
      127,      127.9,     128,   -128,  -129,   255,   256,
      448,      464,       1e4,   65504, 65520,  57344, 61440,
      70000,    1e10,      -1e10, 1e19,  1e20,   -1e19, 1e300,
      INFINITY, -INFINITY, NAN,   1e-7,  5.9e-8, 1e-40, 3.14159265358979};
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    values.push_back(std::ldexp(random() / 2147483648.0 - 1,
                                static_cast<int>(random() % 80) - 40));
  }
  Tensor source = Tensor::fromVector(values);
  for (DType dtype : allDTypes) {
    std::vector<double> got = source.to(dtype).toFloat64();
    for (size_t i = 0; i < values.size(); ++i) {
      long double expected = reference(values[i], dtype);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got[i])) << languageName(dtype);
        continue;
      }
      EXPECT_EQ(got[i], static_cast<double>(expected))
          << languageName(dtype) << " of " << values[i];
    }
  }
}

TEST(Tensor, IntegersTruncateInTwosComplement) {
  std::mt19937_64 random(5);
  std::vector<int64_t> values = {0,         1,   -1,  INT64_MIN,
                                 INT64_MAX, 255, 256, -129};
  for (int i = 0; i < 500; ++i) {
    values.push_back(static_cast<int64_t>(random()) >> (random() % 64));
  }
  Tensor source = Tensor::fromVector(values);
  for (DType dtype : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    std::vector<int64_t> got = source.to(dtype).to(i64).toVector<int64_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      unsigned shift = 64 - bitWidth(dtype);
      uint64_t top = static_cast<uint64_t>(values[i]) << shift;
      int64_t expected = isSigned(dtype) ? static_cast<int64_t>(top) >> shift
                                         : static_cast<int64_t>(top >> shift);
      EXPECT_EQ(got[i], expected) << languageName(dtype);
    }
  }
}

/// A 64-bit integer is not rounded twice on its way to a small float.
TEST(Tensor, WideIntegersRoundOnce) {
  // Just above the middle between two neighbouring bf16: 2^63 + 2^55 is the
  // tie, and double cannot hold the 1.
  std::vector<uint64_t> values = {(uint64_t{1} << 63) + (uint64_t{1} << 55) + 1,
                                  (uint64_t{1} << 63) + (uint64_t{1} << 55)};
  std::vector<double> got = Tensor::fromVector(values).to(bf16).toFloat64();
  EXPECT_EQ(got[0], std::ldexp(1.0, 63) + std::ldexp(1.0, 56));
  EXPECT_EQ(got[1], std::ldexp(1.0, 63));
}

TEST(Tensor, EveryPairOfTypesKeepsSmallIntegers) {
  Tensor source = arange({2}, i32); // 0 and 1 exist in every type
  for (DType a : allDTypes) {
    for (DType b : allDTypes) {
      EXPECT_THAT(source.to(a).to(b).toFloat64(), ElementsAre(0, 1))
          << languageName(a) << " to " << languageName(b);
    }
  }
}

//===----------------------------------------------------------------------===//
// Makers
//===----------------------------------------------------------------------===//

TEST(Generators, PhiloxMatchesItsPublishedVector) {
  // Random123's known answers: counter 0, key 0 gives 6627e8d5 e169c58d
  // bc57ac4c 9b00dbd8. rand() folds the sign and scales by 4.6566127342e-10.
  std::vector<float> got = rand({4}, f32, Device::cpu(), 0).toVector<float>();
  const uint32_t bits[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) {
    auto x = static_cast<int32_t>(bits[i]);
    EXPECT_EQ(got[i], static_cast<float>(x < 0 ? ~x : x) * 4.6566127342e-10f);
  }
}

TEST(Generators, ValuesDependOnIndexAndSeedOnly) {
  setNumThreads(4);
  Tensor a = randn({100003}, f32, Device::cpu(), 42);
  setNumThreads(1);
  Tensor b = randn({200001}, f32, Device::cpu(), 42);
  setNumThreads(0);
  EXPECT_EQ(a.toVector<float>(), b.slice(0, 0, 100003).toVector<float>());
  EXPECT_NE(a.toVector<float>(),
            randn({100003}, f32, Device::cpu(), 43).toVector<float>());
}

TEST(Generators, Moments) {
  auto moments = [](const Tensor &t) {
    double sum = 0, squares = 0;
    for (double v : t.toFloat64()) {
      sum += v;
      squares += v * v;
    }
    double n = static_cast<double>(t.numel());
    return std::pair(sum / n, squares / n - sum / n * sum / n);
  };
  // Standard errors at a million: 1e-3 for the means, about 1.4e-3 for the
  // normal variance. Five of them.
  auto [meanU, varU] = moments(rand({1000000}));
  EXPECT_NEAR(meanU, 0.5, 1.5e-3);
  EXPECT_NEAR(varU, 1 / 12.0, 1e-3);
  auto [meanN, varN] = moments(randn({1000000}));
  EXPECT_NEAR(meanN, 0, 5e-3);
  EXPECT_NEAR(varN, 1, 7e-3);
}

TEST(Generators, NormalNumbersAreThoseOfTheUniformOnes) {
  Tensor u = rand({100000}, f32, Device::cpu(), 5),
         z = randn({100000}, f32, Device::cpu(), 5);
  auto uniform = u.toVector<double>(), normal = z.toVector<double>();
  for (size_t i = 0; i < uniform.size(); i += 2) {
    double radius = std::sqrt(-2 * std::log(std::max(1e-7, uniform[i])));
    double angle = 2 * std::numbers::pi * uniform[i + 1];
    // The radius of u near 1 is as exact as u itself.
    double bound = 4e-7 * (radius + 1e-3);
    ASSERT_NEAR(normal[i], radius * std::cos(angle), bound) << i;
    ASSERT_NEAR(normal[i + 1], radius * std::sin(angle), bound) << i;
  }
}

TEST(Generators, RandintCoversItsRange) {
  for (DType dtype : {i8, i32, i64, u8, f16}) {
    std::vector<int> counts(10);
    for (double v : randint({10000}, 3, 13, dtype).toFloat64()) {
      ASSERT_GE(v, 3);
      ASSERT_LT(v, 13);
      ++counts[static_cast<size_t>(v) - 3];
    }
    for (int count : counts) {
      EXPECT_NEAR(count, 1000, 150);
    }
  }
  for (double v : randint({1000}, INT64_MIN, INT64_MAX, i64).toFloat64()) {
    ASSERT_NE(v, 0);
  }
  EXPECT_THAT(randint({3}, -5, -4).toVector<int>(), ElementsAre(-5, -5, -5));
}

TEST(Generators, FillAndArange) {
  EXPECT_THAT(full({3}, 2.5, f16).toFloat64(), ElementsAre(2.5, 2.5, 2.5));
  EXPECT_THAT(arange({2, 2}, f32, Device::cpu(), 1, 0.5).toVector<float>(),
              ElementsAre(1, 1.5, 2, 2.5));
  EXPECT_THAT(full({2}, 5, i1).toFloat64(), ElementsAre(1, 1));
  EXPECT_EQ(full({}, 4, i32).item(), 4);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(TensorErrors, NameWhatIsWrong) {
  Tensor t = zeros({2, 3});
  EXPECT_THAT(errorOf([&] { t.size(2); }), HasSubstr("dimension 2"));
  EXPECT_THAT(errorOf([&] { t.view({7}); }), HasSubstr("6 elements"));
  EXPECT_THAT(
      errorOf([&] { t.transpose(0, 1).view({6}); }),
      HasSubstr("view: expected a tensor that strides of [6] can read in "
                "its order, got fp32[3, 2] with strides [1, 3]; hint: "
                "reshape"));
  EXPECT_THAT(errorOf([&] { t.data<int>(); }), HasSubstr("int32"));
  EXPECT_THAT(errorOf([&] { t.select(0, 2); }), HasSubstr("index 2"));
  EXPECT_THAT(errorOf([&] { t.select(-1, 5); }),
              HasSubstr("select of fp32[2, 3]: expected an index from -3 to 2, "
                        "got index 5 of dimension -1"));
  EXPECT_THAT(errorOf([&] { t.slice(0, 0, 2, 0); }),
              HasSubstr("expected a step from 1 on, got step 0"));
  EXPECT_THAT(errorOf([&] { t.expand({5, 3}); }),
              HasSubstr("expand of fp32[2, 3]: expected a shape whose last "
                        "sizes are the tensor's where those are not 1, got "
                        "[5, 3]"));
  EXPECT_THAT(errorOf([&] { t.copyFrom(zeros({5})); }),
              HasSubstr("copyFrom: expected a source that broadcasts to "
                        "fp32[2, 3], got fp32[5]"));
  EXPECT_THAT(errorOf([&] { t.view({-1, -1}); }),
              HasSubstr("view of fp32[2, 3]: expected sizes from 0 on, and -1 "
                        "once at most, got [-1, -1]"));
  EXPECT_THAT(errorOf([&] { t.unsqueeze(5); }),
              HasSubstr("unsqueeze of fp32[2, 3]: expected a dimension from -3 "
                        "to 2, got dimension 5"));
  EXPECT_THAT(errorOf([] { Tensor().size(0); }),
              HasSubstr("a dimension: expected a tensor with memory, got an "
                        "undefined tensor"));
  EXPECT_THAT(errorOf([] { zeros({}).size(0); }),
              HasSubstr("a dimension of fp32[]: expected a tensor with "
                        "dimensions, got dimension 0"));
  EXPECT_THAT(errorOf([&] { t.squeeze(0); }), HasSubstr("size 2"));
  EXPECT_THAT(errorOf([&] { t.item(); }), HasSubstr("exactly one"));
  EXPECT_THAT(errorOf([&] { t.at({1}); }), HasSubstr("expected 2 indices"));
  EXPECT_THAT(errorOf([&] { t.permute({0, 0}); }), HasSubstr("twice"));
  EXPECT_THAT(errorOf([&] { t.bitcast(f64); }),
              HasSubstr("expected a type of 4 bytes, got fp64 of 8"));
  EXPECT_THAT(errorOf([] { empty({-1}); }),
              HasSubstr("expected sizes from 0 on, got [-1]"));
  EXPECT_THAT(errorOf([] { empty({int64_t{1} << 40, int64_t{1} << 40}); }),
              HasSubstr("address space"));
  EXPECT_THAT(errorOf([] { empty({int64_t{1} << 46}, f32); }),
              HasSubstr("address space"));
#if !__has_feature(address_sanitizer) // which ends the process instead
  rlimit before, small;
  ::getrlimit(RLIMIT_AS, &before);
  small = {rlim_t{1} << 34, before.rlim_max};
  ::setrlimit(RLIMIT_AS, &small);
  EXPECT_THAT(errorOf([] { empty({int64_t{1} << 36}); }),
              HasSubstr("no memory for a tensor of shape [68719476736], fp32: "
                        "274877906944 bytes"));
  ::setrlimit(RLIMIT_AS, &before);
#endif
  EXPECT_THAT(errorOf([] { Tensor::borrow(nullptr, {3}, f32); }),
              HasSubstr("null address"));
  float x[4];
  EXPECT_THAT(errorOf([&] {
                Tensor::borrow(reinterpret_cast<char *>(x) + 1, {1}, f32);
              }),
              HasSubstr("multiple of 4"));
  EXPECT_THAT(
      errorOf([&] { Tensor::borrow(x, {2}, f32, Device::cpu(), Shape{-1}); }),
      HasSubstr("negative strides"));
  EXPECT_THAT(errorOf([] { rand({2}, i32); }), HasSubstr("randint"));
  EXPECT_THAT(errorOf([] { randint({2}, 5, 5); }), HasSubstr("from 5 to"));
  EXPECT_THAT(errorOf([] { randint({2}, 0, 300, u8); }), HasSubstr("uint8"));
  EXPECT_EQ(empty({0, int64_t{1} << 62}).numel(), 0);
}

TEST(Device, NamesAndErrors) {
  EXPECT_EQ(Device::parse("cpu"), Device::cpu());
  EXPECT_EQ(Device::parse("cpu:0"), Device::cpu());
  EXPECT_EQ(Device::parse("interp"), Device::interp());
  EXPECT_EQ(Device::best(), Device::cpu());
  EXPECT_THAT(
      errorOf([] { Device::parse("cuda:0"); }),
      HasSubstr("turned off by NEREID_CUDA_DRIVER=none; expected one of "
                "this machine's: cpu, interp"));
  EXPECT_THAT(errorOf([] { Device::parse("cup"); }),
              HasSubstr("did you mean 'cpu'"));
  EXPECT_THAT(errorOf([] { Device::parse("cpu:3"); }), HasSubstr("number 0"));
  EXPECT_THAT(errorOf([] { Device::parse("cpu:x"); }), HasSubstr("number"));
  EXPECT_THAT(errorOf([] { Device::parse(""); }), HasSubstr("cpu, interp"));
}

TEST(Tensor, AsStridedReadsTheSameMemory) {
  Tensor x = arange({3, 4}, i32, Device::cpu());
  Tensor diagonal = x.asStrided({3}, {5});
  EXPECT_EQ(diagonal.toVector<int>(), (std::vector<int>{0, 5, 10}));
  EXPECT_EQ(diagonal.data(), x.data());
  uint64_t before = x.writes();
  diagonal.fill(7);
  EXPECT_GT(x.writes(), before);
  EXPECT_EQ(x.at<int>({1, 1}), 7);
  EXPECT_EQ(x.asStrided({0, 9}, {100, 100}).numel(), 0);
  EXPECT_THAT(errorOf([&] { x.asStrided({4}, {4}); }),
              HasSubstr("within 48 bytes, got i32[4] with strides [4], which "
                        "reaches 52"));
  EXPECT_THAT(errorOf([&] { x.asStrided({2}, {1, 1}); }),
              HasSubstr("expected one a dimension"));
  EXPECT_THAT(errorOf([&] { x.asStrided({2}, {-1}); }), HasSubstr("negative"));
  EXPECT_THAT(errorOf([] { Tensor().asStrided({1}, {1}); }),
              HasSubstr("asStrided: expected a tensor with memory"));
}

TEST(Tensor, WritesNothingWhereElementsAreOnePlace) {
  Tensor row = zeros({1, 4}, f32, Device::cpu());
  Tensor many = row.expand({3, -1});
  EXPECT_TRUE(many.sharesElements());
  for (const Tensor &own :
       {row, row.expand({1, 4}), zeros({3, 0}).expand({5, 3, 0})}) {
    EXPECT_FALSE(own.sharesElements());
  }
  EXPECT_THAT(errorOf([&] { many.fill(1); }),
              HasSubstr("fill: expected a tensor whose elements are places of "
                        "their own, got fp32[3, 4] with strides [0, 1]"));
  EXPECT_THAT(errorOf([&] { many.copyFrom(zeros({3, 4})); }),
              HasSubstr("copyFrom: expected a tensor whose elements are"));
  EXPECT_EQ(row.toFloat64(), std::vector<double>(4, 0.0));
}

TEST(Tensor, KeepsEveryBitOfIntegers) {
  constexpr int64_t odd = (int64_t{1} << 53) + 1;
  Tensor t = full({2}, odd, i64, Device::cpu());
  EXPECT_EQ(t.at<int64_t>({1}), odd);
  EXPECT_EQ(t.slice(0, 0, 1).item<int64_t>(), odd);
  t.fill(UINT64_MAX);
  EXPECT_EQ(t.at<int64_t>({0}), -1);
  EXPECT_EQ(full({}, UINT64_MAX, u64, Device::cpu()).item<uint64_t>(),
            UINT64_MAX);
  EXPECT_EQ(full({}, odd, f64, Device::cpu()).item(), 9007199254740992.0);
}

TEST(Tensor, CountsWritesToItsMemory) {
  Tensor t = zeros({2, 3}, f32, Device::cpu()), row = t.select(0, 1);
  uint64_t before = t.writes();
  EXPECT_EQ(row.writes(), before);
  row.fill(1);
  EXPECT_GT(t.writes(), before);
  before = t.writes();
  t.copyFrom(row);
  EXPECT_GT(row.writes(), before);
  before = t.writes();
  t.clone().fill(3);
  t.toFloat64();
  EXPECT_EQ(t.writes(), before);
  t.noteWrite();
  EXPECT_EQ(t.writes(), before + 1);
}

TEST(Generators, WithoutASeedEachCallDrawsOthers) {
  auto draw = [] {
    return std::vector{
        rand({8}, f32, Device::cpu()).toVector<float>(),
        randn({8}, f32, Device::cpu()).toVector<float>(),
        randn({8}, f32, Device::cpu()).toVector<float>(),
        randint({8}, 0, 1 << 20, i32, Device::cpu()).toVector<float>()};
  };
  manualSeed(7);
  auto first = draw(), second = draw();
  EXPECT_NE(first, second);
  EXPECT_NE(first[1], first[2]);
  manualSeed(7);
  EXPECT_EQ(draw(), first);
  manualSeed(8);
  EXPECT_NE(draw(), first);
  // A seed that is given is that seed, and takes none from the sequence.
  manualSeed(7);
  Tensor given = randn({8}, f32, Device::cpu(), 3);
  EXPECT_EQ(given.toFloat64(), randn({8}, f32, Device::cpu(), 3).toFloat64());
  EXPECT_EQ(draw(), first);
}

TEST(Tensor, AnUndefinedTensorIsAnError) {
  const Tensor none;
  Tensor some = zeros({2}, f32, Device::cpu());
  const std::pair<const char *, std::function<void()>> calls[] = {
      {"clone", [&] { none.clone(); }},
      {"to a device", [&] { none.to(Device::parse("interp")); }},
      {"to its own device", [&] { none.to(Device()); }},
      {"to a dtype", [&] { none.to(f16); }},
      {"to its own dtype", [&] { none.to(f32); }},
      {"copyFrom it", [&] { some.copyFrom(none); }},
      {"copyFrom into it", [&] { none.copyFrom(some); }},
      {"fill", [&] { none.fill(1); }},
      {"contiguous", [&] { none.contiguous(); }},
      {"reshape", [&] { none.reshape({0}); }},
      {"view", [&] { none.view({0}); }},
      {"permute", [&] { none.permute({}); }},
      {"expand", [&] { none.expand({}); }},
      {"unsqueeze", [&] { none.unsqueeze(0); }},
      {"bitcast", [&] { none.bitcast(i32); }},
      {"slice", [&] { none.slice(0, 0); }},
      {"data", [&] { none.data<float>(); }},
      {"toVector", [&] { none.toVector<float>(); }},
      {"at", [&] { none.at({}); }},
      {"item", [&] { none.item(); }},
      {"emptyLike", [&] { emptyLike(none); }}};
  for (const auto &[name, call] : calls) {
    EXPECT_THAT(errorOf(call), HasSubstr("undefined tensor")) << name;
  }
}

TEST(Tensor, MovedFromHasNoElements) {
  Tensor x = zeros({4, 5}, i64, Device::cpu());
  Tensor y = std::move(x);
  EXPECT_FALSE(x.defined());
  EXPECT_EQ(x.numel(), 0);
  EXPECT_EQ(x.extentBytes(), 0);
  EXPECT_EQ(x.rank(), 0);
  EXPECT_EQ(x.data(), nullptr);
  EXPECT_EQ(y.numel(), 20);
  Tensor z;
  z = std::move(y);
  EXPECT_FALSE(y.defined());
  EXPECT_EQ(y.numel(), 0);
  EXPECT_EQ(z.dtype(), i64);
  Tensor &same = z;
  z = std::move(same);
  EXPECT_EQ(z.numel(), 20);
}
