//===- IndexClaims.h - What analyses say of indices, and values -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares what AxisInfo, IntegerRanges, ConstantStrides and ProgramValues
// claim of every value of an expression with its elements, as the reference
// executor computes them. What the analyses assume of a launch
// (IntegerRanges.h) is asked of the values as well: an expression that breaks
// it is outside of the claims.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_INDEXCLAIMS_H
#define NEREID_TEST_FUZZ_INDEXCLAIMS_H

#include "test/fuzz/IndexExpression.h"

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Analysis/ConstantStrides.h"

namespace nereid::fuzz {

/// Of one value.
struct IndexClaim {
  AxisInfo axes;
  IntegerRange range;
  bool mayWrap = true;
  ConstantStrides::Strides strides;
};

/// A rule that is wrong on purpose: changes the claim of an operation's result.
/// `of` gives the claims of its operands.
struct IndexFault {
  const char *name;
  void (*apply)(mlir::Operation *op, IndexClaim &claim,
                llvm::function_ref<IndexClaim(mlir::Value)> of);
};
llvm::ArrayRef<IndexFault> indexFaults();

struct IndexVerdict {
  enum class Kind { Holds, Outside, False } kind = Kind::Holds;
  std::string message; ///< of a false claim: the claim, the operation, values
  uint64_t claims = 0; ///< that were compared
};

/// `fault` may be null.
IndexVerdict checkIndexExpression(IndexExpression &expression,
                                  const IndexFault *fault);

} // namespace nereid::fuzz

#endif // NEREID_TEST_FUZZ_INDEXCLAIMS_H
