//===- GrowShape.cpp - The same elements in another shape -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

void Generator::growShape() {
  switch (random.below(8)) {
  case 0:
  case 1:
    return growExpand();
  case 2:
  case 3:
    return growReshape();
  case 4:
    return growPermute();
  case 5:
  case 6:
    return growJoinSplit();
  default:
    return growGather();
  }
}

static bool isBlock(const Item &item) {
  return !item.type.isScalar() && !isFp8(item.type.element);
}

void Generator::growExpand() {
  auto x = find(
      [&](const Item &i) { return isBlock(i) && i.type.shape.size() < 4; });
  if (!x) {
    return;
  }
  count(Feature::expandDims);
  size_t rank = x->type.shape.size();
  size_t axis = size_t(random.below(int64_t(rank + 1)));
  Dims shape = x->type.shape;
  shape.insert(shape.begin() + std::ptrdiff_t(axis), 1);
  Item wide = [&] {
    if (random.chance(40)) {
      int64_t number =
          random.chance(30) ? int64_t(axis) - int64_t(rank) - 1 : int64_t(axis);
      return like(join("tl.expand_dims(", x->variable, ", ", number, ")"),
                  x->type.with(shape), *x);
    }
    std::string subscript;
    for (size_t i = 0; i <= rank; ++i) {
      subscript += std::string(i ? ", " : "") + (i == axis ? "None" : ":");
    }
    return like(join(x->variable, "[", subscript, "]"), x->type.with(shape),
                *x);
  }();
  int64_t factor = int64_t{1} << random.below(5);
  if (random.chance(50) && wide.type.count() * factor <= options.maxElements) {
    count(Feature::broadcast);
    shape[axis] = factor;
    like(join("tl.broadcast_to(", wide.variable, ", ", text(shape), ")"),
         wide.type.with(shape), wide);
  }
}

void Generator::growReshape() {
  auto x = find(isBlock);
  if (!x) {
    return;
  }
  count(Feature::reshape);
  int64_t left = x->type.count();
  if (random.chance(20)) {
    like(join("tl.ravel(", x->variable, ")"), x->type.with(Dims{left}), *x);
    return;
  }
  Dims shape;
  for (int i = 0; i < 2 && left > 1; ++i) {
    // The parts of a size that is no power of two are not looked for.
    int64_t part = left % 2 == 0 ? 2 : left;
    while (left % (part * 2) == 0 && random.chance(60)) {
      part *= 2;
    }
    shape.push_back(part);
    left /= part;
  }
  if (left > 1 || shape.empty()) {
    shape.insert(shape.begin() + random.below(int64_t(shape.size() + 1)), left);
  }
  Expr expr = random.chance(50)
                  ? join(x->variable, ".reshape(", text(shape), ")")
                  : join("tl.reshape(", x->variable, ", ", text(shape), ")");
  like(expr, x->type.with(shape), *x);
}

void Generator::growPermute() {
  auto x = find(
      [&](const Item &i) { return isBlock(i) && i.type.shape.size() > 1; });
  if (!x) {
    return;
  }
  count(Feature::permute);
  Dims shape = x->type.shape;
  if (shape.size() == 2) {
    std::swap(shape[0], shape[1]);
    Expr expr = random.chance(50) ? join("tl.trans(", x->variable, ")")
                                  : join(x->variable, ".T");
    like(expr, x->type.with(shape), *x);
    return;
  }
  llvm::SmallVector<int64_t, 4> order;
  for (size_t i = 0; i < shape.size(); ++i) {
    order.insert(order.begin() + random.below(int64_t(order.size() + 1)),
                 int64_t(i));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = x->type.shape[size_t(order[i])];
  }
  like(join("tl.permute(", x->variable, ", ", text(order), ")"),
       x->type.with(shape), *x);
}

void Generator::growJoinSplit() {
  count(Feature::joinSplit);
  bool isScalar = random.chance(25);
  auto x = find([&](const Item &i) {
    return i.type.isScalar() == isScalar && !isFp8(i.type.element) &&
           2 * i.type.count() <= options.maxElements && i.type.shape.size() < 4;
  });
  if (!x) {
    return;
  }
  Dims shape = x->type.shape;
  shape.push_back(2);
  Item y = operand(x->type);
  Item model = *x;
  model.isExact &= y.isExact;
  model.isWhole &= y.isWhole;
  model.magnitude = std::max(model.magnitude, y.magnitude);
  if (isScalar) {
    count(Feature::joinScalars);
  }
  if (random.chance(25)) {
    if (!isScalar) {
      shape.pop_back();
      shape.back() *= 2;
    }
    like(join("tl.interleave(", x->variable, ", ", y.variable, ")"),
         x->type.with(shape), model);
    return;
  }
  Item both = like(join("tl.join(", x->variable, ", ", y.variable, ")"),
                   x->type.with(shape), model);
  auto pairs = find(
      [&](const Item &i) { return isBlock(i) && i.type.shape.back() == 2; });
  if (!pairs || random.chance(50)) {
    pairs = both;
  }
  if (random.chance(60)) {
    Type half = pairs->type;
    half.shape.pop_back();
    Stmt stmt{Stmt::Kind::Assign};
    stmt.targets = {variable("v", half), variable("v", half)};
    stmt.head = join("tl.split(", pairs->variable, ")");
    std::vector<VariableId> targets = stmt.targets;
    emit(std::move(stmt));
    for (VariableId target : targets) {
      Item item = *pairs;
      item.variable = target;
      item.type = half;
      pool.push_back(item);
    }
  }
}

void Generator::growGather() {
  auto x = find([&](const Item &i) {
    return isBlock(i) && i.type.element != DType::Int1;
  });
  if (!x) {
    return;
  }
  count(Feature::gather);
  size_t axis = size_t(random.below(int64_t(x->type.shape.size())));
  Type indexType = x->type.with(DType::Int32);
  if (random.chance(30) && !options.anySizes) {
    indexType.shape[axis] = std::min<int64_t>(indexType.shape[axis] * 2, 64);
  }
  Item index = operand(indexType);
  int64_t size = x->type.shape[axis];
  Expr inside = (size & (size - 1)) == 0
                    ? join(index.variable, " & ", size - 1)
                    : join("(", index.variable, " & 0xFFFF) % ", size);
  like(join("tl.gather(", x->variable, ", ", inside, ", ", int64_t(axis), ")"),
       x->type.with(indexType.shape), *x);
}

} // namespace nereid::fuzz::source
