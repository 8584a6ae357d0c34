//===- AxisInfo.h - How integers and addresses run along a tile -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What vector memory accesses and layouts need to know: along each dimension,
// how long the runs of consecutive values are, what divides the first value of
// every run, and how long the runs of equal values are. Addresses count bytes
// for divisibility and elements for contiguity.
//
// What a fact says where numbers are negative or wrap:
//
//   - Along a run, values grow by 1 modulo 2^32, or modulo 2^width in narrower
//     types. A piece of 2^k elements that begins at a multiple of 2^k grows by
//     exactly 1: nothing wraps inside of it, and all its elements have one
//     sign. Vectors are such pieces; so every rule that divides or compares
//     asks for pieces, and a rule that widens a narrow type keeps pieces only.
//   - Divisibility is that of the value modulo 2^width. Constancy is of the
//   bits.
//   - An i32 index that wraps on its way to an address is not expected:
//     the order of dimensions takes its runs for runs.
//   - Arrays begin at multiples of their elements' sizes; hints are true.
//
// The sign that `//` and `%` need comes from IntegerRanges. nereid-fuzz --index
// compares the facts on random expressions with their values.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_AXISINFO_H
#define NEREID_ANALYSIS_AXISINFO_H

#include "nereid/Analysis/IntegerRanges.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace nereid {

/// One entry a dimension; a scalar has one, of size 1. Divisibilities are
/// powers of two; 2^62 stands for zero.
struct AxisInfo {
  llvm::SmallVector<int64_t> contiguity, divisibility, constancy;
  /// The value, where all elements are one constant.
  std::optional<int64_t> constant;

  bool operator==(const AxisInfo &) const = default;
  /// Nothing known.
  static AxisInfo unknown(mlir::Type type);
  /// What holds of both.
  static AxisInfo meet(const AxisInfo &a, const AxisInfo &b);
};

/// What keeps an access from moving more elements at once. AxisInfoAnalysis
/// finds the first four, code generation the others.
enum class WidthLimit {
  Most,      ///< nothing: it is as wide as accesses are
  Runs,      ///< elements that follow each other lie elsewhere
  Alignment, ///< of the addresses
  Mask,      ///< may change between neighbours
  Layout,    ///< the thread holds no more neighbours
  Checks,    ///< checked elements are let through one by one
};
struct AccessWidth {
  unsigned elements = 1;
  WidthLimit limit = WidthLimit::Most;
};

/// Facts on every integer and pointer of a function. An analysis of MLIR's pass
/// manager; a pass that removes no operation preserves it.
class AxisInfoAnalysis {
public:
  /// `function` is a func.func.
  explicit AxisInfoAnalysis(mlir::Operation *function);

  const AxisInfo &get(mlir::Value value) const;

  /// Elements, along dimension `axis`, that one aligned access of at most
  /// `maxBytes` may move through `pointers`; `mask` may be null.
  AccessWidth accessWidth(mlir::Value pointers, mlir::Value mask, unsigned axis,
                          unsigned maxBytes) const;
  unsigned vectorWidth(mlir::Value pointers, mlir::Value mask, unsigned axis,
                       unsigned maxBytes) const {
    return accessWidth(pointers, mask, axis, maxBytes).elements;
  }

  /// Dimensions of a tensor of pointers, the one with the longest runs first,
  /// the last dimension first among equals.
  llvm::SmallVector<unsigned> order(mlir::Value pointers) const;

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  AxisInfo infer(mlir::Operation *op);
  bool join(mlir::Value value, AxisInfo info);
  /// By value: `info` may live in the map, which grows.
  void set(mlir::Value value, AxisInfo info) { infos[value] = std::move(info); }

  IntegerRanges ranges;
  llvm::DenseMap<mlir::Value, AxisInfo> infos;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_AXISINFO_H
