//===- IndexPolynomial.h - Indices as sums of products ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_INDEXPOLYNOMIAL_H
#define NEREID_ANALYSIS_INDEXPOLYNOMIAL_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>
#include <vector>

namespace nereid {

/// A scalar index as a sum of products of atoms: kernel arguments, program ids,
/// counters of loops, and whatever else is not made by +, - and *. Widths do
/// not count, as for all indices (docs/TileToTileGPU.md, *How layouts are
/// chosen*): those of 32 bits that are made of arguments and ids do not wrap.
class IndexPolynomial {
public:
  /// Factors of a product, in any order; the constant's has none.
  using Product = std::vector<mlir::Value>;
  using Term = std::pair<Product, int64_t>;

  IndexPolynomial() = default; ///< zero
  explicit IndexPolynomial(int64_t constant);
  explicit IndexPolynomial(mlir::Value atom) : terms{{{atom}, 1}} {}
  /// In the order in which they were met, so that code made of them does not
  /// depend on where values lie.
  const std::vector<Term> &getTerms() const { return terms; }
  bool isZero() const { return terms.empty(); }
  std::optional<int64_t> getConstant() const;
  /// Does `isKnown` hold for each atom?
  bool consistsOf(llvm::function_ref<bool(mlir::Value)> isKnown) const;

  IndexPolynomial operator+(const IndexPolynomial &other) const;
  IndexPolynomial operator-(const IndexPolynomial &other) const;
  IndexPolynomial operator*(const IndexPolynomial &other) const;
  bool operator==(const IndexPolynomial &other) const {
    return (*this - other).isZero();
  }
  void add(const Product &product, int64_t coefficient);
  /// By a number that divides every coefficient.
  std::optional<IndexPolynomial> dividedBy(int64_t divisor) const;

private:
  std::vector<Term> terms; ///< each product once, no factor 0
};

/// Reads scalars as polynomials, each value once.
class IndexReader {
public:
  /// What `value`, an integer or an index, is computed from. An argument that
  /// a loop carries and steps by the same amount each time is its first value
  /// and a multiple of the counter. What would have many terms is an atom.
  const IndexPolynomial &read(mlir::Value value);

private:
  IndexPolynomial make(mlir::Value value);
  std::optional<IndexPolynomial> readCarried(mlir::BlockArgument argument);

  /// By value; references into it stay.
  std::map<void *, IndexPolynomial> known;
};

/// `product` without the factors of `divisor`; nothing where it lacks one.
std::optional<IndexPolynomial::Product>
quotientOf(const IndexPolynomial::Product &product,
           const IndexPolynomial::Product &divisor);

} // namespace nereid

#endif // NEREID_ANALYSIS_INDEXPOLYNOMIAL_H
