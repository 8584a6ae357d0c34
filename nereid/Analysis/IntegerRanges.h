//===- IntegerRanges.h - Between which numbers integers lie -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An interval for each integer and each block of integers, of signed numbers.
// AxisInfo asks for the sign, the CPU's masks for what may wrap.
//
// A number is open where the launch decides how large it is: a program id, an
// argument, and what is computed from them. Three things are assumed of open
// numbers of 32 bits and more, as every kernel that computes addresses does:
//
//   - sums, products and shifts of numbers that begin at about zero do not
//     wrap;
//   - a divisor of unknown sign is positive: one divides by sizes;
//   - a loop counts upward without wrapping.
//
// Of all other numbers nothing is assumed: where an interval leaves the type,
// the result may be any number. Types of fewer than 32 bits always wrap.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_INTEGERRANGES_H
#define NEREID_ANALYSIS_INTEGERRANGES_H

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nereid {

/// From `low` to `high`, both included; a boolean that is true is -1.
struct IntegerRange {
  int64_t low = 0, high = 0;
  bool isOpen = false;

  bool operator==(const IntegerRange &) const = default;
};

class IntegerRanges {
public:
  /// `function` is a func.func.
  explicit IntegerRanges(mlir::Operation *function);

  /// All numbers of the type for a value that is not known; `value` is an
  /// integer, an index or a block of them.
  IntegerRange get(mlir::Value value) const;
  bool isNonNegative(mlir::Value value) const { return get(value).low >= 0; }
  /// May the operation that defines `value` leave the type of its result?
  bool mayWrap(mlir::Value value) const { return wrapping.contains(value); }

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitLoop(mlir::Operation *op);
  void infer(mlir::Operation *op);
  void set(mlir::Value value, IntegerRange range);
  void forget(mlir::ValueRange values);

  llvm::DenseMap<mlir::Value, IntegerRange> ranges;
  llvm::DenseSet<mlir::Value> wrapping;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_INTEGERRANGES_H
