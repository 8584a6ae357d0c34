//===- MatrixFragments.cpp - Which lane holds what of a product -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/MatrixFragments.h"

#include <bit>
#include <cassert>

namespace nereid {

MatrixFragments mmaFragments(unsigned kWidth) {
  using enum MatrixSide;
  using enum Axis;
  unsigned kBits = std::countr_zero(kWidth);
  return {{{Register, N, 1}, {Lane, N, 2}, {Lane, M, 3}, {Register, M, 1}},
          {{Register, K, kBits},
           {Lane, K, 2},
           {Lane, M, 3},
           {Register, M, 1},
           {Register, K, 1}},
          {{Register, K, kBits}, {Lane, K, 2}, {Lane, N, 3}, {Register, K, 1}}};
}

unsigned fragmentBits(const Fragment &fragment, MatrixSide side) {
  unsigned bits = 0;
  for (const FragmentRun &run : fragment) {
    bits += run.side == side && !run.isCopied ? run.bits : 0;
  }
  return bits;
}

unsigned fragmentBits(const Fragment &fragment, MatrixSide side, Axis input) {
  unsigned bits = 0;
  for (const FragmentRun &run : fragment) {
    bool counts = run.side == side && run.input == input && !run.isCopied;
    bits += counts ? run.bits : 0;
  }
  return bits;
}

/// The block of one instruction, with sides along these dimensions.
template <typename Dimension>
static LinearLayout blockOf(const Fragment &fragment, Dimension dimensionOf) {
  LinearLayout block;
  for (const FragmentRun &run : fragment) {
    Axis to = dimensionOf(run.side);
    block = block * (run.isCopied
                         ? LinearLayout::broadcast(run.input, to, run.bits)
                         : LinearLayout::identity(run.input, to, run.bits));
  }
  return block;
}

/// Warps along each dimension, columns first and a batch last. Those along
/// `missing`, a dimension of the result that the operand lacks, change nothing.
static LinearLayout warpsOf(const std::vector<unsigned> &warps, Axis missing) {
  LinearLayout part;
  for (unsigned d = warps.size(); d-- > 0;) {
    unsigned bits = std::countr_zero(warps[d]);
    Axis to = tensorAxis(d);
    part =
        part * (to == missing ? LinearLayout::broadcast(Axis::Warp, to, bits)
                              : LinearLayout::identity(Axis::Warp, to, bits));
  }
  return part;
}

LinearLayout fragmentResult(const Shape &shape, const MatrixFragments &one,
                            const std::vector<unsigned> &warps) {
  unsigned rank = shape.size();
  Axis m = tensorAxis(rank - 2), n = tensorAxis(rank - 1);
  auto dimensionOf = [&](MatrixSide side) {
    assert(side != MatrixSide::K && "a result has no K");
    return side == MatrixSide::M ? m : n;
  };
  return fitToShape(blockOf(one.result, dimensionOf) *
                        warpsOf(warps, /*missing=*/Axis::Block),
                    shape);
}

LinearLayout fragmentOperand(const Shape &shape, unsigned index,
                             const MatrixFragments &one,
                             const std::vector<unsigned> &warps) {
  assert(index < 2);
  unsigned rank = shape.size();
  Axis k = tensorAxis(rank - 1 - index), outer = tensorAxis(rank - 2 + index);
  auto dimensionOf = [&](MatrixSide side) {
    return side == MatrixSide::K ? k : outer;
  };
  return fitToShape(blockOf(index ? one.right : one.left, dimensionOf) *
                        warpsOf(warps, /*missing=*/k),
                    shape);
}

/// The runs along one side, in order.
static std::vector<FragmentRun> runsAlong(const Fragment &fragment,
                                          MatrixSide side) {
  std::vector<FragmentRun> runs;
  for (const FragmentRun &run : fragment) {
    if (run.side == side && !run.isCopied && run.bits) {
      runs.push_back(run);
    }
  }
  return runs;
}

MatrixFragments meetingResult(const MatrixFragments &one) {
  std::vector<FragmentRun> along = runsAlong(one.result, MatrixSide::N);
  unsigned lanes = fragmentBits(one.result, MatrixSide::N, Axis::Lane);
  bool meets = one.anyDepthOrder &&
               lanes == fragmentBits(one.left, MatrixSide::K, Axis::Lane) &&
               lanes == fragmentBits(one.right, MatrixSide::K, Axis::Lane);
  if (!meets) {
    return one;
  }
  // Registers in front of the lanes, if any; the others come after them.
  unsigned first =
      along.front().input == Axis::Register ? along.front().bits : 0;
  MatrixFragments result = one;
  for (Fragment *operand : {&result.left, &result.right}) {
    unsigned registers = fragmentBits(*operand, MatrixSide::K, Axis::Register);
    Fragment changed;
    if (first) {
      changed.push_back({Axis::Register, MatrixSide::K, first});
    }
    for (const FragmentRun &run : *operand) {
      if (run.input == Axis::Lane || run.side != MatrixSide::K) {
        changed.push_back(run);
      }
    }
    if (registers > first) {
      changed.push_back({Axis::Register, MatrixSide::K, registers - first});
    }
    *operand = changed;
  }
  return result;
}

} // namespace nereid
