//===- SeedKernelsTest.cpp - The first kernels, end to end -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of test/e2e/kernels, unchanged, through the public API, on every
// device and at awkward sizes, against plain loops in float64. Outputs sit in
// the middle of a poisoned array, whose rest must stay as it was.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/autotune/ConfigChooser.h"
#include "nereid/nereid.h"
#include "test/e2e/Guarded.h"
#include "test/e2e/OnDevice.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::literals;

namespace {

using e2e::Guarded;

std::string kernelFile(const std::string &name) {
  return std::string(SOURCE_DIR "/test/e2e/kernels/") + name;
}

class SeedKernels : public e2e::OnDevice {};

TEST_P(SeedKernels, vectorAdd) {
  Kernel add = Kernel::load(kernelFile("vector_add.py"), "add_kernel");
  for (int64_t n : {1, 7, 1023, 1024, 1025, 10000}) {
    for (int64_t block : {1024, 768, 1}) {
      if (n * 64 / block > 100000) {
        continue; // ten thousand programs of one element say nothing new
      }
      Tensor x = randn({n}, f32, device, 1), y = randn({n}, f32, device, 2);
      Guarded out({n}, f32, device);
      auto grid = [&](const Meta &meta) {
        return Grid{cdiv(n, meta["BLOCK_SIZE"])};
      };
      add[grid](x, y, out.tensor(), n, "BLOCK_SIZE"_a = block);
      std::vector<float> a = x.toVector<float>(), b = y.toVector<float>(),
                         c = out.tensor().toVector<float>();
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(c[i], a[i] + b[i]) << "n=" << n << " i=" << i;
      }
      EXPECT_EQ(out.strayBytes(), 0u);
    }
  }
}

TEST_P(SeedKernels, myKernel) {
  Kernel kernel = Kernel::load(kernelFile("my_kernel.py"));
  for (DType dtype : {f32, f16, i32}) {
    for (int64_t n : {1, 127, 129, 1000}) {
      Tensor x = randint({n}, -100, 100, dtype, device);
      Guarded out({n}, dtype, device);
      kernel[{cdiv(n, 128)}](x, out.tensor(), n, "BLOCK_SIZE"_a = 128);
      // Small integers: exact in every type, rounded or fused.
      std::vector<double> a = x.toFloat64(), y = out.tensor().toFloat64();
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], a[i] * 2 + 1) << "n=" << n << " i=" << i;
      }
      EXPECT_EQ(out.strayBytes(), 0u);
    }
  }
}

/// Ten bits of mantissa, to which the language lets a GPU round the operands of
/// a float32 product.
float toTf32(float value) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000) &
                              ~0x1fffu);
}

/// A product in float64, and the largest error of a naive float32 loop.
struct Product {
  std::vector<double> values;
  double naiveError = 0, largest = 0;
};

Product product(const Tensor &a, const Tensor &b) {
  int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  bool isTf32 = !a.device().isHost() && a.dtype() == f32;
  auto operand = [&](double v) {
    return isTf32 ? toTf32(static_cast<float>(v)) : static_cast<float>(v);
  };
  std::vector<double> x = a.toFloat64(), y = b.toFloat64();
  Product result{std::vector<double>(m * n)};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double exact = 0;
      float naive = 0;
      for (int64_t l = 0; l < k; ++l) {
        exact += x[i * k + l] * y[l * n + j];
        naive += operand(x[i * k + l]) * operand(y[l * n + j]);
      }
      result.values[i * n + j] = exact;
      result.naiveError = std::max(result.naiveError, std::fabs(naive - exact));
      result.largest = std::max(result.largest, std::fabs(exact));
    }
  }
  return result;
}

/// Twice the naive loop's error (at least a rounding), plus the store's.
void expectProduct(const Guarded &c, const Product &expected) {
  std::vector<double> got = c.tensor().toFloat64();
  double rounding =
      expected.largest * std::numeric_limits<float>::epsilon() / 2;
  double bound = 2 * std::max(expected.naiveError, rounding) + rounding;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected.values[i], bound) << "element " << i;
  }
  EXPECT_EQ(c.strayBytes(), 0u);
}

struct MatmulCase {
  int64_t m, n, k, blockM, blockN, blockK;
  bool transposeB;
};

TEST_P(SeedKernels, matmul) {
  Kernel matmul = Kernel::load(kernelFile("matmul.py"), "matmul_kernel");
  for (MatmulCase s : {MatmulCase{1, 1, 1, 16, 16, 16, false},
                       {33, 65, 31, 32, 32, 32, false},
                       {64, 64, 64, 32, 64, 16, true},
                       {17, 47, 129, 24, 40, 48, true}}) {
    for (DType dtype : {f32, f16, bf16}) {
      Tensor a = randn({s.m, s.k}, dtype, device, 1);
      Tensor b = s.transposeB
                     ? randn({s.n, s.k}, dtype, device, 2).transpose(0, 1)
                     : randn({s.k, s.n}, dtype, device, 2);
      // Rows of C lie three elements further apart than they must.
      Guarded c({s.m, s.n}, f32, device, {s.n + 3, 1});
      matmul[{cdiv(s.m, s.blockM), cdiv(s.n, s.blockN)}](
          a, b, c.tensor(), s.m, s.n, s.k, a.stride(0), a.stride(1),
          b.stride(0), b.stride(1), c.tensor().stride(0), c.tensor().stride(1),
          "BLOCK_M"_a = s.blockM, "BLOCK_N"_a = s.blockN,
          "BLOCK_K"_a = s.blockK);
      SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                   std::to_string(s.k) + " " + std::string(shortName(dtype)));
      expectProduct(c, product(a, b));
    }
  }
}

/// Without block sizes: they come from @triton.autotune, and the grid asks for
/// the ones that were chosen.
TEST_P(SeedKernels, matmulAutotuned) {
  Kernel matmul =
      Kernel::load(kernelFile("matmul_autotuned.py"), "matmul_kernel");
  EXPECT_EQ(matmul.description().configs.size(), 4u);
  int64_t m = 67, n = 35, k = 41;
  Tensor a = randn({m, k}, f32, device, 1), b = randn({k, n}, f32, device, 2);
  Guarded c({m, n}, f32, device);
  auto grid = [&](const Meta &meta) {
    return Grid{cdiv(m, meta["BLOCK_M"]), cdiv(n, meta["BLOCK_N"])};
  };
  matmul[grid](a, b, c.tensor(), m, n, k, a.stride(0), a.stride(1), b.stride(0),
               b.stride(1), c.tensor().stride(0), c.tensor().stride(1));
  expectProduct(c, product(a, b));
}

// What nereid/nereid.h gives a program, without running anything before main.
TEST(SharedContext, hasTheCompilerAndTheTunerOfTheHeader) {
  EXPECT_NE(Context::shared().compiler(), nullptr);
  ConfigChooser *tuner = configChooser();
  EXPECT_EQ(tuner, &tune::processTuner());
  setConfigChooser(nullptr);
  EXPECT_EQ(configChooser(), nullptr);
  setConfigChooser(tuner);
}

INSTANTIATE_TEST_SUITE_P(Devices, SeedKernels,
                         testing::Values("cpu", "interp", "cuda"),
                         [](const auto &info) { return info.param; });

} // namespace
