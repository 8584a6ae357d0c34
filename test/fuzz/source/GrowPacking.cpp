//===- GrowPacking.cpp - Values packed into narrow types ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels do that make floats of 4 or 8 bits by hand: the exponent of a
// float decides how far its significand is shifted, by 32 and more where the
// number is large, and a `where` takes those elements away again. The results
// are narrowed and several of them share a word.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::fuzz::source {

/// Both moved to other places, by the same operation.
static std::pair<Item, Item> moved(Random &random, const Item &value,
                                   const Item &amount,
                                   llvm::function_ref<Item(Expr, Type)> make) {
  Dims shape = value.type.shape;
  auto both = [&](const char *before, const std::string &after) {
    return std::pair(
        make(join(before, value.variable, after), value.type.with(shape)),
        make(join(before, amount.variable, after), amount.type.with(shape)));
  };
  switch (random.below(6)) {
  case 0:
    std::swap(shape[0], shape[1]);
    return both("tl.trans(", ")");
  case 1:
    shape = {shape[0] / 4, shape[1] * 4};
    return both("tl.reshape(", ", " + text(shape) + ")");
  case 2: {
    shape = {shape[0] / 4, 4, shape[1]};
    std::string cut = text(shape);
    std::swap(shape[0], shape[1]);
    return both("tl.permute(tl.reshape(", ", " + cut + "), [1, 0, 2])");
  }
  case 3: {
    std::string rows = std::to_string(shape[0]);
    return both("tl.gather(", ", (tl.arange(0, " + rows +
                                  ")[:, None] * 5 + tl.zeros(" + text(shape) +
                                  ", tl.int32)) & " +
                                  std::to_string(shape[0] - 1) + ", 0)");
  }
  case 4:
    shape.insert(shape.begin(), 1);
    return both("tl.expand_dims(", ", 0)");
  default:
    return {value, amount};
  }
}

/// Elements shifted away by amounts that are constants of their places, made
/// narrow, moved, and only then not taken. Where an element that is moved in
/// one word with others may be anything, the others must not suffer.
void Generator::growDiscarded() {
  count(Feature::discardedAfterMove);
  int64_t rows = random.pick<int64_t>({8, 32, 64, 64}),
          columns = random.pick<int64_t>({8, 32, 32, 64});
  Type type{random.pick({DType::UInt32, DType::Int32}), {rows, columns}};
  Item x = load(type);
  Item amount = step(join("(", alongDim(type.shape, random.chance(70) ? 1 : 0),
                          " & ", random.pick<int64_t>({1, 3, 7}), ") * ",
                          random.pick<int64_t>({12, 16, 24, 40}),
                          " + tl.zeros(", text(type.shape), ", tl.int32)"),
                     type.with(DType::Int32));
  Expr shift = join(x.variable, random.pick({" >> ", " << "}), amount.variable);
  Item shifted = options.wideShifts && random.chance(50) ? define(shift, type)
                                                         : step(shift, type);
  DType narrow =
      random.pick({DType::UInt8, DType::UInt16, DType::UInt16, DType::Int16,
                   DType::Float16, DType::BFloat16, DType::Float8E5M2});
  bool isFloating = isFloat(narrow);
  Expr small = isFloating ? join("(", shifted.variable, " & 7)",
                                 isFp8(narrow) ? ".to(tl.float32)" : "")
                          : Expr(shifted.variable);
  Item value =
      step(join("(", small, ").to(", text(narrow), ")"), type.with(narrow));
  auto [there, amounts] =
      moved(random, value, amount, [&](Expr expr, Type result) {
        return step(std::move(expr), std::move(result));
      });
  if (isFp8(narrow)) {
    there = step(join(there.variable, ".to(tl.float32)"),
                 there.type.with(DType::Float32));
  }
  if (random.chance(50)) {
    Item kept = define(join("tl.where(", amounts.variable, " < 32, ",
                            there.variable, ", ", random.between(0, 3), ")"),
                       there.type, true, 8, isFloating);
    store(kept);
    return;
  }
  Place where = place(there.type.shape, /*isDisjoint=*/true);
  VariableId array =
      arrayParameter(there.type.element, where.extent * serials, "whole", true);
  count(Feature::maskedStore);
  effect(join("tl.store(", array, " + ", serialTimes(where.extent), " + (",
              where.offsets, "), ", there.variable, ", mask=", amounts.variable,
              " < 32)"));
}

void Generator::growPacking() {
  --packings;
  count(Feature::packing);
  if (random.chance(50)) {
    return growDiscarded();
  }
  int64_t rows = random.pick<int64_t>({1, 2, 4, 16, 32}),
          columns = random.pick<int64_t>({4, 8, 16, 32, 64});
  Type type{DType::UInt32, {rows, columns}};
  Item bits = [&] {
    if (random.chance(60)) {
      Item x = load(type.with(DType::Float32));
      return define(join(x.variable, ".to(tl.uint32, bitcast=True)"), type);
    }
    return load(type);
  }();
  Item sign = define(join("(", bits.variable, " >> 28) & 8"), type);
  Item exponent = define(join("(", bits.variable, " >> 23) & 255"), type);
  Item significand = define(join(bits.variable, " & 0x7FFFFF"), type);

  // Below the bias a denormal is made: shifted by the distance. From it on the
  // distance wraps to nearly 2^32.
  int64_t bias = random.pick<int64_t>({127, 127, 126, 124, 96});
  bool isTooFar = random.chance(80);
  Item distance =
      define(isTooFar ? join(bias, " - (", exponent.variable, " + 1)")
                      : join("tl.minimum(", bias, " - (", exponent.variable,
                             " + 1), 31).to(tl.uint32)"),
             type);
  if (isTooFar) {
    count(Feature::packingTooFar);
  }
  Item shifted = step(join("(0x400000 | (", significand.variable, " >> 1)) >> ",
                           distance.variable),
                      type);
  // What is left of a shift that is not too far, if it is one.
  int64_t last = std::max<int64_t>(0, bias - 32);
  Item denormal =
      isTooFar ? define(join("tl.where((", exponent.variable, " < ", bias,
                             ") & (", exponent.variable, " >= ", last, "), ",
                             shifted.variable, ", ", significand.variable, ")"),
                        type)
               : shifted;
  Item scaled = define(join("tl.maximum(", exponent.variable, ", ", bias - 1,
                            ").to(tl.uint32) - ", bias - 1),
                       type);
  Item rounded = define(join("((((", scaled.variable, " << 2) | (",
                             denormal.variable, " >> 21)) + 1) >> 1)"),
                        type);
  Item code = define(join("(tl.minimum(", rounded.variable,
                          ", 7).to(tl.uint32) | ", sign.variable, ")"),
                     type);

  // Two in a byte, or four in a 16-bit word.
  DType narrow = random.pick({DType::UInt8, DType::UInt8, DType::UInt16});
  Item small = castTo(code, narrow);
  int64_t width = 4;
  for (int64_t parts = random.between(0, 2);
       parts > 0 && small.type.shape.back() >= 2 &&
       width < int64_t(bitWidth(narrow));
       --parts) {
    Type half = small.type;
    half.shape.back() /= 2;
    Dims pairs = half.shape;
    pairs.push_back(2);
    Item both =
        define(join("tl.reshape(", small.variable, ", ", text(pairs), ")"),
               small.type.with(pairs));
    Stmt stmt{Stmt::Kind::Assign};
    stmt.targets = {variable("v", half), variable("v", half)};
    stmt.head = join("tl.split(", both.variable, ")");
    std::vector<VariableId> targets = stmt.targets;
    emit(std::move(stmt));
    small =
        define(join(targets[0], " | (", targets[1], " << ", width, ")"), half);
    width *= 2;
  }
  store(small);
}

} // namespace nereid::fuzz::source
