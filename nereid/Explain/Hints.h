//===- Hints.h - What would make a launch cheaper ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_EXPLAIN_HINTS_H
#define NEREID_EXPLAIN_HINTS_H

#include "nereid/Explain/Report.h"

namespace nereid::explain {

/// Fills in report.hints, the costliest loss first: only what a change of the
/// source or of the launch can fix.
void addHints(Report &report);

} // namespace nereid::explain

#endif // NEREID_EXPLAIN_HINTS_H
