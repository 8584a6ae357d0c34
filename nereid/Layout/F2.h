//===- F2.h - Linear algebra over the field of two elements -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector is the bits of a uint64_t, addition is exclusive or, and a matrix is
// the list of its columns: column i is the image of the i-th unit vector. So
// M * x is the exclusive or of the columns that the bits of x select. At most
// 64 rows and 64 columns, which a GPU tile of 2^20 elements stays far below.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_F2_H
#define NEREID_LAYOUT_F2_H

#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::f2 {

using Vector = uint64_t;
/// Columns.
using Matrix = std::vector<Vector>;

/// M * x. Bits of x beyond the number of columns must be 0.
Vector apply(const Matrix &m, Vector x);

/// A * B: column i is A * B[i].
Matrix multiply(const Matrix &a, const Matrix &b);

unsigned rank(const Matrix &m);

/// A basis of {x : M * x = 0}; as many vectors as M has dependent columns.
std::vector<Vector> kernel(const Matrix &m);

/// Solves M * x = y for many y. Among the solutions the one with zeros at the
/// dependent columns (the columns that are sums of earlier ones), so that the
/// answer is a linear function of y.
class Solver {
public:
  explicit Solver(const Matrix &m);
  /// Absent when y is not in the image of M.
  std::optional<Vector> solve(Vector y) const;
  unsigned rank() const { return static_cast<unsigned>(pivots.size()); }
  /// Bit i: column i of M is a sum of earlier columns.
  Vector dependentColumns() const { return dependent; }

private:
  /// `reduced` has `lead` as its highest bit, which no other pivot has, and is
  /// the sum of the columns that `combination` selects.
  struct Pivot {
    Vector reduced, combination;
    unsigned lead;
  };
  std::vector<Pivot> pivots;
  Vector dependent = 0;
};

/// A space that grows vector by vector, kept as a basis in echelon form.
class Span {
public:
  Span() = default;
  explicit Span(const std::vector<Vector> &vectors) {
    for (Vector v : vectors) {
      add(v);
    }
  }
  /// False: `v` was in it already.
  bool add(Vector v);
  /// Of v + s for all s in the span, as numbers.
  Vector least(Vector v) const;
  Vector greatest(Vector v) const;

private:
  std::vector<Vector> basis; ///< no two of one highest bit, falling
};

/// A matrix R with M * R * M = M; the inverse where M has one. `columns` is
/// the number of rows of M.
Matrix pseudoInverse(const Matrix &m, unsigned rows);

/// Vectors that extend a basis of span(a) to one of span(a and b), taken from
/// `b` in order.
std::vector<Vector> complement(const std::vector<Vector> &a,
                               const std::vector<Vector> &b);

/// A basis of the intersection of two spans.
std::vector<Vector> intersection(const std::vector<Vector> &a,
                                 const std::vector<Vector> &b);

} // namespace nereid::f2

#endif // NEREID_LAYOUT_F2_H
