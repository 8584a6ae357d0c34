//===- TileLayout.h - A layout by flattened indices -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form in which the compiler carries a LinearLayout: the columns for
// register, lane and warp, each a flattened index of the tile. A tile's
// flattened index has `paddedBits` bits for every dimension, the last dimension
// lowest, so that
//
//   - a dimension of size 1 has no bits: adding or dropping it changes nothing;
//   - row-major reshapes of power-of-two shapes change nothing;
//   - tiles of any rank fit, where LinearLayout names at most 8 dimensions.
//
// Register columns are never zero: a thread holds no element twice. Zero lane
// and warp columns are copies in other threads.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_TILELAYOUT_H
#define NEREID_LAYOUT_TILELAYOUT_H

#include "nereid/Layout/StandardLayouts.h"

namespace nereid {

struct TileLayout {
  std::vector<uint32_t> registers, lanes, warps;

  bool operator==(const TileLayout &) const = default;

  unsigned registerCount() const { return 1u << registers.size(); }
  /// The part of the flattened index that register `r` contributes.
  uint32_t ofRegister(unsigned r) const;
  /// All columns: registers lowest, then lanes, then warps.
  f2::Matrix columns() const;
  /// As a map to one output of `bits` bits, D0.
  LinearLayout linear(unsigned bits) const;
};

/// Of a layout of a shape with outputs as tensorOutputs().
TileLayout flatten(const LinearLayout &layout);

int64_t elementCount(const Shape &shape);
/// Bits of a tile's flattened index, and of each dimension the lowest.
unsigned tileBits(const Shape &shape);
std::vector<unsigned> dimensionShifts(const Shape &shape);
/// Of every size.
bool isPowerOfTwo(const Shape &shape);
/// Does a row-major reshape keep flattened indices? So it does where all sizes
/// are powers of two, and where it only adds or drops dimensions of size 1.
bool keepsFlatIndex(const Shape &from, const Shape &to);
/// Index along each dimension.
std::vector<uint32_t> splitIndex(uint32_t flat, const Shape &shape);
uint32_t joinIndex(const std::vector<uint32_t> &index, const Shape &shape);

/// The layout of a tile `to` that becomes `from` by repeating its dimensions of
/// size 1: thread by thread the elements that the layout of `from` needs. Also
/// what a reduction along those dimensions leaves. `kept`, if not null, gets
/// the register columns that remain, in order.
TileLayout narrow(const TileLayout &layout, const Shape &from, const Shape &to,
                  std::vector<unsigned> *kept = nullptr);

/// The layout of a tile `to` that a tile `from` becomes by repeating its
/// dimensions of size 1: in registers of the thread that holds the element.
TileLayout widen(const TileLayout &layout, const Shape &from, const Shape &to);

/// The layout of a transposed tile: dimension d of the result is dimension
/// order[d] of the source.
TileLayout permute(const TileLayout &layout, const Shape &shape,
                   const std::vector<unsigned> &order);

/// The layout of join(x, y) where x and y have `layout`: the new last dimension
/// in the first register column.
TileLayout joined(const TileLayout &layout);
/// The inverse; absent unless the last dimension (of size 2) is one register
/// column and nothing else. `column` is which.
std::optional<TileLayout> halved(const TileLayout &layout, unsigned &column);

/// Bits of the thread number (lanes lowest) that change nothing given the lower
/// ones: threads that differ in them hold copies.
uint32_t freeThreadBits(const TileLayout &layout);

/// Bit r set: register r lies outside the shape in every thread.
std::vector<bool> deadRegisters(const TileLayout &layout, const Shape &shape);
/// Bit r set: in some threads.
std::vector<bool> partlyDeadRegisters(const TileLayout &layout,
                                      const Shape &shape);

/// Threads of a program: 2^laneBits a warp, 2^warpBits warps.
struct ThreadBits {
  unsigned lanes, warps;
};

/// Neighbouring threads at neighbouring addresses: `vector` elements a thread
/// along dimension order[0], then lanes, then warps, in the order of `order`;
/// what is left repeats in registers. `vector` is lowered to a power of two
/// that divides the dimension, and further where that leaves more registers
/// dead in every thread: 768 elements on 128 threads are 6 a thread. With
/// `wholeRows` warps divide the other dimensions first if those are large
/// enough for all of them: a reduction along order[0] then stays in a warp.
TileLayout coalesced(const Shape &shape, const std::vector<unsigned> &order,
                     unsigned vector, ThreadBits threads,
                     bool wholeRows = false);

/// The same around `warps`, columns of one bit each, which stay: vectors, then
/// lanes take what the warps leave, in the order of `order`. Absent where the
/// neighbours that one warp reaches are fewer than `run`, or all of the fastest
/// dimension.
std::optional<TileLayout> coalescedAround(const std::vector<uint32_t> &warps,
                                          const Shape &shape,
                                          const std::vector<unsigned> &order,
                                          unsigned vector, unsigned laneBits,
                                          unsigned run);

/// Consecutive elements along the dimension with the lowest bit `shift` that
/// registers hold consecutively from an aligned start.
unsigned contiguousRegisters(const TileLayout &layout, unsigned shift,
                             unsigned bits);

} // namespace nereid

#endif // NEREID_LAYOUT_TILELAYOUT_H
