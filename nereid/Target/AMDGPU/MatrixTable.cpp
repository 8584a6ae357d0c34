//===- MatrixTable.cpp - Matrix instructions of each chip -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ISA documents "AMD Instinct MI200", "MI300" and "CDNA 4", chapter "Matrix
// Arithmetic Instructions"; "RDNA 3" and "RDNA 4", "Wave Matrix Multiply
// Accumulate". Products are computed transposed (AMDInstructions.cpp): what the
// documents say of the rows of A is said of B's columns here, and of columns of
// D of rows.
//
// Cycles: a multiplication and addition of 64 lanes takes four of a SIMD unit
// of CDNA, of 32 lanes one of RDNA's. Rates are those of the data sheets.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/MatrixTable.h"

namespace nereid::amdgpu {

using tilegpu::MatrixInstruction;
using tilegpu::OperandKind;
using enum MatrixSide;
using enum Axis;

/// V_MFMA of `1 << sizeBits` rows and columns, where a lane has
/// `1 << depthBits` elements of an operand. Sums are four rows of each lane,
/// then the other lanes', then the next such block; of f64 one row.
static MatrixFragments mfma(unsigned sizeBits, unsigned depthBits,
                            bool isDouble = false) {
  constexpr unsigned laneBits = 6;
  unsigned others = laneBits - sizeBits;
  unsigned neighbours = isDouble ? 0 : 2;
  unsigned registers = 2 * sizeBits - laneBits;
  MatrixFragments one;
  one.result = {{Register, N, neighbours},
                {Lane, M, sizeBits},
                {Lane, N, others},
                {Register, N, registers - neighbours}};
  one.left = {{Register, K, depthBits}, {Lane, M, sizeBits}, {Lane, K, others}};
  one.right = {
      {Register, K, depthBits}, {Lane, N, sizeBits}, {Lane, K, others}};
  one.anyDepthOrder = true;
  return one;
}

/// V_WMMA of RDNA 3: both halves of a wave hold the operands.
static MatrixFragments wmmaOfCopies() {
  MatrixFragments one;
  one.result = {{Lane, M, 4}, {Lane, N, 1}, {Register, N, 3}};
  one.left = {{Register, K, 4}, {Lane, M, 4}, {Lane, K, 1, /*isCopied=*/true}};
  one.right = {{Register, K, 4}, {Lane, N, 4}, {Lane, K, 1, /*isCopied=*/true}};
  one.anyDepthOrder = true;
  return one;
}

/// V_WMMA of RDNA 4: each half has half of K, and half of the rows.
static MatrixFragments wmmaOfHalves() {
  MatrixFragments one;
  one.result = {{Register, N, 3}, {Lane, M, 4}, {Lane, N, 1}};
  one.left = {{Register, K, 3}, {Lane, M, 4}, {Lane, K, 1}};
  one.right = {{Register, K, 3}, {Lane, N, 4}, {Lane, K, 1}};
  one.anyDepthOrder = true;
  return one;
}

/// Of 16 x 16 sums and `k` deep.
static MatrixInstruction of16(OperandKind operand, unsigned k, unsigned cycles,
                              MatrixFragments fragments) {
  return {operand, /*warps=*/1, 16, 16, k, cycles, std::move(fragments)};
}

/// The same with 32 x 32 sums: of half the depth, in twice the time.
static MatrixInstruction of32(const MatrixInstruction &one) {
  unsigned depthBits =
      fragmentBits(one.fragments.left, MatrixSide::K, Axis::Register);
  MatrixInstruction larger = one;
  larger.m = larger.n = 32;
  larger.k /= 2;
  larger.cycles *= 2;
  larger.fragments = mfma(5, depthBits);
  return larger;
}

/// 8-bit floats where no instruction takes them, or one takes them in a format
/// of its own: products of f16.
static MatrixInstruction widened(MatrixInstruction ofHalves) {
  ofHalves.operand = OperandKind::F8;
  ofHalves.isWidened = true;
  return ofHalves;
}

static std::vector<MatrixInstruction> ofCdna(unsigned generation) {
  bool isNewest = generation == 4; // gfx950
  unsigned halfBits = isNewest ? 3 : 2, byteBits = generation;
  unsigned halfCycles = generation == 2 ? 8 : 4;
  MatrixInstruction ofHalves =
      of16(OperandKind::F16, 4u << halfBits, halfCycles, mfma(4, halfBits));
  MatrixInstruction ofBfloats = ofHalves;
  ofBfloats.operand = OperandKind::BF16;
  MatrixInstruction ofBytes =
      of16(OperandKind::I8, 4u << byteBits, halfCycles, mfma(4, byteBits));
  ofBytes.takesUnsigned = false;
  std::vector<MatrixInstruction> all = {
      ofHalves, ofBfloats, of16(OperandKind::F32, 4, 8, mfma(4, 0)),
      of16(OperandKind::F64, 4, isNewest ? 16 : 8,
           mfma(4, 0, /*isDouble=*/true)),
      ofBytes};
  if (generation == 3) {
    all.push_back(of16(OperandKind::TF32, 8, 4, mfma(4, 1)));
  }
  all.push_back(isNewest ? of16(OperandKind::F8, 32, 4, mfma(4, 3))
                         : widened(ofHalves));
  if (isNewest) { // V_MFMA_*_F8F6F4: 128 elements in 8 passes
    all.push_back(of16(OperandKind::F8, 128, 8, mfma(4, 5)));
  }
  for (size_t i = 0, count = all.size(); i < count; ++i) {
    if (all[i].operand != OperandKind::F64) {
      all.push_back(of32(all[i]));
    }
  }
  return all;
}

static std::vector<MatrixInstruction> ofRdna(unsigned generation) {
  bool isNewest = generation == 4; // gfx1201
  MatrixFragments fragments = isNewest ? wmmaOfHalves() : wmmaOfCopies();
  unsigned halfCycles = isNewest ? 16 : 32, byteCycles = isNewest ? 8 : 32;
  MatrixInstruction ofHalves =
      of16(OperandKind::F16, 16, halfCycles, fragments);
  return {ofHalves, of16(OperandKind::BF16, 16, halfCycles, fragments),
          of16(OperandKind::I8, 16, byteCycles, fragments),
          isNewest ? of16(OperandKind::F8, 16, byteCycles, fragments)
                   : widened(ofHalves)};
}

std::vector<MatrixInstruction> matrixInstructions(std::string_view name) {
  return name == "gfx90a"    ? ofCdna(2)
         : name == "gfx942"  ? ofCdna(3)
         : name == "gfx950"  ? ofCdna(4)
         : name == "gfx1100" ? ofRdna(3)
                             : ofRdna(4);
}

} // namespace nereid::amdgpu
