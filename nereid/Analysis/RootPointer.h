//===- RootPointer.h - The array of an address ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_ROOTPOINTER_H
#define NEREID_ANALYSIS_ROOTPOINTER_H

#include "mlir/IR/Value.h"

namespace nereid {

/// The kernel argument that a pointer, or every pointer of a tensor, derives
/// from by arithmetic; null where it may be another array: loaded, selected,
/// made from an integer, exchanged by a loop. Two arguments that overlap are
/// the caller's business, as they are in the language.
mlir::Value rootPointer(mlir::Value pointer);

} // namespace nereid

#endif // NEREID_ANALYSIS_ROOTPOINTER_H
