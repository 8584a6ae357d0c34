//===- Recorded.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Recorded.h"

#include "kernels/expression/Text.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

Recorded::Recorded(std::span<const NodePtr> roots, const Tensor &gradient,
                   const Tensor &result, bool isForm,
                   std::pmr::memory_resource *memory)
    : roots(roots), isForm(isForm), order(memory), tensors(memory),
      loops(memory), result(result), tensorOfPlace(memory) {
  inOrder(roots, order);
  const Shape &shape = roots[0]->shape;
  checkDropout(order, shape);
  places.emplace(order, memory);
  tensorOfPlace.reserve(order.size());
  tensors.reserve(order.size() + 1);
  for (const Node *node : order) {
    if (node->op == Op::Leaf || node->op == Op::Gradient) {
      addTensor(node->op == Op::Gradient ? gradient : node->tensor);
    } else {
      tensorOfPlace.push_back(nowhere);
    }
  }
  size_t count = tensors.size();
  if (result.defined()) {
    tensors.push_back(&result);
  }
  if (isForm) {
    loops.sizes.assign(1, 1);
    loops.steps.assign(tensors.size(), 1);
    loops.wide = true;
  } else {
    planLoops(loops, shape, tensors);
  }
  tensors.resize(count);
}

void Recorded::addTensor(const Tensor &tensor) {
  uint32_t i = 0;
  while (i < tensors.size()) {
    const Tensor &other = *tensors[i];
    if (!isForm && other.data() == tensor.data() &&
        other.dtype() == tensor.dtype() && other.shape() == tensor.shape() &&
        other.strides() == tensor.strides()) {
      break;
    }
    ++i;
  }
  tensorOfPlace.push_back(i);
  if (i == tensors.size()) {
    tensors.push_back(&tensor);
  }
}

bool Recorded::isFar(const Node &dropout) const {
  int64_t count = 1;
  for (int64_t size : loops.sizes) {
    count *= size;
  }
  return dropout.offset + count > INT32_MAX - (1 << 20) && !isForm;
}

/// Small halves are part of the text; others are arguments.
bool Recorded::isLiteral(const Node &number) const {
  double twice = 2 * number.number;
  bool isSmall = std::fabs(number.number) <= 16 && twice == std::floor(twice);
  return number.op == Op::Constant || (isSmall && !isForm);
}

LaunchArgument Recorded::valueOf(const SizeSource &source) const {
  switch (source.of) {
  case SizeSource::Of::Rows:
    return loops.rows();
  case SizeSource::Of::Columns:
    return loops.columns();
  case SizeSource::Of::Dimension:
    return loops.sizes[source.dimension];
  case SizeSource::Of::RowStride:
    return *loops.strideOfRows(source.tensor);
  case SizeSource::Of::Stride:
    return loops.stride(source.tensor, source.dimension);
  }
  __builtin_unreachable();
}

LaunchArgument Recorded::valueOf(const NumberSource &source) const {
  const Node &node = *order[source.node];
  switch (source.of) {
  case NumberSource::Of::Real:
    return node.number;
  case NumberSource::Of::Integer:
    return node.isInteger ? node.integer : int64_t(node.number);
  case NumberSource::Of::Seed:
    return node.seed;
  case NumberSource::Of::Offset:
    return node.offset;
  case NumberSource::Of::Probability:
    return node.number;
  case NumberSource::Of::Scale:
    return 1 / (1 - node.number);
  }
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// The key
//===----------------------------------------------------------------------===//

/// What texts distinguish of a stride.
static uint64_t kindOf(int64_t stride) {
  return stride == 0 ? 0 : stride == 1 ? 1 : 2;
}

static void addLoops(WordKey &key, const Loops &loops, size_t tensors) {
  key.add(loops.sizes.size() | uint64_t(loops.wide) << 16 |
          uint64_t(loops.batches() > 1) << 17 |
          uint64_t(uint32_t(loops.rowDimension)) << 32);
  for (size_t t = 0; t < tensors; ++t) {
    std::optional<int64_t> ofRows = loops.strideOfRows(t);
    uint64_t word = ofRows ? kindOf(*ofRows) : 3;
    int bits = 2;
    for (int d = 0; d <= loops.last(); ++d, bits += 2) {
      if (bits == 64) {
        key.add(word);
        word = 0;
        bits = 0;
      }
      word |= kindOf(loops.stride(t, size_t(d))) << bits;
    }
    key.add(word);
  }
}

void Recorded::addTo(WordKey &key) const {
  key.add(order.size() | uint64_t(roots.size()) << 24 |
          uint64_t(result.defined()) << 48);
  for (uint32_t place = 0; place < order.size(); ++place) {
    const Node &node = *order[place];
    bool isNumber = node.op == Op::Number || node.op == Op::Constant;
    bool isText = isNumber && isLiteral(node);
    bool isWide = node.op == Op::Dropout && isFar(node);
    key.add(uint64_t(node.op) | uint64_t(node.dtype) << 8 |
            uint64_t(node.isNumber) << 16 | uint64_t(node.isInteger) << 17 |
            uint64_t(isText) << 18 | uint64_t(isWide) << 19 |
            node.inputs.size() << 20 | uint64_t(tensorOfPlace[place]) << 32);
    if (isText) {
      key.add(std::bit_cast<uint64_t>(node.number));
      key.add(uint64_t(node.integer));
    }
    for (const NodePtr &input : node.inputs) {
      key.add(placeOf(input.get()));
    }
  }
  for (const NodePtr &root : roots) {
    key.add(placeOf(root.get()));
  }
  key.add(tensors.size());
  for (const Tensor *tensor : tensors) {
    key.add(uint64_t(tensor->dtype()));
  }
  addLoops(key, loops, tensors.size() + result.defined());
}
