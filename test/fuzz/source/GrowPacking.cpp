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

namespace nereid::fuzz::source {

void Generator::growPacking() {
  --packings;
  count(Feature::packing);
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
