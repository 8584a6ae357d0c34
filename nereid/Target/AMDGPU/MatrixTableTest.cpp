//===- MatrixTableTest.cpp - Fragments against the ISA documents ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products are transposed: A of the documents, with rows i, is the right
// operand here, B, with columns j, the left one, and D[i, j] is C[n, m].
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/MatrixTable.h"
#include "nereid/Layout/TileLayout.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::amdgpu;
using tilegpu::MatrixInstruction;
using tilegpu::OperandKind;

namespace {
struct Place {
  uint32_t row, column;
  bool operator==(const Place &) const = default;
};

/// Of one wave.
Place at(const LinearLayout &layout, unsigned r, unsigned lane) {
  Place place{};
  for (const auto &[axis, value] : layout.apply(
           {{Axis::Register, r}, {Axis::Lane, lane}, {Axis::Warp, 0}})) {
    (axis == Axis::D0 ? place.row : place.column) = value;
  }
  return place;
}

const MatrixInstruction *find(const std::vector<MatrixInstruction> &all,
                              OperandKind operand) {
  auto found = std::find_if(all.begin(), all.end(), [&](const auto &one) {
    return one.operand == operand;
  });
  return found == all.end() ? nullptr : &*found;
}

LinearLayout result(const MatrixInstruction &one) {
  return fragmentResult({one.m, one.n}, one.fragments, {1, 1});
}
LinearLayout left(const MatrixInstruction &one) {
  return fragmentOperand({one.m, one.k}, 0, one.fragments, {1, 1});
}
LinearLayout right(const MatrixInstruction &one) {
  return fragmentOperand({one.k, one.n}, 1, one.fragments, {1, 1});
}
} // namespace

TEST(MatrixTable, MfmaFollowsTheIsaDocuments) {
  for (const char *name : {"gfx90a", "gfx942", "gfx950"}) {
    for (const MatrixInstruction &one : matrixInstructions(name)) {
      ASSERT_EQ(one.m, one.n);
      unsigned size = one.m, groups = 64 / size, own = one.k / groups;
      LinearLayout a = left(one), b = right(one), c = result(one);
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned index = lane % size, group = lane / size;
        for (unsigned r = 0; r < own; ++r) {
          unsigned k = own * group + r;
          EXPECT_EQ(at(a, r, lane), (Place{index, k})) << name;
          EXPECT_EQ(at(b, r, lane), (Place{k, index})) << name;
        }
        for (unsigned r = 0; r < size * size / 64; ++r) {
          unsigned i = one.operand == OperandKind::F64
                           ? groups * r + group
                           : 4 * groups * (r / 4) + 4 * group + r % 4;
          EXPECT_EQ(at(c, r, lane), (Place{index, i})) << name;
        }
      }
    }
  }
}

TEST(MatrixTable, WmmaOfRdna3FollowsTheIsaDocument) {
  for (const MatrixInstruction &one : matrixInstructions("gfx1100")) {
    LinearLayout a = left(one), b = right(one), c = result(one);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned k = 0; k < 16; ++k) {
        EXPECT_EQ(at(a, k, lane), (Place{lane % 16, k}));
        EXPECT_EQ(at(b, k, lane), (Place{k, lane % 16}));
      }
      for (unsigned r = 0; r < 8; ++r) {
        EXPECT_EQ(at(c, r, lane), (Place{lane % 16, 2 * r + lane / 16}));
      }
    }
  }
}

TEST(MatrixTable, WmmaOfRdna4FollowsTheIsaDocument) {
  for (const MatrixInstruction &one : matrixInstructions("gfx1201")) {
    LinearLayout a = left(one), b = right(one), c = result(one);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned r = 0; r < 8; ++r) {
        unsigned k = lane / 16 * 8 + r;
        EXPECT_EQ(at(a, r, lane), (Place{lane % 16, k}));
        EXPECT_EQ(at(b, r, lane), (Place{k, lane % 16}));
        EXPECT_EQ(at(c, r, lane), (Place{lane % 16, k}));
      }
    }
  }
}

TEST(MatrixTable, EveryElementIsInOnePlace) {
  for (const std::string &name : architectures()) {
    for (const MatrixInstruction &one : matrixInstructions(name)) {
      EXPECT_TRUE(result(one).isInvertible()) << name;
      bool isCopied = name == "gfx1100";
      for (const LinearLayout &operand : {left(one), right(one)}) {
        EXPECT_TRUE(operand.isSurjective()) << name;
        EXPECT_EQ(operand.freeMask(Axis::Lane), isCopied ? 16u : 0u) << name;
        EXPECT_EQ(operand.freeMask(Axis::Register), 0u) << name;
      }
    }
  }
}

TEST(MatrixTable, ChipsHaveWhatTheirDocumentsSay) {
  auto depth = [](const char *name, OperandKind operand) {
    std::vector<MatrixInstruction> all = matrixInstructions(name);
    const MatrixInstruction *one = find(all, operand);
    return one ? one->k : 0;
  };
  EXPECT_EQ(depth("gfx90a", OperandKind::F16), 16u);
  EXPECT_EQ(depth("gfx950", OperandKind::BF16), 32u);
  EXPECT_EQ(depth("gfx90a", OperandKind::I8), 16u);
  EXPECT_EQ(depth("gfx942", OperandKind::I8), 32u);
  EXPECT_EQ(depth("gfx950", OperandKind::I8), 64u);
  EXPECT_EQ(depth("gfx942", OperandKind::TF32), 8u);
  EXPECT_EQ(depth("gfx950", OperandKind::TF32), 0u);
  EXPECT_EQ(depth("gfx950", OperandKind::F32), 4u);
  EXPECT_EQ(depth("gfx1100", OperandKind::F32), 0u);
  EXPECT_EQ(depth("gfx1201", OperandKind::F64), 0u);
  // The 8-bit floats of gfx942 are others than the language's.
  for (const char *name : {"gfx90a", "gfx942", "gfx1100"}) {
    std::vector<MatrixInstruction> all = matrixInstructions(name);
    EXPECT_TRUE(find(all, OperandKind::F8)->isWidened) << name;
  }
  for (const char *name : {"gfx950", "gfx1201"}) {
    std::vector<MatrixInstruction> all = matrixInstructions(name);
    EXPECT_FALSE(find(all, OperandKind::F8)->isWidened) << name;
  }
}

TEST(MatrixTable, OfSeveralDepthsTheFastestIsChosen) {
  tilegpu::TargetInfo info;
  info.matrix = matrixInstructions("gfx950");
  auto depth = [&](int64_t wanted, unsigned rows) {
    return info.findMatrix(OperandKind::F8, 1, rows, wanted)->k;
  };
  EXPECT_EQ(depth(32, 0), 32u);
  EXPECT_EQ(depth(64, 0), 32u);
  EXPECT_EQ(depth(96, 0), 128u);
  EXPECT_EQ(depth(256, 16), 128u);
  EXPECT_EQ(depth(16, 32), 16u);
  EXPECT_EQ(depth(128, 32), 64u);
}

/// Scores become the left operand of the next product: the same elements in the
/// same lanes, but for RDNA 3, whose operands lie in both halves of a wave.
TEST(MatrixTable, AResultIsTheNextProductsLeftOperand) {
  for (const std::string &name : architectures()) {
    for (const MatrixInstruction &one : matrixInstructions(name)) {
      const Shape shape = {64, 128};
      const std::vector<unsigned> warps = {4, 1};
      TileLayout scores = flatten(fragmentResult(shape, one.fragments, warps));
      TileLayout next = flatten(
          fragmentOperand(shape, 0, meetingResult(one.fragments), warps));
      EXPECT_EQ(scores.lanes == next.lanes, name != "gfx1100") << name;
      EXPECT_EQ(scores.warps, next.warps);
      if (name != "gfx1100") {
        EXPECT_TRUE(std::is_permutation(
            scores.registers.begin(), scores.registers.end(),
            next.registers.begin(), next.registers.end()))
            << name;
      }
    }
  }
}
