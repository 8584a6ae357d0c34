//===- GrowReducedCarry.cpp - Loops that reduce what they carry -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop of a selection of the k largest:
//
//   for i in range(k):
//     v, n = max(x, axis, return_indices=True)      or argmax, or max alone
//     store v, store n                              each or neither
//     x = where(arange == n, low, x)                or x - v
//
// The block that is carried depends on what it is reduced to, so that a
// compiler must lay both out at once.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

void Generator::growReducedCarry() {
  --reducedCarries;
  count(Feature::reducedCarried);
  int64_t trips = random.between(1, 3);
  if (serials * trips > 64) {
    return;
  }
  auto size = [&] { return random.pick<int64_t>({1, 2, 8, 16, 32, 32, 64}); };
  Dims shape = {size(), size()};
  while (shape[0] * shape[1] > options.maxElements * 2) {
    shape[random.below(2)] /= 2;
  }
  if (options.anySizes && random.chance(50)) {
    shape[random.below(2)] = random.pick<int64_t>({3, 7, 12, 24});
  }
  int axis = int(random.below(2));
  DType element = random.pick({DType::Float32, DType::Int32});
  Type type{element, shape}, reduced{element, {shape[size_t(1 - axis)]}};
  Item start = exactOperand(type);
  VariableId block = variable("c", type, /*isMutable=*/true);
  assign(block, start.variable);
  Item carried = start;
  carried.variable = block;

  Stmt stmt{Stmt::Kind::For};
  VariableId index = variable("i", Type{DType::Int32, {}});
  stmt.targets = {index};
  stmt.first = "0";
  stmt.head = join("range(", knownNumber(trips), ")");
  Expr outer = serial;
  serial = join("(", outer, ") * ", trips, " + ", index);
  serials *= trips;
  ++nesting;
  const char *along = axis == 0 ? "[None, :]" : "[:, None]";
  // Integers wrap, and a float grows by at most twice an iteration.
  bool isDifference = random.chance(25);
  stmt.body = this->block([&] {
    const char *extreme = random.pick({"max", "min"});
    Item value = carried, at = carried;
    value.type = reduced;
    at.type = reduced.with(DType::Int32);
    bool hasIndices = !isDifference && random.chance(50);
    if (hasIndices) {
      Stmt both{Stmt::Kind::Assign};
      both.targets = {variable("v", value.type), variable("v", at.type)};
      both.head = join("tl.", extreme, "(", block, ", axis=", axis,
                       ", return_indices=True)");
      value.variable = both.targets[0];
      at.variable = both.targets[1];
      emit(std::move(both));
    } else {
      value = like(join("tl.", extreme, "(", block, ", axis=", axis, ")"),
                   value.type, value);
      if (!isDifference) {
        at = define(join("tl.arg", extreme, "(", block, ", axis=", axis, ")"),
                    at.type);
      }
    }
    if (!isDifference && random.chance(70)) {
      store(at);
    }
    if (random.chance(50)) {
      store(value);
    }
    if (isDifference) {
      assign(block, join(block, " - ", value.variable, along));
    } else {
      const char *low = extreme[1] == 'a' ? "-1000" : "1000";
      assign(block, join("tl.where(", alongDim(shape, size_t(axis)), " == ",
                         at.variable, along, ", ", low, ", ", block, ")"));
    }
  });
  --nesting;
  serial = outer;
  serials /= trips;
  emit(std::move(stmt));
  carried.magnitude = isDifference ? carried.magnitude * double(2 << trips)
                                   : std::max(carried.magnitude, 1000.0);
  carried.isWhole = carried.isWhole && !isDifference;
  carried.isExact = !isDifference;
  pool.push_back(carried);
}

} // namespace nereid::fuzz::source
