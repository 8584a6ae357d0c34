//===- TensorMapAccess.h - Loads that are boxes of a tensor -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_TENSORMAPACCESS_H
#define NEREID_ANALYSIS_TENSORMAPACCESS_H

#include "nereid/Analysis/IndexPolynomial.h"
#include "nereid/Analysis/IntegerRanges.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/SmallVector.h"

namespace nereid {

/// A tile of a tensor in global memory whose sizes and strides the host knows
/// before the launch: what a GPU's engine for boxes of tensors copies by one
/// instruction. Dimensions are innermost first, as the engine numbers them;
/// those that the tile lacks (a batch) come last, with boxes of 1.
struct TensorMapAccess {
  struct Dimension {
    /// In elements; of the innermost dimension 1.
    IndexPolynomial stride;
    /// Elements from the tensor's beginning on that exist; nothing where the
    /// load has no mask in this dimension.
    std::optional<IndexPolynomial> size;
    /// The first element of the tile: of scalars of the program.
    IndexPolynomial start;
    unsigned box = 1;
    /// The tile's dimension; nothing where the tile does not have it.
    std::optional<unsigned> tileDimension;
  };
  mlir::BlockArgument base; ///< the kernel's argument, a pointer
  llvm::SmallVector<Dimension> dimensions;
};

/// Finds it, or says in `why` what is missing. Strides and sizes consist of
/// the kernel's arguments; masks are conjunctions of `index < size`, each of
/// one dimension; elements outside are zeros. No coordinate is negative, since
/// the engine takes what is in front of a tensor for zeros, too. Whether sizes,
/// strides and the address are such as the engine takes the host looks.
std::optional<TensorMapAccess> tensorMapAccess(tile::LoadAccess load,
                                               const IntegerRanges &ranges,
                                               IndexReader &indices,
                                               llvm::StringRef &why);

} // namespace nereid

#endif // NEREID_ANALYSIS_TENSORMAPACCESS_H
