//===- AssignSites.h - Operations that call the runtime, numbered --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_ASSIGNSITES_H
#define NEREID_DIALECT_TILE_TRANSFORMS_ASSIGNSITES_H

#include "nereid/ABI/KernelImage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace nereid::tile {

/// Sets `tile.site` of every print, assert and check of the function, in the
/// order of the text, and returns what they are: KernelImage::sites. Doing it
/// again gives the same. `sourceLine` is left empty: the IR does not hold the
/// text. The location is the innermost call's.
std::vector<ImageSite> assignSites(mlir::func::FuncOp function);

/// File, line and column of a location; line 0 where it has none.
SourceLocation sourceLocationOf(mlir::Location location);

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_TRANSFORMS_ASSIGNSITES_H
