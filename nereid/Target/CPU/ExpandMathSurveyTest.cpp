//===- ExpandMathSurveyTest.cpp - Every float, and what a function costs --===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the tables of docs/Math.md. Takes minutes, so it is disabled:
//
//   NereidTargetCPUTests --gtest_also_run_disabled_tests
//       --gtest_filter='*Survey*' [NEREID_TEST_FUNCTION=exp in the environment]
//
// All 2^32 floats go through each f32 function and through glibc's vector
// functions in double, whose error of 4 ulp is 2^-27 ulp of a float.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/ExpandMathTest.h"

#include "gtest/gtest.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <immintrin.h>
#include <mutex>
#include <thread>

using namespace nereid;
using namespace nereid::cpu;

#define NEREID_LIBMVEC(f)                                                      \
  __attribute__((target("avx2"))) __m256d _ZGVdN4v_##f(__m256d)
extern "C" {
NEREID_LIBMVEC(exp);
NEREID_LIBMVEC(exp2);
NEREID_LIBMVEC(expm1);
NEREID_LIBMVEC(sinh);
NEREID_LIBMVEC(cosh);
NEREID_LIBMVEC(tanh);
NEREID_LIBMVEC(log);
NEREID_LIBMVEC(log2);
NEREID_LIBMVEC(log10);
NEREID_LIBMVEC(log1p);
NEREID_LIBMVEC(asinh);
NEREID_LIBMVEC(acosh);
NEREID_LIBMVEC(atanh);
NEREID_LIBMVEC(sin);
NEREID_LIBMVEC(cos);
NEREID_LIBMVEC(tan);
NEREID_LIBMVEC(asin);
NEREID_LIBMVEC(acos);
NEREID_LIBMVEC(atan);
NEREID_LIBMVEC(erf);
NEREID_LIBMVEC(erfc);
NEREID_LIBMVEC(cbrt);
}

using VectorFunction = __m256d (*)(__m256d);

__attribute__((target("avx2"))) static __m256d rsqrtVector(__m256d x) {
  return _mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd(x));
}

static VectorFunction vectorFunction(const std::string &op) {
  static const std::pair<const char *, VectorFunction> table[] = {
      {"exp", _ZGVdN4v_exp},     {"exp2", _ZGVdN4v_exp2},
      {"expm1", _ZGVdN4v_expm1}, {"sinh", _ZGVdN4v_sinh},
      {"cosh", _ZGVdN4v_cosh},   {"tanh", _ZGVdN4v_tanh},
      {"log", _ZGVdN4v_log},     {"log2", _ZGVdN4v_log2},
      {"log10", _ZGVdN4v_log10}, {"log1p", _ZGVdN4v_log1p},
      {"asinh", _ZGVdN4v_asinh}, {"acosh", _ZGVdN4v_acosh},
      {"atanh", _ZGVdN4v_atanh}, {"sin", _ZGVdN4v_sin},
      {"cos", _ZGVdN4v_cos},     {"tan", _ZGVdN4v_tan},
      {"asin", _ZGVdN4v_asin},   {"acos", _ZGVdN4v_acos},
      {"atan", _ZGVdN4v_atan},   {"erf", _ZGVdN4v_erf},
      {"erfc", _ZGVdN4v_erfc},   {"cbrt", _ZGVdN4v_cbrt},
      {"rsqrt", rsqrtVector}};
  for (auto [name, function] : table) {
    if (op == name) {
      return function;
    }
  }
  return nullptr;
}

__attribute__((target("avx2"))) static void
reference(VectorFunction function, const float *x, double *out, int count) {
  for (int i = 0; i < count; i += 4) {
    _mm256_storeu_pd(out + i, function(_mm256_cvtps_pd(_mm_loadu_ps(x + i))));
  }
}

/// errorInUlp for results that are numbers, without branches; NaN otherwise.
static double quickError(float got, double exact) {
  int64_t exponent = std::bit_cast<int64_t>(exact) >> 52 & 0x7ff;
  exponent = std::max<int64_t>(exponent, 1023 - 126);
  auto inverseUlp = std::bit_cast<double>((2046 + 23 - exponent) << 52);
  return std::fabs(static_cast<double>(got) - exact) * inverseUlp;
}

namespace {

struct Survey {
  std::mutex mutex;
  double worst = 0;
  float at = 0;
  uint64_t numWrong = 0; ///< NaN, infinity or a zero's sign
  std::atomic<uint32_t> nextBlock{0};
};

} // namespace

static void surveyBlock(const MathFunction &function, VectorFunction exact,
                        const MathKernel &kernel, uint32_t block,
                        Survey &survey) {
  constexpr int count = 1 << 14;
  alignas(64) static thread_local float x[count], got[count];
  alignas(64) static thread_local double want[count];
  for (int i = 0; i < count; ++i) {
    x[i] = std::bit_cast<float>(block * count + static_cast<uint32_t>(i));
  }
  kernel.run(x, nullptr, got, count);
  // A block has one sign and one exponent, so it is in the function's domain or
  // not; outside, the vector functions are a hundred times slower.
  bool outside = std::isnan(function.inDouble(x[0])) &&
                 std::isnan(function.inDouble(x[count - 1]));
  if (outside) {
    std::fill(want, want + count, std::numeric_limits<double>::quiet_NaN());
  } else {
    reference(exact, x, want, count);
  }
  bool suspicious = false;
  for (int i = 0; i < count; ++i) {
    bool same = (static_cast<double>(got[i]) == want[i] &&
                 std::signbit(got[i]) == std::signbit(want[i])) ||
                (std::isnan(got[i]) && std::isnan(want[i]));
    suspicious |= !same && !(quickError(got[i], want[i]) <= survey.worst);
  }
  if (!suspicious) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    // libm decides where the vector function disagrees.
    double error = errorInUlp<float, double>(got[i], want[i]);
    if (error > survey.worst) {
      error = errorInUlp<float, double>(got[i], function.inDouble(x[i]));
    }
    if (error > survey.worst) {
      std::lock_guard lock(survey.mutex);
      if (std::isinf(error)) {
        if (survey.numWrong++ < 5) {
          printf("  wrong: %s(%a) = %a, exact %a\n", function.op, x[i], got[i],
                 function.inDouble(x[i]));
        }
      } else {
        survey.worst = error;
        survey.at = x[i];
      }
    }
  }
}

static bool isSelected(const char *op) {
  const char *only = std::getenv("NEREID_TEST_FUNCTION");
  return !only || std::string(only) == op;
}

TEST(ExpandMathSurvey, DISABLED_EveryFloat) {
  CpuTarget target = *resolve("cpu");
  for (const MathFunction &function : mathFunctions()) {
    if (!isSelected(function.op)) {
      continue;
    }
    auto kernel =
        MathKernel::create(function.op, 1, "f32", target.lanes(4), target);
    ASSERT_TRUE(kernel.ok());
    VectorFunction exact = vectorFunction(function.op);
    ASSERT_TRUE(exact);
    Survey survey;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t) {
      threads.emplace_back([&] {
        for (uint32_t block; (block = survey.nextBlock++) < 1u << 18;) {
          surveyBlock(function, exact, *kernel, block, survey);
        }
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    printf("%-8s %.4f ulp at %a, %llu wrong\n", function.op, survey.worst,
           survey.at, static_cast<unsigned long long>(survey.numWrong));
    fflush(stdout);
    EXPECT_LE(survey.worst, function.error32) << function.op;
    EXPECT_EQ(survey.numWrong, 0u) << function.op;
  }
}

/// Nanoseconds for a full vector, from arrays in the first-level cache.
template <typename T>
static double cost(const MathKernel &kernel, unsigned lanes, double low,
                   double high) {
  constexpr int count = 1024;
  alignas(64) T x[count], y[count], out[count];
  for (int i = 0; i < count; ++i) {
    x[i] = static_cast<T>(low + (high - low) * (i * 37 % count) / count);
    y[i] = static_cast<T>(1.5 + i % 3);
  }
  double best = 1e30;
  for (int repeat = 0; repeat < 300; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    kernel.run(x, y, out, count);
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best / (count / lanes);
}

static void printCost(const std::string &op, int numOperands) {
  CpuTarget target = *resolve("cpu");
  printf("%-8s", op.c_str());
  bool bounded = op == "asin" || op == "acos" || op == "atanh";
  double low = op == "acosh" ? 1 : bounded ? -1 : 0.01;
  double high = bounded ? 1 : op == "erfc" ? 4 : 10;
  for (const char *type : {"f32", "f64"}) {
    unsigned lanes = target.lanes(type[1] == '3' ? 4 : 8);
    auto kernel = MathKernel::create(op, numOperands, type, lanes, target);
    ASSERT_TRUE(kernel.ok());
    double time = type[1] == '3' ? cost<float>(*kernel, lanes, low, high)
                                 : cost<double>(*kernel, lanes, low, high);
    printf("  %s %7.2f ns", type, time);
  }
  printf("\n");
}

TEST(ExpandMathSurvey, DISABLED_Cost) {
  printCost("absf", 1);
  printCost("sqrt", 1);
  for (const MathFunction &function : mathFunctions()) {
    if (isSelected(function.op)) {
      printCost(function.op, 1);
    }
  }
  for (const MathFunction2 &function : mathFunctions2()) {
    if (isSelected(function.op)) {
      printCost(function.op, 2);
    }
  }
}
