//===- GrowProducts.cpp - Loops of matrix products ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of attention and of plain products:
//
//   x = load [M, K]                      the same in every iteration, or not
//   for i in range(n):
//     s = dot(x, load [K, N])
//     branches, masks, scales between the products
//     acc += dot(s.to(...), load [N, D])  or acc += s
//
// Sizes from 64 rows on take the instruction of four warps together.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include <cmath>

namespace nereid::fuzz::source {

struct Generator::ProductLoop {
  VariableId index;
  Expr count; ///< of iterations
  int64_t rows, columns;
};

/// Changes a product before it is used: [rows, columns], float32 or int32.
Item Generator::between(const ProductLoop &loop, Item product) {
  DType element = product.type.element;
  bool isFloating = isFloat(element);
  VariableId changed = variable("s", product.type, /*isMutable=*/true);
  assign(changed, product.variable);
  Item result = product;
  result.variable = changed;
  auto rows = [&] { return join("tl.arange(0, ", loop.rows, ")[:, None]"); };
  auto columns = [&] {
    return join("tl.arange(0, ", loop.columns, ")[None, :]");
  };
  auto change = [&] {
    switch (random.below(isFloating ? 6 : 4)) {
    case 0: // causal
      assign(changed,
             join("tl.where(", rows(), " >= ", columns(), ", ",
                  isFloating ? "0.0, -8.0)" : "0, -8)"),
             "+");
      result.magnitude += 8;
      return;
    case 1:
      assign(changed, join(changed, isFloating ? " * 2.0" : " * 2"));
      result.magnitude *= 2;
      return;
    case 2:
      assign(changed, join("tl.where(", columns(), " < ",
                           knownNumber(random.between(0, loop.columns)), ", ",
                           changed, isFloating ? ", 0.0)" : ", 0)"));
      return;
    case 3:
      assign(changed, join(changed, " + ", rows()));
      result.magnitude += double(loop.rows);
      return;
    case 4:
      assign(changed, join("tl.maximum(", changed, ", 0.0)"));
      return;
    default:
      assign(changed,
             join(changed, " - tl.max(", changed, ", axis=1)[:, None]"));
      result.magnitude *= 2;
    }
  };
  int64_t changes = random.pick<int64_t>({0, 1, 1, 2});
  for (int64_t i = 0; i < changes; ++i) {
    if (random.chance(25)) {
      change();
      continue;
    }
    this->count(Feature::branchBetweenProducts);
    Stmt stmt{Stmt::Kind::If};
    switch (random.below(4)) {
    case 0:
    case 1:
      stmt.head = join(loop.index, " == ", loop.count, " - 1");
      break;
    case 2:
      stmt.head = join(loop.index, " > 0");
      break;
    default:
      stmt.head = join(loop.index, " % 2 == 0");
    }
    ++nesting;
    stmt.body = block([&] {
      change();
      if (random.chance(20)) {
        Stmt inner{Stmt::Kind::If};
        inner.head = scalarCondition().variable;
        inner.body = block(change);
        emit(std::move(inner));
      }
    });
    if (random.chance(20)) {
      stmt.orelse = block(change);
    }
    --nesting;
    emit(std::move(stmt));
  }
  return result;
}

void Generator::growProducts() {
  --products;
  this->count(Feature::productLoop);
  // Half of the loops are those of attention: two products by the instruction
  // of four warps, the left operand the same in every iteration.
  bool isAttention = random.chance(50);
  bool isChained = isAttention || random.chance(30);
  int64_t rows = random.pick<int64_t>({64, 64, 64, 64, 128, 16, 32});
  int64_t columns = random.pick<int64_t>({64, 64, 64, 16, 32, 128});
  int64_t depth = random.pick<int64_t>({64, 64, 64, 16, 32});
  int64_t trips = random.pick<int64_t>({0, 1, 2, 3, 3, 3});
  DType element = random.pick({DType::BFloat16, DType::BFloat16, DType::Float16,
                               DType::Float16, DType::Float32, DType::Int8,
                               DType::Float8E5M2});
  if (element == DType::Int8 && isChained) {
    element = DType::Float16;
  }
  if (byteSize(element) == 1) { // products of bytes are 32 deep at least
    depth = std::max<int64_t>(depth, 32);
    columns = std::max<int64_t>(columns, 32);
  }
  int64_t width =
      isChained ? random.pick<int64_t>({64, 64, 64, 16, 32}) : columns;
  if (isAttention) {
    rows = random.pick<int64_t>({64, 64, 64, 128});
    columns = depth = width = 64;
    trips = random.between(2, 4);
    element = random.pick({DType::BFloat16, DType::Float16});
  }
  bool isFloating = isFloat(element);
  DType sum = isFloating ? DType::Float32 : DType::Int32;
  const char *fill =
      isFloating ? random.pick({"normal", "normal", "whole"}) : "whole";
  auto array = [&](int64_t elements) {
    return arrayParameter(element, elements, fill);
  };
  auto along = [](int64_t size, bool isRow) {
    return join("tl.arange(0, ", size, isRow ? ")[:, None]" : ")[None, :]");
  };
  bool isInvariant = isChained || random.chance(30);
  if (isInvariant) {
    this->count(Feature::loopInvariantOperand);
  }
  auto leftAt = [&](Expr step) {
    VariableId base = array(rows * depth * std::max<int64_t>(trips, 1));
    return join("tl.load(", base, " + ", step, along(rows, true), " * ", depth,
                " + ", along(depth, false), ")");
  };
  Type leftType{element, {rows, depth}};
  std::optional<Item> left;
  if (isInvariant) {
    left = define(leftAt(""), leftType, true, 8);
    here->back().isInline = false;
    if (element != DType::Float8E5M2 && random.chance(30)) {
      left = define(join(left->variable, isFloating ? " * 0.5" : " * 2"),
                    leftType, false, 16);
      here->back().isInline = false;
    }
  }
  Type sumType{sum, {rows, width}};
  VariableId total = variable("acc", sumType, /*isMutable=*/true);
  assign(total, join("tl.zeros(", text(sumType.shape), ", ", text(sum), ")"));

  Stmt stmt{Stmt::Kind::For};
  ProductLoop loop{variable("i", Type{DType::Int32, {}}), knownNumber(trips),
                   rows, columns};
  stmt.targets = {loop.index};
  stmt.first = "0";
  stmt.head = random.chance(70)
                  ? join("range(", loop.count, ")")
                  : join("tl.range(0, ", loop.count,
                         ", num_stages=", random.between(1, 4), ")");
  ++nesting;
  stmt.body = block([&] {
    if (!isInvariant) {
      left = define(leftAt(join(loop.index, " * ", rows * depth, " + ")),
                    leftType, true, 8);
    }
    VariableId base = array(depth * columns * std::max<int64_t>(trips, 1));
    Expr step = join(loop.index, " * ", depth * columns, " + ");
    bool isTransposed = random.chance(50);
    Expr right =
        isTransposed
            ? join("tl.load(", base, " + ", step, along(columns, false), " * ",
                   depth, " + ", along(depth, true), ")")
            : join("tl.load(", base, " + ", step, along(depth, true), " * ",
                   columns, " + ", along(columns, false), ")");
    Item factor = define(right, {element, {depth, columns}}, true, 8);
    bool isOnto = !isChained && random.chance(30);
    Expr dot = join("tl.dot(", left->variable, ", ", factor.variable);
    if (isOnto) {
      dot += join(", ", total);
    }
    if (!isFloating) {
      dot += ", out_dtype=tl.int32";
    }
    Item product =
        define(join(dot, ")"), {sum, {rows, columns}}, false,
               2 * left->magnitude * factor.magnitude * double(depth));
    if (isOnto) {
      assign(total, product.variable);
      return;
    }
    Item changed = between(loop, product);
    if (!isChained) {
      assign(total, changed.variable, "+");
      return;
    }
    this->count(Feature::chainedProducts);
    bool isMade = element == DType::Float8E5M2;
    Item scaled = tame(changed, isMade                      ? 8
                                : element == DType::Float16 ? 512
                                                            : 1e6);
    VariableId lower = array(columns * width * std::max<int64_t>(trips, 1));
    Item last = define(join("tl.load(", lower, " + ", loop.index, " * ",
                            columns * width, " + ", along(columns, true), " * ",
                            width, " + ", along(width, false), ")"),
                       {element, {columns, width}}, true, 8);
    Expr narrow = join(scaled.variable, ".to(", text(element), ")");
    if (random.chance(30)) {
      assign(total, join(total, " * 0.5"));
    }
    if (random.chance(30)) {
      assign(total,
             join("tl.dot(", narrow, ", ", last.variable, ", ", total, ")"));
    } else {
      assign(total, join("tl.dot(", narrow, ", ", last.variable, ")"), "+");
    }
  });
  --nesting;
  emit(std::move(stmt));
  Item result{total, sumType, false, false, 1e7};
  if (random.chance(60) || !isFloating) {
    store(result);
  } else {
    Item small = tame(result, 2000);
    store(castTo(small, random.pick({DType::Float16, DType::BFloat16})));
  }
}

} // namespace nereid::fuzz::source
