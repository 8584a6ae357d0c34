//===- LinearLayout.h - Where the elements of a tile live -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout answers: which element of the tile does register r of lane l of
// warp w hold? One representation serves every kind of layout: a linear map
// over F2 from the bits of (register, lane, warp, ...) to the bits of the
// element's indices (arXiv 2505.23819).
//
// An example. A 4x4 tile on 4 lanes with 4 registers each, where a lane holds a
// 2x2 corner:
//
//            column 0  1  2  3            each entry: lane, register
//   row 0         0,0 0,1 1,0 1,1
//   row 1         0,2 0,3 1,2 1,3
//   row 2         2,0 2,1 3,0 3,1
//   row 3         2,2 2,3 3,2 3,3
//
// Register 1 of lane 0 is at (row 0, column 1), register 2 at (1, 0), lane 1
// begins at (0, 2), lane 2 at (2, 0). Those four answers, one for each power of
// two, are all there is to say: register 3 = 1 ^ 2 is at (0,1) ^ (1,0) = (1,1),
// and register 3 of lane 3 is at (1,1) ^ (0,2) ^ (2,0) = (3,3). The layout is
// the list of them, its bases:
//
//   register: (0,1) (1,0)      lane: (0,2) (2,0)
//
// Because the map is linear, questions about 16 places are questions about 4
// bases, answered by linear algebra: Does a lane hold neighbours (a vector
// load)? Are the first register bases consecutive columns? Do two lanes hold
// the same element (broadcast)? Is a combination of lane bases zero? How do
// values get from layout A to layout B? By B^-1 A; where that changes register
// bits only nothing moves between lanes, where it mixes register and lane bits
// shuffles do, where it touches warp bits a trip through shared memory does.
//
// Swizzled shared memory is a layout too, from the bits of an offset. Sizes
// that are no power of two are padded to one; `Tile` in StandardLayouts.h
// elides what is dead.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_LINEARLAYOUT_H
#define NEREID_LAYOUT_LINEARLAYOUT_H

#include "nereid/Layout/F2.h"

#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace nereid {

/// The dimensions that layouts speak of. `D0`... are those of the tensor.
enum class Axis : uint8_t {
  Register,
  Lane,
  Warp,
  Block,
  Offset, ///< elements from the start of a shared-memory buffer
  D0,
  D1,
  D2,
  D3,
  D4,
  D5,
  D6,
  D7,
};

/// "register", ..., "dim0".
const char *name(Axis axis);
/// Tensor dimension i, 0 <= i < 8.
inline Axis tensorAxis(unsigned i) {
  return static_cast<Axis>(static_cast<unsigned>(Axis::D0) + i);
}

/// A dimension and the number of bits of its index.
struct AxisBits {
  Axis axis;
  unsigned bits;
  bool operator==(const AxisBits &) const = default;
};

/// A point: an index for some axes; the others are 0.
using Point = std::vector<std::pair<Axis, uint32_t>>;

/// An immutable linear map. Inputs and outputs are ordered lists of axes; the
/// first axis has the lowest bits of the flattened index.
class LinearLayout {
public:
  /// The map of no bits to no bits: neutral for `*`.
  LinearLayout() = default;

  /// Columns in the order of the inputs' bits; each is a flattened output.
  LinearLayout(std::vector<AxisBits> inputs, std::vector<AxisBits> outputs,
               f2::Matrix columns);

  /// From bases written per input axis as points of the output.
  using Bases = std::vector<std::pair<Axis, std::vector<Point>>>;
  static LinearLayout fromBases(const Bases &bases,
                                std::vector<AxisBits> outputs);

  /// `bits` bits of `input` become those of `output`.
  static LinearLayout identity(Axis input, Axis output, unsigned bits);
  /// `bits` bits of `input` that change nothing; `output` keeps 0 bits.
  static LinearLayout broadcast(Axis input, Axis output, unsigned bits);

  const std::vector<AxisBits> &inputs() const { return inputs_; }
  const std::vector<AxisBits> &outputs() const { return outputs_; }
  const f2::Matrix &columns() const { return columns_; }
  unsigned inputBits() const { return static_cast<unsigned>(columns_.size()); }
  unsigned outputBits() const;
  unsigned inputBits(Axis axis) const;  ///< 0 for an axis it lacks
  unsigned outputBits(Axis axis) const; ///< 0 for an axis it lacks
  bool hasInput(Axis axis) const;
  bool hasOutput(Axis axis) const;

  /// The output index along `output` of the i-th basis of `input`.
  uint32_t basis(Axis input, unsigned i, Axis output) const;

  /// The image of a point, an index for every output axis.
  Point apply(const Point &point) const;
  /// The same on flattened indices.
  uint64_t applyFlat(uint64_t input) const {
    return f2::apply(columns_, input);
  }
  uint64_t flattenInput(const Point &point) const;
  uint64_t flattenOutput(const Point &point) const;
  Point unflattenOutput(uint64_t flat) const;
  Point unflattenInput(uint64_t flat) const;

  unsigned rank() const { return f2::rank(columns_); }
  bool isSurjective() const { return rank() == outputBits(); }
  bool isInjective() const { return rank() == inputBits(); }
  bool isInvertible() const { return isSurjective() && isInjective(); }

  /// Input bits of `axis` that are sums of others: places that hold copies.
  /// Bit i of the result: basis i is redundant given all bits before it in
  /// the order of the inputs.
  uint32_t freeMask(Axis axis) const;

  /// outer(this(x)). The outputs of this must be the inputs of `outer`, sizes
  /// included, in any order.
  LinearLayout compose(const LinearLayout &outer) const;

  /// The map back. Needs isInvertible().
  LinearLayout invert() const;

  /// From this layout's places to places of `other` that hold the same
  /// element: `other(result(x)) = this(x)`. Both map onto the same outputs;
  /// `other` must be surjective. Where `other` holds copies the place with
  /// zeros in its free bits is taken.
  LinearLayout invertAndCompose(const LinearLayout &other) const;

  /// The product: (this * other)(x, y) = this(x) + other(y) shifted past the
  /// bits this has along each axis. Repeats this layout along `other`.
  LinearLayout operator*(const LinearLayout &other) const;

  /// L with L * divisor... = this: the quotient of the product above, with the
  /// divisor on the left (the innermost part). Absent when there is none.
  std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;

  /// Only these axes, in this order.
  LinearLayout sublayout(const std::vector<Axis> &inputs,
                         const std::vector<Axis> &outputs) const;
  /// Is every basis of `inputs` zero along `outputs`?
  bool sublayoutIsZero(const std::vector<Axis> &inputs,
                       const std::vector<Axis> &outputs) const;

  /// The same map, axes in another order.
  LinearLayout transposeInputs(const std::vector<Axis> &order) const;
  LinearLayout transposeOutputs(const std::vector<Axis> &order) const;

  /// Elements that consecutive registers hold consecutively along `axis`, from
  /// an aligned start: what one vector access can move.
  unsigned contiguousRegisters(Axis axis) const;

  bool operator==(const LinearLayout &) const = default;

  /// "register: (0,1) (1,0)  lane: (0,2) (2,0) -> dim0:2 dim1:2", bits.
  std::string str() const;

private:
  std::vector<AxisBits> inputs_, outputs_;
  f2::Matrix columns_;
};

} // namespace nereid

#endif // NEREID_LAYOUT_LINEARLAYOUT_H
