//===- F2.cpp - Linear algebra over the field of two elements -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/F2.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace nereid::f2 {

Vector apply(const Matrix &m, Vector x) {
  assert(m.size() == 64 || x >> m.size() == 0);
  Vector y = 0;
  for (; x; x &= x - 1) {
    y ^= m[std::countr_zero(x)];
  }
  return y;
}

Matrix multiply(const Matrix &a, const Matrix &b) {
  Matrix product;
  product.reserve(b.size());
  for (Vector column : b) {
    product.push_back(f2::apply(a, column));
  }
  return product;
}

Solver::Solver(const Matrix &m) {
  assert(m.size() <= 64);
  for (unsigned i = 0; i < m.size(); ++i) {
    Vector column = m[i], combination = Vector{1} << i;
    for (const Pivot &p : pivots) {
      if (column >> p.lead & 1) {
        column ^= p.reduced;
        combination ^= p.combination;
      }
    }
    if (!column) {
      dependent |= Vector{1} << i;
      continue;
    }
    unsigned lead = 63 - std::countl_zero(column);
    for (Pivot &p : pivots) {
      if (p.reduced >> lead & 1) {
        p.reduced ^= column;
        p.combination ^= combination;
      }
    }
    pivots.push_back({column, combination, lead});
  }
}

std::optional<Vector> Solver::solve(Vector y) const {
  Vector x = 0;
  for (const Pivot &p : pivots) {
    if (y >> p.lead & 1) {
      y ^= p.reduced;
      x ^= p.combination;
    }
  }
  if (y) {
    return std::nullopt;
  }
  return x;
}

bool Span::add(Vector v) {
  v = least(v);
  if (!v) {
    return false;
  }
  basis.insert(std::upper_bound(basis.rbegin(), basis.rend(), v).base(), v);
  return true;
}

Vector Span::least(Vector v) const {
  for (Vector b : basis) {
    v = std::min(v, v ^ b); // clears b's highest bit
  }
  return v;
}

Vector Span::greatest(Vector v) const {
  for (Vector b : basis) {
    v = std::max(v, v ^ b);
  }
  return v;
}

unsigned rank(const Matrix &m) { return Solver(m).rank(); }

std::vector<Vector> kernel(const Matrix &m) {
  Solver solver(m);
  std::vector<Vector> basis;
  for (unsigned i = 0; i < m.size(); ++i) {
    // A dependent column equals a sum of independent ones; their difference
    // is in the kernel, and bit i makes the differences independent.
    if (solver.dependentColumns() >> i & 1) {
      basis.push_back(*solver.solve(m[i]) ^ Vector{1} << i);
    }
  }
  return basis;
}

Matrix pseudoInverse(const Matrix &m, unsigned rows) {
  // Extend the image to the whole space by unit vectors; they come from 0.
  Matrix extended = m;
  std::vector<Vector> units;
  for (unsigned r = 0; r < rows; ++r) {
    units.push_back(Vector{1} << r);
  }
  std::vector<Vector> image;
  Solver solver(m);
  for (unsigned i = 0; i < m.size(); ++i) {
    if (!(solver.dependentColumns() >> i & 1)) {
      image.push_back(m[i]);
    }
  }
  std::vector<Vector> extra = complement(image, units);
  Matrix basis = image;
  basis.insert(basis.end(), extra.begin(), extra.end());
  Solver coordinates(basis);
  Matrix result;
  for (unsigned r = 0; r < rows; ++r) {
    Vector x = *coordinates.solve(Vector{1} << r);
    Vector inImage = f2::apply(
        image,
        x & ((image.size() == 64 ? Vector{0} : Vector{1} << image.size()) - 1));
    result.push_back(*solver.solve(inImage));
  }
  return result;
}

std::vector<Vector> complement(const std::vector<Vector> &a,
                               const std::vector<Vector> &b) {
  Span spanned(a);
  std::vector<Vector> added;
  for (Vector v : b) {
    if (spanned.add(v)) {
      added.push_back(v);
    }
  }
  return added;
}

std::vector<Vector> intersection(const std::vector<Vector> &a,
                                 const std::vector<Vector> &b) {
  // (x, y) with A x + B y = 0: then A x = B y lies in both.
  Matrix joined = a;
  joined.insert(joined.end(), b.begin(), b.end());
  std::vector<Vector> result;
  Vector maskA = a.size() == 64 ? ~Vector{0} : (Vector{1} << a.size()) - 1;
  for (Vector k : kernel(joined)) {
    result.push_back(f2::apply(a, k & maskA));
  }
  return complement({}, result);
}

} // namespace nereid::f2
