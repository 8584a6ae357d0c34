//===- AheadOfTimeTest.cpp - Generated functions, and every level ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aot_forms.h"
#include "aot_host.h"
#include "aot_tuned.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Support/CpuLevels.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace nereid;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

static const Device host = Device::cpu();

TEST(AheadOfTime, TensorsAndConstantsThatChoose) {
  Tensor x = Tensor::fromVector<float>({-1, 2, 3}),
         bias = Tensor::fromVector<float>({10, -10, 1}), y = emptyLike(x);
  forms::affine({1}, x, bias, y, 3, 2, "relu");
  EXPECT_THAT(y.toVector<float>(), ElementsAre(8, 0, 7));
  forms::affine({1}, x, none, y, 3, 2, "none");
  EXPECT_THAT(y.toVector<float>(), ElementsAre(-2, 4, 6));
}

TEST(AheadOfTime, AddressesOfEachType) {
  alignas(16) float x[] = {-1, 2, 3}, bias[] = {10, -10, 1}, y[3];
  forms::affine(host, {1}, x, bias, y, 3, 2, "relu");
  EXPECT_THAT(y, ElementsAre(8, 0, 7));
  // At an address that the first signature does not promise.
  float shifted[5];
  std::copy(x, x + 3, shifted + 1);
  forms::affine(host, {1}, shifted + 1, bias, y, 3, 2, "relu");
  EXPECT_THAT(y, ElementsAre(8, 0, 7));
  forms::affine(host, {1}, x, nullptr, y, 3, 2, "none");
  EXPECT_THAT(y, ElementsAre(-2, 4, 6));
  // 1.0 and 0.5 as halves.
  Float16 h[] = {{0x3c00}, {0x3800}}, g[2];
  forms::affine(host, {1}, h, h, g, 2, 1, "none");
  EXPECT_EQ(g[0].bits, 0x4000);
  EXPECT_EQ(g[1].bits, 0x3c00);
}

TEST(AheadOfTime, WhatNoSignatureHas) {
  Tensor x = zeros({3}, f32, host);
  try {
    forms::affine({1}, x, none, x, 3, 2, "relu");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr("affine: the arguments fit none of its signatures"),
              HasSubstr("MODE='none', BLOCK=64): argument 'MODE': expected "
                        "'none', which is compiled in, got the string 'relu'"),
              HasSubstr("argument 'bias_ptr': expected a pointer to fp32")));
  }
}

TEST(AheadOfTime, TunedKernelsChooseByTheKey) {
  auto block = [](int64_t n, DType dtype = f32) {
    Tensor y = zeros({n}, dtype, host);
    auto grid = [](const Meta &m) { return cdiv(m["n"], m["BLOCK"]); };
    aot_tuned::block_of(grid, y, n);
    EXPECT_EQ(y.at({n - 1}), y.at({0})) << "the grid is that of the choice";
    return y.at({0});
  };
  EXPECT_EQ(block(100), 16);
  EXPECT_EQ(block(1000), 64);
  EXPECT_EQ(block(100000), 256);
  // The nearest by ratio.
  EXPECT_EQ(block(3), 16);
  EXPECT_EQ(block(2000), 64);
  EXPECT_EQ(block(50000), 256);
  // Types count before sizes.
  EXPECT_EQ(block(100, i32), 128);
}

TEST(AheadOfTime, ChecksAreCompiledIn) {
  Tensor y = zeros({16}, i32, host);
  aot_host::checked({1}, y, 16);
  EXPECT_EQ(y.at({15}), 15);
  try {
    aot_host::checked({1}, y, 12);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::KernelFault);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("checked.py:8"), HasSubstr("too many")));
  }
}

//===----------------------------------------------------------------------===//
// One level at a time
//===----------------------------------------------------------------------===//

namespace {
/// A library's images of one target.
struct OneLevel {
  OneLevel(const KernelLibrary &whole, const std::string &target)
      : images(whole.images, whole.images + whole.imageCount), library(whole) {
    for (LibraryImage &image : images) {
      auto *bytes = reinterpret_cast<const char *>(image.bytes);
      if (decodeImage({bytes, image.size})->target != target) {
        image.entry = nullptr;
      }
    }
    library.images = images.data();
  }
  std::vector<LibraryImage> images;
  KernelLibrary library;
};
} // namespace

static std::vector<std::string> levelsOfHost() {
  std::vector<std::string> levels = {"x86-64", "x86-64-v2", "x86-64-v3",
                                     "x86-64-v4"};
  levels.resize(
      std::min(levels.size(), static_cast<size_t>(cpu::deviceLevel())));
  return levels;
}

TEST(AheadOfTime, EveryLevelMultiplies) {
  constexpr int64_t m = 48, n = 80, k = 64;
  Tensor a = randn({m, k}, f32, host, 1), b = randn({k, n}, f32, host, 2);
  std::vector<double> x = a.toFloat64(), y = b.toFloat64();
  for (const std::string &level : levelsOfHost()) {
    OneLevel one(nereid_kernels_aot_host, level);
    Kernel matmul = Kernel::fromLibrary(one.library, "matmul_kernel");
    Tensor c = zeros({m, n}, f32, host);
    const LaunchArgument arguments[] = {a, b, c, m, n, k, k, 1, n, 1, n, 1};
    EXPECT_EQ(matmul.compile(arguments).image.target, level);
    matmul.launch({cdiv(m, 32), cdiv(n, 32)}, arguments);
    std::vector<double> got = c.toFloat64();
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += x[static_cast<size_t>(i * k + l)] *
                 y[static_cast<size_t>(l * n + j)];
        }
        ASSERT_NEAR(got[static_cast<size_t>(i * n + j)], sum, 1e-4) << level;
      }
    }
  }
}

TEST(AheadOfTime, EveryLevelGivesTheSame) {
  Tensor x = randn({1000}, f32, host, 3), bias = randn({1000}, f32, host, 4);
  std::vector<float> first;
  for (const std::string &level : levelsOfHost()) {
    OneLevel one(nereid_kernels_aot_forms, level);
    Kernel affine = Kernel::fromLibrary(one.library, "affine");
    Tensor y = emptyLike(x);
    affine[cdiv(1000, 64)](x, bias, y, 1000, 0.5, "relu");
    first = first.empty() ? y.toVector<float>() : first;
    EXPECT_EQ(y.toVector<float>(), first) << level;
  }
}
