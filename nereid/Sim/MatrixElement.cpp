//===- MatrixElement.cpp - Numbers of products ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/MatrixElement.h"

#include "nereid/Sim/Float.h"

#include <array>
#include <iterator>

namespace nereid::sim {

namespace {
struct Row {
  std::string_view name;
  MatrixType type;
  unsigned bits;
};
} // namespace

static constexpr Row rows[] = {
    {"f16", MatrixType::F16, 16},   {"bf16", MatrixType::BF16, 16},
    {"tf32", MatrixType::TF32, 32}, {"f32", MatrixType::F32, 32},
    {"f64", MatrixType::F64, 64},   {"e4m3", MatrixType::E4M3, 8},
    {"e5m2", MatrixType::E5M2, 8},  {"s8", MatrixType::S8, 8},
    {"u8", MatrixType::U8, 8},      {"s4", MatrixType::S4, 4},
    {"u4", MatrixType::U4, 4},      {"s32", MatrixType::S32, 32},
};

MatrixType matrixType(std::string_view name) {
  for (const Row &row : rows) {
    if (row.name == name) {
      return row.type;
    }
  }
  return MatrixType::None;
}

unsigned bitsOf(MatrixType type) {
  for (const Row &row : rows) {
    if (row.type == type) {
      return row.bits;
    }
  }
  return 0;
}

static std::array<double, 256> bytesOf(const FloatFormat &format) {
  std::array<double, 256> values;
  for (uint32_t i = 0; i < values.size(); ++i) {
    values[i] = decode(i, format);
  }
  return values;
}

double numberOf(uint64_t bits, MatrixType type) {
  static const std::array<double, 256> e4m3 = bytesOf(e4m3Format),
                                       e5m2 = bytesOf(e5m2Format);
  switch (type) {
  case MatrixType::F16:
    return Half{uint16_t(bits)}.value();
  case MatrixType::BF16:
    return BFloat{uint16_t(bits)}.value();
  case MatrixType::TF32:
    return double(std::bit_cast<float>(uint32_t(bits) & ~0x1fffu));
  case MatrixType::F32:
    return double(std::bit_cast<float>(uint32_t(bits)));
  case MatrixType::F64:
    return std::bit_cast<double>(bits);
  case MatrixType::E4M3:
    return e4m3[bits & 0xff];
  case MatrixType::E5M2:
    return e5m2[bits & 0xff];
  case MatrixType::S8:
    return double(int8_t(bits));
  case MatrixType::U8:
    return double(uint8_t(bits));
  case MatrixType::S4:
    return double(int8_t(bits << 4) >> 4);
  case MatrixType::U4:
    return double(bits & 15);
  case MatrixType::S32:
    return double(int32_t(bits));
  case MatrixType::None:
    break;
  }
  return 0;
}

uint64_t bitsOfSum(double sum, MatrixType type) {
  switch (type) {
  case MatrixType::F16:
    return Half::of(sum).bits;
  case MatrixType::F32:
    return std::bit_cast<uint32_t>(float(sum));
  case MatrixType::F64:
    return std::bit_cast<uint64_t>(sum);
  default:
    return uint32_t(int64_t(sum));
  }
}

} // namespace nereid::sim
