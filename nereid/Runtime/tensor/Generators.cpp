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
// counter k here is what a kernel gets for seed and offset k.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Tensor.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/tensor/Convert.h"

#include <array>
#include <cmath>

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

/// Makes `tensor` element by element in groups of four: `make(group, values)`
/// fills values[0..3], which are elements 4 * group + 0..3.
template <typename Value, typename Make>
static void generate(const Tensor &tensor, DType valueType, Make make) {
  if (!tensor.device().isHost()) {
    Tensor here = empty(tensor.shape(), tensor.dtype(), Device::cpu());
    generate<Value>(here, valueType, make);
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
      for (int64_t i = 0; i < groups; ++i) {
        make(g + i, values + 4 * i);
      }
      int64_t n = std::min(4 * groups, count - 4 * g);
      convert(values, 1, out + 4 * g * bytes, 1, n);
    }
  });
}

[[noreturn]] static void invalid(std::string message) {
  raise({ErrorCode::InvalidArgument, std::move(message), {}});
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
  generate<double>(result, f64, [=](int64_t group, double *values) {
    for (int j = 0; j < 4; ++j) {
      values[j] = start + static_cast<double>(4 * group + j) * step;
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

Tensor rand(Shape shape, DType dtype, Device device, uint64_t seed) {
  requireFloat("rand", dtype);
  Tensor result = empty(std::move(shape), dtype, device);
  generate<float>(result, f32, [=](int64_t group, float *values) {
    Lanes lanes = philox(seed, static_cast<uint64_t>(group));
    for (int j = 0; j < 4; ++j) {
      values[j] = uniform(lanes[j]);
    }
  });
  return result;
}

Tensor randn(Shape shape, DType dtype, Device device, uint64_t seed) {
  requireFloat("randn", dtype);
  Tensor result = empty(std::move(shape), dtype, device);
  generate<float>(result, f32, [=](int64_t group, float *values) {
    Lanes lanes = philox(seed, static_cast<uint64_t>(group));
    for (int j = 0; j < 4; j += 2) {
      float u = std::max(1e-7f, uniform(lanes[j]));
      float angle = 6.283185307179586f * uniform(lanes[j + 1]);
      float radius = std::sqrt(-2.0f * std::log(u));
      values[j] = radius * std::cos(angle);
      values[j + 1] = radius * std::sin(angle);
    }
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
               Device device, uint64_t seed) {
  std::string range =
      "those from " + std::to_string(low) + " to below " + std::to_string(high);
  if (low >= high) {
    invalid("randint: expected a low bound below the high one, got " + range);
  }
  if (!holds(dtype, low, high - 1)) {
    invalid("randint: expected numbers that " +
            std::string(languageName(dtype)) + " holds, got " + range);
  }
  Tensor result = empty(std::move(shape), dtype, device);
  // Multiply-high maps 32 (or 64) random bits onto the range; the bias is
  // below range / 2^32 (2^64).
  uint64_t size = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  generate<int64_t>(result, i64, [=](int64_t group, int64_t *values) {
    uint64_t counter = static_cast<uint64_t>(group);
    Lanes lanes = philox(seed, counter);
    Lanes more = size >> 32 ? philox(~seed, counter) : Lanes{};
    for (int j = 0; j < 4; ++j) {
      uint64_t offset =
          size >> 32
              ? static_cast<uint64_t>(static_cast<unsigned __int128>(
                                          uint64_t{lanes[j]} << 32 | more[j]) *
                                          size >>
                                      64)
              : uint64_t{lanes[j]} * size >> 32;
      values[j] = static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
    }
  });
  return result;
}

} // namespace nereid
