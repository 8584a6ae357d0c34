//===- StandardLayouts.cpp - Constructors of the usual layouts --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/StandardLayouts.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace nereid {

unsigned paddedBits(int64_t size) {
  assert(size >= 1);
  return std::bit_width(static_cast<uint64_t>(size) - 1);
}

std::vector<AxisBits> tensorOutputs(const Shape &shape) {
  std::vector<AxisBits> outputs;
  for (unsigned d = shape.size(); d-- > 0;) {
    outputs.push_back({tensorAxis(d), paddedBits(shape[d])});
  }
  return outputs;
}

/// Inputs in the order register, lane, warp; outputs as tensorOutputs.
static LinearLayout normalise(const LinearLayout &layout, unsigned rank) {
  std::vector<Axis> inputs = {Axis::Register, Axis::Lane, Axis::Warp};
  std::vector<Axis> outputs;
  for (unsigned d = rank; d-- > 0;) {
    outputs.push_back(tensorAxis(d));
  }
  return layout.sublayout(inputs, outputs);
}

LinearLayout fitToShape(const LinearLayout &layout, const Shape &shape) {
  LinearLayout whole = layout;
  for (unsigned d = shape.size(); d-- > 0;) {
    unsigned have = whole.outputBits(tensorAxis(d));
    unsigned need = paddedBits(shape[d]);
    if (have < need) {
      whole = whole * LinearLayout::identity(Axis::Register, tensorAxis(d),
                                             need - have);
    }
  }
  whole = normalise(whole, shape.size());
  std::vector<AxisBits> outputs = tensorOutputs(shape);
  f2::Matrix columns;
  for (uint64_t column : whole.columns()) {
    Point point = whole.unflattenOutput(column);
    uint64_t wrapped = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      wrapped |=
          (uint64_t{point[i].second} & ((uint64_t{1} << outputs[i].bits) - 1))
          << shift;
      shift += outputs[i].bits;
    }
    columns.push_back(wrapped);
  }
  return LinearLayout(whole.inputs(), std::move(outputs), std::move(columns));
}

/// Identities of one input along every dimension, in the order given.
static LinearLayout spread(Axis input, const std::vector<unsigned> &sizes,
                           const std::vector<unsigned> &order) {
  LinearLayout result;
  for (unsigned d : order) {
    result = result * LinearLayout::identity(input, tensorAxis(d),
                                             std::countr_zero(sizes[d]));
  }
  return result;
}

LinearLayout blocked(const Shape &shape,
                     const std::vector<unsigned> &sizePerThread,
                     const std::vector<unsigned> &lanes,
                     const std::vector<unsigned> &warps,
                     const std::vector<unsigned> &order) {
  return fitToShape(spread(Axis::Register, sizePerThread, order) *
                        spread(Axis::Lane, lanes, order) *
                        spread(Axis::Warp, warps, order),
                    shape);
}

LinearLayout slice(const LinearLayout &parent, unsigned dim) {
  std::vector<Axis> inputs;
  for (const AxisBits &in : parent.inputs()) {
    inputs.push_back(in.axis);
  }
  std::vector<Axis> kept;
  std::vector<AxisBits> outputs;
  for (const AxisBits &out : parent.outputs()) {
    Axis axis = out.axis;
    if (axis == tensorAxis(dim)) {
      continue;
    }
    kept.push_back(axis);
    bool after = axis > tensorAxis(dim);
    outputs.push_back(
        {after ? static_cast<Axis>(static_cast<unsigned>(axis) - 1) : axis,
         out.bits});
  }
  LinearLayout rest = parent.sublayout(inputs, kept);
  return LinearLayout(rest.inputs(), std::move(outputs), rest.columns());
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

LinearLayout warpgroupAccumulator(const Shape &shape,
                                  const std::vector<unsigned> &groups) {
  unsigned rank = shape.size();
  Axis m = tensorAxis(rank - 2), n = tensorAxis(rank - 1);
  unsigned columnBits = paddedBits(shape[rank - 1]);
  unsigned along = std::countr_zero(groups[1]);
  unsigned own = columnBits > 3 + along ? columnBits - 3 - along : 0;
  LinearLayout tile =
      LinearLayout::identity(Axis::Register, n, 1) *
      LinearLayout::identity(Axis::Lane, n, 2) *
      LinearLayout::identity(Axis::Lane, m, 3) *
      LinearLayout::identity(Axis::Register, m, 1) *
      LinearLayout::identity(Axis::Warp, m, 2) *
      LinearLayout::identity(Axis::Register, n, own) *
      LinearLayout::identity(Axis::Warp, m, std::countr_zero(groups[0])) *
      LinearLayout::identity(Axis::Warp, n, along);
  return fitToShape(tile, shape);
}

LinearLayout warpgroupOperand(const Shape &shape, unsigned kWidth,
                              const std::vector<unsigned> &groups) {
  unsigned rank = shape.size();
  Axis m = tensorAxis(rank - 2), k = tensorAxis(rank - 1);
  LinearLayout tile =
      LinearLayout::identity(Axis::Register, k, std::countr_zero(kWidth)) *
      LinearLayout::identity(Axis::Lane, k, 2) *
      LinearLayout::identity(Axis::Lane, m, 3) *
      LinearLayout::identity(Axis::Register, m, 1) *
      LinearLayout::identity(Axis::Register, k, 1) *
      LinearLayout::identity(Axis::Warp, m, 2) *
      LinearLayout::identity(Axis::Warp, m, std::countr_zero(groups[0])) *
      LinearLayout::broadcast(Axis::Warp, m, std::countr_zero(groups[1]));
  return fitToShape(tile, shape);
}

LinearLayout fmaOperand(const LinearLayout &accumulator, const Shape &shape,
                        unsigned index) {
  assert(index < 2);
  unsigned rank = shape.size();
  Axis k = tensorAxis(rank - 1 - index);
  // Zero the accumulator's other dimension, then add all of K in registers.
  std::vector<AxisBits> outputs = accumulator.outputs();
  f2::Matrix columns;
  for (uint64_t column : accumulator.columns()) {
    Point point = accumulator.unflattenOutput(column);
    for (auto &[axis, value] : point) {
      value = axis == k ? 0 : value;
    }
    columns.push_back(accumulator.flattenOutput(point));
  }
  LinearLayout kept(accumulator.inputs(), outputs, std::move(columns));
  std::vector<Axis> in, others;
  for (const AxisBits &a : accumulator.inputs()) {
    in.push_back(a.axis);
  }
  for (const AxisBits &a : outputs) {
    if (a.axis != k) {
      others.push_back(a.axis);
    }
  }
  return fitToShape(
      LinearLayout::identity(Axis::Register, k,
                             paddedBits(shape[rank - 1 - index])) *
          kept.sublayout(in, others),
      shape);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LinearLayout swizzledShared(const Shape &shape, unsigned vector,
                            unsigned perPhase, unsigned maxPhase,
                            const std::vector<unsigned> &order) {
  std::vector<AxisBits> outputs = tensorOutputs(shape);
  unsigned columnBits = paddedBits(shape[order[0]]);
  unsigned rowBits = order.size() > 1 ? paddedBits(shape[order[1]]) : 0;
  LinearLayout empty({}, outputs, {});
  f2::Matrix columns;
  for (unsigned i = 0; i < columnBits; ++i) {
    columns.push_back(empty.flattenOutput({{tensorAxis(order[0]), 1u << i}}));
  }
  for (unsigned i = 0; i < rowBits; ++i) {
    unsigned phase = (1u << i) / perPhase % maxPhase;
    uint32_t moved = phase * vector & ((1u << columnBits) - 1);
    columns.push_back(empty.flattenOutput(
        {{tensorAxis(order[1]), 1u << i}, {tensorAxis(order[0]), moved}}));
  }
  for (unsigned o = 2; o < order.size(); ++o) {
    for (unsigned i = 0; i < paddedBits(shape[order[o]]); ++i) {
      columns.push_back(empty.flattenOutput({{tensorAxis(order[o]), 1u << i}}));
    }
  }
  unsigned bits = columns.size();
  return LinearLayout({{Axis::Offset, bits}}, std::move(outputs),
                      std::move(columns));
}

} // namespace nereid
