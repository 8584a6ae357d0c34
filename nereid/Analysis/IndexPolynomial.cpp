//===- IndexPolynomial.cpp - Indices as sums of products ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/IndexPolynomial.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace nereid {

IndexPolynomial::IndexPolynomial(int64_t constant) { add({}, constant); }

static bool isSame(const IndexPolynomial::Product &a,
                   const IndexPolynomial::Product &b) {
  return a.size() == b.size() &&
         std::is_permutation(a.begin(), a.end(), b.begin());
}

void IndexPolynomial::add(const Product &product, int64_t coefficient) {
  auto at = llvm::find_if(
      terms, [&](const Term &term) { return isSame(term.first, product); });
  if (at == terms.end()) {
    at = terms.insert(at, {product, 0});
  }
  at->second += coefficient;
  if (!at->second) {
    terms.erase(at);
  }
}

std::optional<int64_t> IndexPolynomial::getConstant() const {
  if (terms.empty()) {
    return 0;
  }
  const auto &[product, coefficient] = terms.front();
  return terms.size() == 1 && product.empty() ? std::optional(coefficient)
                                              : std::nullopt;
}

bool IndexPolynomial::consistsOf(
    llvm::function_ref<bool(Value)> isKnown) const {
  return llvm::all_of(
      terms, [&](auto &term) { return llvm::all_of(term.first, isKnown); });
}

IndexPolynomial IndexPolynomial::operator+(const IndexPolynomial &other) const {
  IndexPolynomial sum = *this;
  for (const auto &[product, coefficient] : other.terms) {
    sum.add(product, coefficient);
  }
  return sum;
}

IndexPolynomial IndexPolynomial::operator-(const IndexPolynomial &other) const {
  return *this + other * IndexPolynomial(-1);
}

IndexPolynomial IndexPolynomial::operator*(const IndexPolynomial &other) const {
  IndexPolynomial result;
  for (const auto &[a, first] : terms) {
    for (const auto &[b, second] : other.terms) {
      Product both = a;
      both.insert(both.end(), b.begin(), b.end());
      result.add(both, first * second);
    }
  }
  return result;
}

std::optional<IndexPolynomial>
IndexPolynomial::dividedBy(int64_t divisor) const {
  IndexPolynomial result;
  for (const auto &[product, coefficient] : terms) {
    if (!divisor || coefficient % divisor) {
      return std::nullopt;
    }
    result.add(product, coefficient / divisor);
  }
  return result;
}

std::optional<IndexPolynomial::Product>
quotientOf(const IndexPolynomial::Product &product,
           const IndexPolynomial::Product &divisor) {
  IndexPolynomial::Product left = product;
  for (Value factor : divisor) {
    auto at = llvm::find(left, factor);
    if (at == left.end()) {
      return std::nullopt;
    }
    left.erase(at);
  }
  return left;
}

/// first + (counter - lower) / step * (what an iteration adds).
std::optional<IndexPolynomial>
IndexReader::readCarried(BlockArgument argument) {
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  APInt step;
  if (!loop || argument == loop.getInductionVar() ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step))) {
    return std::nullopt;
  }
  unsigned i = argument.getArgNumber() - 1;
  auto next = loop.getYieldedValues()[i].getDefiningOp<arith::AddIOp>();
  if (!next || (next.getLhs() != argument && next.getRhs() != argument)) {
    return std::nullopt;
  }
  Value added = next.getLhs() == argument ? next.getRhs() : next.getLhs();
  // What depends on the argument itself reads it as an atom.
  known[argument.getAsOpaquePointer()] = IndexPolynomial(Value(argument));
  const IndexPolynomial &each = read(added);
  bool isSame = each.consistsOf([&](Value atom) {
    return !loop->isAncestor(atom.getParentBlock()->getParentOp());
  });
  auto perCount = each.dividedBy(step.getSExtValue());
  if (!isSame || !perCount) {
    return std::nullopt;
  }
  IndexPolynomial count =
      IndexPolynomial(loop.getInductionVar()) - read(loop.getLowerBound());
  return read(loop.getInitArgs()[i]) + count * *perCount;
}

IndexPolynomial IndexReader::make(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return IndexPolynomial(constant.getSExtValue());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto carried = readCarried(argument);
    return carried ? *carried : IndexPolynomial(value);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtSIOp, arith::IndexCastOp, tile::HintOp>(op)) {
    return read(op->getOperand(0));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    return IndexPolynomial(value);
  }
  const IndexPolynomial &a = read(op->getOperand(0));
  const IndexPolynomial &b = read(op->getOperand(1));
  constexpr size_t mostTerms = 16;
  if (a.getTerms().size() > mostTerms || b.getTerms().size() > mostTerms) {
    return IndexPolynomial(value);
  }
  return isa<arith::AddIOp>(op)   ? a + b
         : isa<arith::SubIOp>(op) ? a - b
                                  : a * b;
}

const IndexPolynomial &IndexReader::read(Value value) {
  void *key = value.getAsOpaquePointer();
  if (auto at = known.find(key); at != known.end()) {
    return at->second;
  }
  IndexPolynomial made = make(value);
  return known[key] = std::move(made);
}

} // namespace nereid
