//===- MatrixOps.cpp - MFMA and WMMA --------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements lie (ISA documents, "Matrix Arithmetic Instructions" and
// "WMMA"); l is the lane:
//
//   MFMA      A: row l % M, columns K / (64 / M) * (l / M) + 0, 1, ...
//             B: the same, transposed
//             C, D: column l % N, register v: row v % 4 + 4 * (l / N) +
//             4 * (64 / N) * (v / 4)
//   of f64    C, D: column l % 16, register pair v: row 4 * v + l / 16
//   WMMA, 11  A: row l % 16, all columns; lanes 16 to 31 repeat 0 to 15
//             C, D: column l % 16, register v: row 2 * v + l / 16
//   WMMA, 12  A: row l % 16, columns 8 * (l / 16) + 0, 1, ...
//             C, D: column l % 16, register v: row 8 * (l / 16) + v
//
// Products are summed up in doubles and rounded once, those of f64 one after
// the other; integers wrap around.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Decoder.h"
#include "nereid/Sim/AMD/Functions.h"
#include "nereid/Sim/AMD/NarrowFloat.h"

#include <cmath>

namespace nereid::sim::amd {

namespace {
/// F8: FP8 or BF8, as the instruction's field of its operand says.
enum class Element : uint8_t { F16, BF16, F32, XF32, FP8, BF8, F8, I8, IU8 };

struct Product {
  const char *names;
  uint8_t rows, depth; ///< M = N, and K
  Element left, right, result;
  enum Layout : uint8_t { Mfma, Wmma11, Wmma12 } layout;
};
} // namespace

static constexpr Product products[] = {
    {"v_mfma_f32_32x32x2_f32", 32, 2, Element::F32, Element::F32, Element::F32,
     Product::Mfma},
    {"v_mfma_f32_16x16x4_f32", 16, 4, Element::F32, Element::F32, Element::F32,
     Product::Mfma},
    {"v_mfma_f32_32x32x4_xf32", 32, 4, Element::XF32, Element::XF32,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x8_xf32", 16, 8, Element::XF32, Element::XF32,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x8_f16", 32, 8, Element::F16, Element::F16, Element::F32,
     Product::Mfma},
    {"v_mfma_f32_16x16x16_f16", 16, 16, Element::F16, Element::F16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_f16", 32, 16, Element::F16, Element::F16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x32_f16", 16, 32, Element::F16, Element::F16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x8_bf16", 32, 8, Element::BF16, Element::BF16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x16_bf16", 16, 16, Element::BF16, Element::BF16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_bf16", 32, 16, Element::BF16, Element::BF16,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x32_bf16", 16, 32, Element::BF16, Element::BF16,
     Element::F32, Product::Mfma},
    {"v_mfma_i32_32x32x16_i8", 32, 16, Element::I8, Element::I8, Element::I8,
     Product::Mfma},
    {"v_mfma_i32_16x16x32_i8", 16, 32, Element::I8, Element::I8, Element::I8,
     Product::Mfma},
    {"v_mfma_i32_32x32x32_i8", 32, 32, Element::I8, Element::I8, Element::I8,
     Product::Mfma},
    {"v_mfma_i32_16x16x64_i8", 16, 64, Element::I8, Element::I8, Element::I8,
     Product::Mfma},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, Element::FP8, Element::FP8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, Element::FP8, Element::BF8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, Element::BF8, Element::FP8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, Element::BF8, Element::BF8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, Element::FP8, Element::FP8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, Element::FP8, Element::BF8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, Element::BF8, Element::FP8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, Element::BF8, Element::BF8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_16x16x128_f8f6f4", 16, 128, Element::F8, Element::F8,
     Element::F32, Product::Mfma},
    {"v_mfma_f32_32x32x64_f8f6f4", 32, 64, Element::F8, Element::F8,
     Element::F32, Product::Mfma},
    {"v_wmma_f32_16x16x16_f16", 16, 16, Element::F16, Element::F16,
     Element::F32, Product::Wmma11},
    {"v_wmma_f32_16x16x16_bf16", 16, 16, Element::BF16, Element::BF16,
     Element::F32, Product::Wmma11},
    {"v_wmma_i32_16x16x16_iu8", 16, 16, Element::IU8, Element::IU8, Element::I8,
     Product::Wmma11},
    {"v_wmma_f32_16x16x16_f16@rdna4", 16, 16, Element::F16, Element::F16,
     Element::F32, Product::Wmma12},
    {"v_wmma_f32_16x16x16_bf16@rdna4", 16, 16, Element::BF16, Element::BF16,
     Element::F32, Product::Wmma12},
    {"v_wmma_i32_16x16x16_iu8@rdna4", 16, 16, Element::IU8, Element::IU8,
     Element::I8, Product::Wmma12},
    {"v_wmma_f32_16x16x16_fp8_fp8@rdna4", 16, 16, Element::FP8, Element::FP8,
     Element::F32, Product::Wmma12},
    {"v_wmma_f32_16x16x16_fp8_bf8@rdna4", 16, 16, Element::FP8, Element::BF8,
     Element::F32, Product::Wmma12},
    {"v_wmma_f32_16x16x16_bf8_fp8@rdna4", 16, 16, Element::BF8, Element::FP8,
     Element::F32, Product::Wmma12},
    {"v_wmma_f32_16x16x16_bf8_bf8@rdna4", 16, 16, Element::BF8, Element::BF8,
     Element::F32, Product::Wmma12},
};

static unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F32:
  case Element::XF32:
    return 32;
  case Element::F16:
  case Element::BF16:
    return 16;
  default:
    return 8;
  }
}

/// Elements of the left operand in a lane.
static unsigned perLane(const Product &of) {
  switch (of.layout) {
  case Product::Mfma:
    return of.depth / (64 / of.rows);
  case Product::Wmma11:
    return of.depth;
  case Product::Wmma12:
    return of.depth / 2;
  }
  return 0;
}

/// A word of a lane, where a constant stands for every element.
static uint32_t wordOf(const Wave &wave, const Operand &of, unsigned word,
                       unsigned lane) {
  if (of.kind == Operand::Kind::Vector) {
    return wave.lane(of, word, lane);
  }
  return of.kind == Operand::Kind::Scalar ? wave.scalars[of.index + word]
                                          : uint32_t(of.value);
}

static double valueOf(const Wave &wave, Element element, uint32_t bits,
                      bool isSigned) {
  constexpr uint32_t tenBits = 0xffffe000;
  switch (element) {
  case Element::F16:
    return Half{uint16_t(bits)}.value();
  case Element::BF16:
    return BFloat{uint16_t(bits)}.value();
  case Element::F32:
    return std::bit_cast<float>(bits);
  case Element::XF32: // ten bits of mantissa, the rest cut off
    return std::bit_cast<float>(bits & tenBits);
  case Element::FP8:
    return narrowValue(wave, NarrowFloat::E4M3, bits);
  case Element::BF8:
    return narrowValue(wave, NarrowFloat::E5M2, bits);
  case Element::F8: // has been chosen
    break;
  case Element::I8:
    return int8_t(bits);
  case Element::IU8:
    return isSigned ? double(int8_t(bits)) : double(bits);
  }
  return 0;
}

/// Row (of the right operand: column) `row`, all of its depth.
static void readRow(const Wave &wave, const Instruction &instruction,
                    const Product &of, unsigned which, unsigned row,
                    double *to) {
  const Operand &operand = instruction.from[which];
  Element element = which ? of.right : of.left;
  if (element == Element::F8) {
    unsigned format = which ? instruction.negate : instruction.negateHigh;
    element = format ? Element::BF8 : Element::FP8;
  }
  unsigned bits = bitsOf(element), count = perLane(of);
  bool isSigned = instruction.negate >> which & 1;
  for (unsigned k = 0; k < of.depth; ++k) {
    unsigned lane = row + of.rows * (k / count), at = k % count * bits;
    uint32_t word = wordOf(wave, operand, at / 32, lane) >> at % 32;
    uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    to[k] = valueOf(wave, element, word & mask, isSigned);
  }
}

/// Where an element of the result lies.
static void placeOf(const Product &of, unsigned row, unsigned column,
                    unsigned &lane, unsigned &word) {
  unsigned groups = 64 / of.rows;
  switch (of.layout) {
  case Product::Mfma:
    lane = column + of.rows * (row / 4 % groups);
    word = row % 4 + 4 * (row / (4 * groups));
    return;
  case Product::Wmma11:
    lane = column + 16 * (row % 2);
    word = row / 2;
    return;
  case Product::Wmma12:
    lane = column + 16 * (row / 8);
    word = row % 8;
    return;
  }
}

/// Both halves of a wave must hold the same rows (RDNA 3).
static void checkRepeated(const Wave &wave, const Instruction &instruction) {
  for (unsigned which = 0; which < 2; ++which) {
    const Operand &operand = instruction.from[which];
    for (unsigned word = 0; word < operand.words; ++word) {
      for (unsigned lane = 0; lane < 16; ++lane) {
        if (wordOf(wave, operand, word, lane) !=
            wordOf(wave, operand, word, lane + 16)) {
          wave.fault(lane + 16, Fault::Kind::Illegal,
                     "holds other elements than lane " + std::to_string(lane) +
                         ", which it has to repeat");
        }
      }
    }
  }
}

static void multiply(Wave &wave, const Instruction &instruction) {
  const Product &of = products[instruction.semantics->detail];
  if (of.layout == Product::Wmma11) {
    checkRepeated(wave, instruction);
  }
  bool isInteger = of.result == Element::I8;
  bool changesSign = !isInteger && of.left != Element::F8 &&
                     (instruction.negate ||
                      (of.layout != Product::Mfma && instruction.negateHigh));
  if (changesSign || (of.layout == Product::Mfma && instruction.select) ||
      instruction.clamps) {
    wave.fault(Fault::Kind::Illegal,
               "broadcasts, clamps or changes signs, which is not simulated");
  }
  constexpr unsigned most = 128;
  std::vector<std::array<double, most>> left(of.rows), right(of.rows);
  for (unsigned i = 0; i < of.rows; ++i) {
    readRow(wave, instruction, of, 0, i, left[i].data());
    readRow(wave, instruction, of, 1, i, right[i].data());
  }
  std::vector<uint32_t> results(size_t(of.rows) * of.rows);
  for (unsigned row = 0; row < of.rows; ++row) {
    for (unsigned column = 0; column < of.rows; ++column) {
      unsigned lane, word;
      placeOf(of, row, column, lane, word);
      uint32_t start = wordOf(wave, instruction.from[2], word, lane);
      double sum = 0;
      for (unsigned k = 0; k < of.depth; ++k) {
        sum += left[row][k] * right[column][k];
      }
      results[row * of.rows + column] =
          isInteger ? start + uint32_t(int64_t(sum))
                    : std::bit_cast<uint32_t>(
                          float(sum + std::bit_cast<float>(start)));
    }
  }
  for (unsigned row = 0; row < of.rows; ++row) {
    for (unsigned column = 0; column < of.rows; ++column) {
      unsigned lane, word;
      placeOf(of, row, column, lane, word);
      wave.writeLane(instruction.to, word, lane,
                     results[row * of.rows + column]);
    }
  }
}

/// V_MFMA_F64_16X16X4_F64.
static void multiplyDoubles(Wave &wave, const Instruction &instruction) {
  constexpr unsigned size = 16, depth = 4;
  if (instruction.negate || instruction.select) {
    wave.fault(Fault::Kind::Illegal,
               "broadcasts or changes signs, which is not simulated");
  }
  auto at = [&](unsigned which, unsigned index, unsigned lane) {
    const Operand &of = instruction.from[which];
    uint64_t bits = 0;
    if (of.kind == Operand::Kind::Vector) {
      bits = wave.lane(of, 2 * index, lane) |
             uint64_t(wave.lane(of, 2 * index + 1, lane)) << 32;
    } else {
      // The operand has eight registers, which tell the decoder nothing of
      // their elements.
      inlineConstant(of.code, Type::F64, bits);
    }
    return std::bit_cast<double>(bits);
  };
  std::array<double, size * size> sums;
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      double sum = at(2, row / 4, column + size * (row % 4));
      for (unsigned k = 0; k < depth; ++k) {
        sum = std::fma(at(0, 0, row + size * k), at(1, 0, column + size * k),
                       sum);
      }
      sums[row * size + column] = sum;
    }
  }
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      auto bits = std::bit_cast<uint64_t>(sums[row * size + column]);
      unsigned lane = column + size * (row % 4), pair = row / 4;
      wave.writeLane(instruction.to, 2 * pair, lane, uint32_t(bits));
      wave.writeLane(instruction.to, 2 * pair + 1, lane, uint32_t(bits >> 32));
    }
  }
}

static Type typeOfBits(unsigned bits) {
  switch (bits) {
  case 32:
    return Type::B32;
  case 64:
    return Type::B64;
  case 128:
    return Type::B128;
  case 256:
    return Type::B256;
  default:
    return Type::B512;
  }
}

std::span<const Semantics> matrixFamily() {
  static const std::vector<Semantics> rows = [] {
    std::vector<Semantics> all = {
        custom("v_mfma_f64_16x16x4_f64", multiplyDoubles, Type::B256,
               {Type::B64, Type::B64, Type::B256}, Matrix | AllLanes)};
    for (unsigned i = 0; i < std::size(products); ++i) {
      const Product &of = products[i];
      unsigned lanes = of.layout == Product::Mfma ? 64 : 32;
      Type sums = typeOfBits(of.rows * of.rows / lanes * 32);
      all.push_back(custom(of.names, multiply, sums,
                           {typeOfBits(perLane(of) * bitsOf(of.left)),
                            typeOfBits(perLane(of) * bitsOf(of.right)), sums},
                           Matrix | AllLanes, i));
    }
    return all;
  }();
  return rows;
}

} // namespace nereid::sim::amd
