//===- Generators.cpp - Tensors made from nothing -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011. Uniform and normal numbers follow the
// formulas of the language's own tl.rand4x and tl.randn4x, so that lane j of
// counter k here is what a kernel gets for seed and offset k (normal numbers
// within some roundings).
//
// Normal numbers are computed with fused multiply-adds alone, which round alike
// everywhere: kernels/random does the same steps, and gets the same bits. Their
// polynomials interpolate at the Chebyshev points of the interval.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Seeds.h"
#include "nereid/Runtime/Tensor.h"
#include "nereid/Runtime/device/DeviceGenerator.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/tensor/Convert.h"

#include <array>
#include <bit>
#include <cmath>
#include <mutex>

namespace nereid {

using Lanes = std::array<uint32_t, 4>;

static Lanes philox(uint64_t seed, uint64_t counter) {
  Lanes c = {static_cast<uint32_t>(counter),
             static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(seed);
  uint32_t k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0];
    uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

/// [0, 1): the sign is folded away, then 31 bits are scaled.
static float uniform(uint32_t bits) {
  int32_t x = static_cast<int32_t>(bits);
  x = x < 0 ? ~x : x;
  return static_cast<float>(x) * 4.6566127342e-10f;
}

/// Makes `tensor` in groups of four: `make(group, groups, values)` fills values
/// with elements 4 * group .. 4 * (group + groups).
template <typename Value, typename Make>
static void generate(const Tensor &tensor, DType valueType,
                     const Generation &generation, Make make) {
  if (!tensor.device().isHost()) {
    if (auto function = deviceFunctions().generate;
        function && function(tensor, generation)) {
      return;
    }
    Tensor here = empty(tensor.shape(), tensor.dtype(), Device::cpu());
    generate<Value>(here, valueType, generation, make);
    tensor.copyFrom(here);
    return;
  }
  ConvertFunction convert = convertFunction(valueType, tensor.dtype());
  auto *out = static_cast<std::byte *>(tensor.data());
  int64_t count = tensor.numel();
  int64_t bytes = static_cast<int64_t>(byteSize(tensor.dtype()));
  parallelRanges((count + 3) / 4, 1 << 12, [&](int64_t begin, int64_t end) {
    constexpr int64_t groupsAtOnce = 64;
    Value values[4 * groupsAtOnce];
    for (int64_t g = begin; g < end; g += groupsAtOnce) {
      int64_t groups = std::min(groupsAtOnce, end - g);
      make(g, groups, values);
      int64_t n = std::min(4 * groups, count - 4 * g);
      convert(values, 1, out + 4 * g * bytes, 1, n);
    }
  });
}

[[noreturn]] static void invalid(std::string message) {
  raise({ErrorCode::InvalidArgument, std::move(message), {}});
}

namespace {
struct SeedSequence {
  std::mutex mutex;
  uint64_t state = 0;
};
} // namespace

static SeedSequence &seedSequence() {
  static SeedSequence sequence;
  return sequence;
}

void manualSeed(uint64_t seed) {
  if (SeedScope::isRepeating()) { // it did so the first time
    return;
  }
  SeedSequence &sequence = seedSequence();
  std::lock_guard lock(sequence.mutex);
  sequence.state = seed;
}

// SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014. Different states give different seeds.
uint64_t nextSeed() {
  return drawSeed([] {
    SeedSequence &sequence = seedSequence();
    std::lock_guard lock(sequence.mutex);
    uint64_t z = sequence.state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  });
}

Tensor zeros(Shape shape, DType dtype, Device device) {
  return full(std::move(shape), 0, dtype, device);
}

Tensor full(Shape shape, double value, DType dtype, Device device) {
  Tensor result = empty(std::move(shape), dtype, device);
  result.fill(value);
  return result;
}

Tensor arange(Shape shape, DType dtype, Device device, double start,
              double step) {
  Tensor result = empty(std::move(shape), dtype, device);
  generate<double>(
      result, f64,
      {.kind = Generation::Kind::Arange, .start = start, .step = step},
      [=](int64_t group, int64_t groups, double *values) {
        for (int64_t i = 0; i < 4 * groups; ++i) {
          values[i] = start + static_cast<double>(4 * group + i) * step;
        }
      });
  return result;
}

static void requireFloat(const char *name, DType dtype) {
  if (!isFloat(dtype)) {
    invalid(std::string(name) + ": expected a floating-point dtype, got " +
            std::string(languageName(dtype)) + "; use randint for integers");
  }
}

Tensor rand(Shape shape, DType dtype, Device device,
            std::optional<uint64_t> given) {
  requireFloat("rand", dtype);
  uint64_t seed = given ? *given : nextSeed();
  Tensor result = empty(std::move(shape), dtype, device);
  generate<float>(result, f32,
                  {.kind = Generation::Kind::Uniform, .seed = seed},
                  [=](int64_t group, int64_t groups, float *values) {
                    for (int64_t i = 0; i < groups; ++i) {
                      Lanes lanes = philox(seed, uint64_t(group + i));
                      for (int j = 0; j < 4; ++j) {
                        values[4 * i + j] = uniform(lanes[j]);
                      }
                    }
                  });
  return result;
}

/// coefficients[0] is that of the highest power.
template <size_t count>
static inline float polynomial(const float (&coefficients)[count], float x) {
  float sum = coefficients[0];
  for (size_t i = 1; i < count; ++i) {
    sum = std::fma(sum, x, coefficients[i]);
  }
  return sum;
}

/// Of normal numbers. x = 2^e (1 + f), with 1 + f from sqrt(1/2) to sqrt(2):
/// ln(1 + f) = f + f^2 p(f).
static inline float logarithm(float x) {
  constexpr float p[] = {0.06769024f, -0.11557288f, 0.11812136f, -0.124208145f,
                         0.14232318f, -0.16667537f, 0.20001447f, -0.25000012f,
                         0.33333322f, -0.5f};
  auto bits = std::bit_cast<int32_t>(x);
  int32_t exponent = (bits - 0x3F3504F3) >> 23;
  float f = std::bit_cast<float>(bits - exponent * (1 << 23)) - 1.0f;
  auto e = static_cast<float>(exponent);
  float square = f * f, rest = e * -2.1219444e-4f;
  float low = std::fma(square, polynomial(p, f), rest);
  float sum = f + low;
  // ln 2 in two parts: e times the first one is exact.
  return std::fma(e, 0.693359375f, sum);
}

/// Two independent standard normals of two uniform numbers.
static inline void boxMuller(float a, float b, float *values) {
  // Of a quarter of a turn, from -1/2 to 1/2: sin(pi/2 r) / r and cos(pi/2 r)
  // as polynomials of r^2.
  constexpr float sines[] = {0.00015820631f, -0.0046812664f, 0.07969258f,
                             -0.6459641f, 1.5707964f};
  constexpr float cosines[] = {-2.4850946e-05f, 0.0009191617f, -0.020863468f,
                               0.2536695f,      -1.2337005f,   1.0f};
  float logOfA = logarithm(std::max(1e-7f, a));
  float radius = std::sqrt(-2.0f * logOfA);
  float turns = b * 4.0f;
  float shifted = turns + 0.5f;
  auto quarter = static_cast<int32_t>(shifted);
  float r = turns - static_cast<float>(quarter), z = r * r;
  float s = polynomial(sines, z) * r, c = polynomial(cosines, z);
  bool swaps = quarter & 1;
  float cosine = swaps ? s : c, sine = swaps ? c : s;
  values[0] = radius * ((quarter + 1) & 2 ? -cosine : cosine);
  values[1] = radius * (quarter & 2 ? -sine : sine);
}

// A processor without these instructions computes std::fma by a call, with the
// same bits.
#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("arch=haswell", "default")))
#endif
static void normals(uint64_t seed, int64_t group, int64_t groups,
                    float *values) {
  for (int64_t i = 0; i < groups; ++i) {
    Lanes lanes = philox(seed, static_cast<uint64_t>(group + i));
    for (int j = 0; j < 4; j += 2) {
      boxMuller(uniform(lanes[j]), uniform(lanes[j + 1]), values + 4 * i + j);
    }
  }
}

Tensor randn(Shape shape, DType dtype, Device device,
             std::optional<uint64_t> given) {
  requireFloat("randn", dtype);
  uint64_t seed = given ? *given : nextSeed();
  Tensor result = empty(std::move(shape), dtype, device);
  generate<float>(result, f32, {.kind = Generation::Kind::Normal, .seed = seed},
                  [=](int64_t group, int64_t groups, float *values) {
                    normals(seed, group, groups, values);
                  });
  return result;
}

/// Does the dtype hold every integer of [low, high]?
static bool holds(DType dtype, int64_t low, int64_t high) {
  if (isFloat(dtype)) {
    return true; // rounded
  }
  if (dtype == i1) {
    return low >= 0 && high <= 1;
  }
  unsigned bits = bitWidth(dtype);
  if (isSigned(dtype)) {
    return bits == 64 || (low >= -(int64_t{1} << (bits - 1)) &&
                          high < (int64_t{1} << (bits - 1)));
  }
  return low >= 0 && (bits == 64 || high < (int64_t{1} << bits));
}

Tensor randint(Shape shape, int64_t low, int64_t high, DType dtype,
               Device device, std::optional<uint64_t> given) {
  std::string range =
      "those from " + std::to_string(low) + " to below " + std::to_string(high);
  if (low >= high) {
    invalid("randint: expected a low bound below the high one, got " + range);
  }
  if (!holds(dtype, low, high - 1)) {
    invalid("randint: expected numbers that " +
            std::string(languageName(dtype)) + " holds, got " + range);
  }
  uint64_t seed = given ? *given : nextSeed();
  Tensor result = empty(std::move(shape), dtype, device);
  // Multiply-high maps 32 (or 64) random bits onto the range; the bias is
  // below range / 2^32 (2^64).
  uint64_t size = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  Generation generation = {Generation::Kind::Integers, seed, low, size};
  generate<int64_t>(
      result, i64, generation,
      [=](int64_t group, int64_t groups, int64_t *values) {
        for (int64_t i = 0; i < 4 * groups; i += 4) {
          uint64_t counter = static_cast<uint64_t>(group + i / 4);
          Lanes lanes = philox(seed, counter);
          Lanes more = size >> 32 ? philox(~seed, counter) : Lanes{};
          for (int j = 0; j < 4; ++j) {
            uint64_t offset =
                size >> 32 ? static_cast<uint64_t>(
                                 static_cast<unsigned __int128>(
                                     uint64_t{lanes[j]} << 32 | more[j]) *
                                     size >>
                                 64)
                           : uint64_t{lanes[j]} * size >> 32;
            values[i + j] =
                static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
          }
        }
      });
  return result;
}

} // namespace nereid
