//===- LinearLayout.cpp - Where the elements of a tile live ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/LinearLayout.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace nereid {

const char *name(Axis axis) {
  static constexpr const char *names[] = {
      "register", "lane", "warp", "block", "offset", "dim0", "dim1",
      "dim2",     "dim3", "dim4", "dim5",  "dim6",   "dim7"};
  return names[static_cast<unsigned>(axis)];
}

//===----------------------------------------------------------------------===//
// Lists of axes
//===----------------------------------------------------------------------===//

static unsigned totalBits(const std::vector<AxisBits> &axes) {
  unsigned bits = 0;
  for (const AxisBits &a : axes) {
    bits += a.bits;
  }
  return bits;
}

static const AxisBits *find(const std::vector<AxisBits> &axes, Axis axis) {
  for (const AxisBits &a : axes) {
    if (a.axis == axis) {
      return &a;
    }
  }
  return nullptr;
}

static unsigned bitsOf(const std::vector<AxisBits> &axes, Axis axis) {
  const AxisBits *a = find(axes, axis);
  return a ? a->bits : 0;
}

static unsigned shiftOf(const std::vector<AxisBits> &axes, Axis axis) {
  unsigned shift = 0;
  for (const AxisBits &a : axes) {
    if (a.axis == axis) {
      break;
    }
    shift += a.bits;
  }
  return shift;
}

static uint64_t lowMask(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

static uint64_t flatten(const std::vector<AxisBits> &axes, const Point &point) {
  uint64_t flat = 0;
  for (const auto &[axis, index] : point) {
    assert(index >> bitsOf(axes, axis) == 0 && "index outside its axis");
    flat |= uint64_t{index} << shiftOf(axes, axis);
  }
  return flat;
}

static Point unflatten(const std::vector<AxisBits> &axes, uint64_t flat) {
  Point point;
  for (const AxisBits &a : axes) {
    point.emplace_back(a.axis, static_cast<uint32_t>(flat & lowMask(a.bits)));
    flat >>= a.bits;
  }
  return point;
}

/// Moves the bits of `flat` from one order and size of axes to another. Bits
/// of axes that `to` lacks are dropped.
static uint64_t reorder(uint64_t flat, const std::vector<AxisBits> &from,
                        const std::vector<AxisBits> &to) {
  uint64_t result = 0;
  unsigned shift = 0;
  for (const AxisBits &a : to) {
    uint64_t index =
        flat >> shiftOf(from, a.axis) & lowMask(bitsOf(from, a.axis));
    result |= (index & lowMask(a.bits)) << shift;
    shift += a.bits;
  }
  return result;
}

static std::vector<AxisBits> select(const std::vector<AxisBits> &axes,
                                    const std::vector<Axis> &order) {
  std::vector<AxisBits> result;
  for (Axis axis : order) {
    result.push_back({axis, bitsOf(axes, axis)});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Construction and questions
//===----------------------------------------------------------------------===//

LinearLayout::LinearLayout(std::vector<AxisBits> inputs,
                           std::vector<AxisBits> outputs, f2::Matrix columns)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)),
      columns_(std::move(columns)) {
  assert(columns_.size() == totalBits(inputs_));
  assert(outputBits() <= 64 && columns_.size() <= 64);
  assert(std::all_of(columns_.begin(), columns_.end(), [&](uint64_t c) {
    return (c & ~lowMask(outputBits())) == 0;
  }));
}

LinearLayout LinearLayout::fromBases(const Bases &bases,
                                     std::vector<AxisBits> outputs) {
  std::vector<AxisBits> inputs;
  f2::Matrix columns;
  for (const auto &[axis, points] : bases) {
    inputs.push_back({axis, static_cast<unsigned>(points.size())});
    for (const Point &point : points) {
      columns.push_back(flatten(outputs, point));
    }
  }
  return LinearLayout(std::move(inputs), std::move(outputs),
                      std::move(columns));
}

LinearLayout LinearLayout::identity(Axis input, Axis output, unsigned bits) {
  f2::Matrix columns;
  for (unsigned i = 0; i < bits; ++i) {
    columns.push_back(uint64_t{1} << i);
  }
  return LinearLayout({{input, bits}}, {{output, bits}}, std::move(columns));
}

LinearLayout LinearLayout::broadcast(Axis input, Axis output, unsigned bits) {
  return LinearLayout({{input, bits}}, {{output, 0}}, f2::Matrix(bits, 0));
}

unsigned LinearLayout::outputBits() const { return totalBits(outputs_); }
unsigned LinearLayout::inputBits(Axis axis) const {
  return bitsOf(inputs_, axis);
}
unsigned LinearLayout::outputBits(Axis axis) const {
  return bitsOf(outputs_, axis);
}
bool LinearLayout::hasInput(Axis axis) const { return find(inputs_, axis); }
bool LinearLayout::hasOutput(Axis axis) const { return find(outputs_, axis); }

uint32_t LinearLayout::basis(Axis input, unsigned i, Axis output) const {
  assert(i < inputBits(input));
  return static_cast<uint32_t>(columns_[shiftOf(inputs_, input) + i] >>
                                   shiftOf(outputs_, output) &
                               lowMask(outputBits(output)));
}

uint64_t LinearLayout::flattenInput(const Point &point) const {
  return flatten(inputs_, point);
}
uint64_t LinearLayout::flattenOutput(const Point &point) const {
  return flatten(outputs_, point);
}
Point LinearLayout::unflattenOutput(uint64_t flat) const {
  return unflatten(outputs_, flat);
}
Point LinearLayout::unflattenInput(uint64_t flat) const {
  return unflatten(inputs_, flat);
}
Point LinearLayout::apply(const Point &point) const {
  return unflattenOutput(applyFlat(flattenInput(point)));
}

uint32_t LinearLayout::freeMask(Axis axis) const {
  uint64_t dependent = f2::Solver(columns_).dependentColumns();
  return static_cast<uint32_t>(dependent >> shiftOf(inputs_, axis) &
                               lowMask(inputBits(axis)));
}

unsigned LinearLayout::contiguousRegisters(Axis axis) const {
  unsigned bits = 0, available = inputBits(Axis::Register);
  uint64_t unit = uint64_t{1} << shiftOf(outputs_, axis);
  unsigned shift = shiftOf(inputs_, Axis::Register);
  while (bits < available && bits < outputBits(axis) &&
         columns_[shift + bits] == unit << bits) {
    ++bits;
  }
  // No other place may interfere with the low bits, or the runs of different
  // places would start unaligned.
  uint64_t low = lowMask(bits) << shiftOf(outputs_, axis);
  for (unsigned i = 0; i < columns_.size() && bits; ++i) {
    if (i >= shift && i < shift + bits) {
      continue;
    }
    while (bits && (columns_[i] & low)) {
      --bits;
      low = lowMask(bits) << shiftOf(outputs_, axis);
    }
  }
  return 1u << bits;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

LinearLayout
LinearLayout::transposeInputs(const std::vector<Axis> &order) const {
  assert(order.size() == inputs_.size());
  f2::Matrix columns;
  for (Axis axis : order) {
    auto first = columns_.begin() + shiftOf(inputs_, axis);
    columns.insert(columns.end(), first, first + inputBits(axis));
  }
  return LinearLayout(select(inputs_, order), outputs_, std::move(columns));
}

LinearLayout
LinearLayout::transposeOutputs(const std::vector<Axis> &order) const {
  assert(order.size() == outputs_.size());
  return sublayout(
      [&] {
        std::vector<Axis> all;
        for (const AxisBits &a : inputs_) {
          all.push_back(a.axis);
        }
        return all;
      }(),
      order);
}

LinearLayout LinearLayout::sublayout(const std::vector<Axis> &inputs,
                                     const std::vector<Axis> &outputs) const {
  std::vector<AxisBits> to = select(outputs_, outputs);
  f2::Matrix columns;
  for (Axis axis : inputs) {
    unsigned shift = shiftOf(inputs_, axis);
    for (unsigned i = 0; i < inputBits(axis); ++i) {
      columns.push_back(reorder(columns_[shift + i], outputs_, to));
    }
  }
  return LinearLayout(select(inputs_, inputs), std::move(to),
                      std::move(columns));
}

bool LinearLayout::sublayoutIsZero(const std::vector<Axis> &inputs,
                                   const std::vector<Axis> &outputs) const {
  f2::Matrix columns = sublayout(inputs, outputs).columns();
  return std::all_of(columns.begin(), columns.end(),
                     [](uint64_t c) { return c == 0; });
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  assert(outputs_.size() == outer.inputs_.size());
  f2::Matrix columns;
  for (uint64_t column : columns_) {
    columns.push_back(
        outer.applyFlat(reorder(column, outputs_, outer.inputs_)));
  }
  return LinearLayout(inputs_, outer.outputs_, std::move(columns));
}

LinearLayout LinearLayout::invert() const {
  assert(isInvertible());
  return LinearLayout(outputs_, inputs_,
                      f2::pseudoInverse(columns_, outputBits()));
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &other) const {
  assert(other.isSurjective());
  f2::Solver solver(other.columns_);
  f2::Matrix columns;
  for (uint64_t column : columns_) {
    columns.push_back(*solver.solve(reorder(column, outputs_, other.outputs_)));
  }
  return LinearLayout(inputs_, other.inputs_, std::move(columns));
}

/// The axes of `a`, then those only `b` has; sizes added.
static std::vector<AxisBits> sum(const std::vector<AxisBits> &a,
                                 const std::vector<AxisBits> &b) {
  std::vector<AxisBits> result = a;
  for (AxisBits &r : result) {
    r.bits += bitsOf(b, r.axis);
  }
  for (const AxisBits &other : b) {
    if (!find(a, other.axis)) {
      result.push_back(other);
    }
  }
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &other) const {
  std::vector<AxisBits> inputs = sum(inputs_, other.inputs_);
  std::vector<AxisBits> outputs = sum(outputs_, other.outputs_);
  f2::Matrix columns;
  for (const AxisBits &in : inputs) {
    for (unsigned i = 0; i < inputBits(in.axis); ++i) {
      columns.push_back(
          reorder(columns_[shiftOf(inputs_, in.axis) + i], outputs_, outputs));
    }
    for (unsigned i = 0; i < other.inputBits(in.axis); ++i) {
      uint64_t column = other.columns_[shiftOf(other.inputs_, in.axis) + i];
      uint64_t moved = 0;
      for (const AxisBits &out : other.outputs_) {
        uint64_t index =
            column >> shiftOf(other.outputs_, out.axis) & lowMask(out.bits);
        moved |= index << (shiftOf(outputs, out.axis) + outputBits(out.axis));
      }
      columns.push_back(moved);
    }
  }
  return LinearLayout(std::move(inputs), std::move(outputs),
                      std::move(columns));
}

std::optional<LinearLayout>
LinearLayout::divideLeft(const LinearLayout &divisor) const {
  std::vector<AxisBits> inputs = inputs_, outputs = outputs_;
  for (AxisBits &a : inputs) {
    unsigned bits = divisor.inputBits(a.axis);
    if (bits > a.bits) {
      return std::nullopt;
    }
    a.bits -= bits;
  }
  for (AxisBits &a : outputs) {
    unsigned bits = divisor.outputBits(a.axis);
    if (bits > a.bits) {
      return std::nullopt;
    }
    a.bits -= bits;
  }
  f2::Matrix columns;
  for (const AxisBits &in : inputs) {
    unsigned skip = divisor.inputBits(in.axis);
    for (unsigned i = 0; i < in.bits; ++i) {
      uint64_t column = columns_[shiftOf(inputs_, in.axis) + skip + i];
      uint64_t moved = 0;
      unsigned shift = 0;
      for (const AxisBits &out : outputs) {
        uint64_t index = column >> shiftOf(outputs_, out.axis) &
                         lowMask(outputBits(out.axis));
        moved |= index >> divisor.outputBits(out.axis) << shift;
        shift += out.bits;
      }
      columns.push_back(moved);
    }
  }
  LinearLayout quotient(std::move(inputs), std::move(outputs),
                        std::move(columns));
  // The product tells whether the pieces dropped above were the divisor's.
  LinearLayout product = divisor * quotient;
  if (product.inputs_.size() != inputs_.size() ||
      product.outputs_.size() != outputs_.size()) {
    return std::nullopt;
  }
  std::vector<Axis> in, out;
  for (const AxisBits &a : inputs_) {
    in.push_back(a.axis);
  }
  for (const AxisBits &a : outputs_) {
    out.push_back(a.axis);
  }
  if (product.sublayout(in, out) != *this) {
    return std::nullopt;
  }
  return quotient;
}

std::string LinearLayout::str() const {
  std::string text;
  for (const AxisBits &in : inputs_) {
    text += std::string(text.empty() ? "" : "  ") + name(in.axis) + ":";
    for (unsigned i = 0; i < in.bits; ++i) {
      text += " (";
      for (size_t d = 0; d < outputs_.size(); ++d) {
        text += (d ? "," : "") +
                std::to_string(basis(in.axis, i, outputs_[d].axis));
      }
      text += ")";
    }
  }
  text += " ->";
  for (const AxisBits &out : outputs_) {
    text += std::string(" ") + name(out.axis) + ":" + std::to_string(out.bits);
  }
  return text;
}

} // namespace nereid
