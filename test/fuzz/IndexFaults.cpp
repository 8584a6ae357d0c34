//===- IndexFaults.cpp - Rules that are wrong on purpose ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a mistake that an analysis had, or that is easily made: what holds of
// numbers that are neither negative nor wrap, claimed of all.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/IndexClaims.h"

#include <numeric>

using namespace mlir;

namespace nereid::fuzz {

using ClaimOf = llvm::function_ref<IndexClaim(Value)>;

/// Elements that stay together between multiples of the divisor, if only all
/// numbers were positive.
static int64_t together(const AxisInfo &x, const AxisInfo &y, size_t d) {
  return std::gcd(std::gcd(x.contiguity[d], y.constancy[d]),
                  std::min(x.divisibility[d], y.divisibility[d]));
}

static void quotientOfNegatives(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::DivSIOp>(op)) {
    AxisInfo x = of(op->getOperand(0)).axes, y = of(op->getOperand(1)).axes;
    for (auto [d, constancy] : llvm::enumerate(claim.axes.constancy)) {
      constancy = std::max(constancy, together(x, y, d));
    }
  }
}

static void remainderOfNegatives(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::RemSIOp>(op)) {
    AxisInfo x = of(op->getOperand(0)).axes, y = of(op->getOperand(1)).axes;
    for (auto [d, contiguity] : llvm::enumerate(claim.axes.contiguity)) {
      contiguity = std::max(contiguity, together(x, y, d));
    }
  }
}

/// A run in a narrow type, taken for one in a wide type.
static void extensionOfRuns(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    AxisInfo from = of(op->getOperand(0)).axes;
    claim.axes.contiguity = from.contiguity;
    claim.axes.divisibility = from.divisibility;
  }
}

/// A run that is longer than half of its type's numbers, compared.
static void comparisonOfLongRuns(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    AxisInfo x = of(op->getOperand(0)).axes, y = of(op->getOperand(1)).axes;
    for (auto [d, constancy] : llvm::enumerate(claim.axes.constancy)) {
      constancy =
          std::max(constancy, std::gcd(x.contiguity[d], y.constancy[d]));
    }
  }
}

/// The constant of a sum, before it wraps.
static void constantOfSum(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::AddIOp, arith::MulIOp>(op)) {
    AxisInfo x = of(op->getOperand(0)).axes, y = of(op->getOperand(1)).axes;
    if (x.constant && y.constant) {
      claim.axes.constant = isa<arith::AddIOp>(op)
                                ? int64_t(uint64_t(*x.constant) + *y.constant)
                                : int64_t(uint64_t(*x.constant) * *y.constant);
    }
  }
}

/// A difference runs as its second operand does.
static void differenceRuns(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::SubIOp>(op)) {
    AxisInfo x = of(op->getOperand(0)).axes, y = of(op->getOperand(1)).axes;
    for (auto [d, contiguity] : llvm::enumerate(claim.axes.contiguity)) {
      contiguity =
          std::max(contiguity, std::gcd(x.constancy[d], y.contiguity[d]));
    }
  }
}

/// A choice runs wherever both of its sides do.
static void selectionRuns(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::SelectOp>(op)) {
    AxisInfo x = of(op->getOperand(1)).axes, y = of(op->getOperand(2)).axes;
    claim.axes.contiguity = AxisInfo::meet(x, y).contiguity;
  }
}

/// A remainder has the divisor's sign.
static void remainderFromZero(Operation *op, IndexClaim &claim, ClaimOf) {
  if (isa<arith::RemSIOp>(op)) {
    claim.range.low = std::max<int64_t>(claim.range.low, 0);
  }
}

/// A sum of narrow numbers stays between the sums of their ends.
static void sumOfNarrow(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::AddIOp>(op)) {
    IntegerRange x = of(op->getOperand(0)).range,
                 y = of(op->getOperand(1)).range;
    claim.range.low = std::max(claim.range.low, x.low / 2 + y.low / 2);
    claim.mayWrap = false;
  }
}

/// A quotient's elements lie as far apart as the dividend's.
static void stridesOfQuotient(Operation *op, IndexClaim &claim, ClaimOf of) {
  if (isa<arith::DivSIOp, arith::ShRSIOp>(op)) {
    claim.strides = of(op->getOperand(0)).strides;
  }
}

llvm::ArrayRef<IndexFault> indexFaults() {
  static const IndexFault faults[] = {
      {"quotient-of-negatives", quotientOfNegatives},
      {"remainder-of-negatives", remainderOfNegatives},
      {"extension-of-runs", extensionOfRuns},
      {"comparison-of-long-runs", comparisonOfLongRuns},
      {"constant-of-sum", constantOfSum},
      {"difference-runs", differenceRuns},
      {"selection-runs", selectionRuns},
      {"remainder-from-zero", remainderFromZero},
      {"sum-of-narrow", sumOfNarrow},
      {"strides-of-quotient", stridesOfQuotient},
  };
  return faults;
}

} // namespace nereid::fuzz
