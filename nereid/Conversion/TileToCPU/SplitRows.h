//===- SplitRows.h - Rows of a tile one after the other --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that goes over several rows in a loop over tiles of columns jumps
// from row to row with every piece, and no prefetcher of a processor follows.
// Where the rows have nothing to do with each other, it does all of one row,
// then all of the next:
//
//   rows = r0 + range(0, 4)                for r in 0 .. 4:
//   for k: x[rows, k] ...            ->      row = r0 + r
//                                            for k: x[row, k] ...
//
// Every element is computed as before.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_SPLITROWS_H
#define NEREID_CONVERSION_TILETOCPU_SPLITROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::tocpu {

/// False if nothing changed.
bool splitRows(mlir::func::FuncOp kernel);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_SPLITROWS_H
