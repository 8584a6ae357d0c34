//===- Comparison.h - Two ways beside each other ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_COMPARISON_H
#define NEREID_EXPLAIN_COMPARISON_H

#include "nereid/Explain/Report.h"

namespace nereid::explain {

/// One thing that both sides have, as texts; `ratio` may be empty.
struct ComparisonRow {
  std::string what, ours, theirs, ratio;
};

/// Sums over each side's launches.
std::vector<ComparisonRow> compare(const Side &ours, const Side &theirs);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_COMPARISON_H
