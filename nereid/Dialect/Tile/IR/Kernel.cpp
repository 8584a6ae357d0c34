//===- Kernel.cpp - The kernel of a module --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Kernel.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace nereid::tile {

Expected<func::FuncOp> findKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kernelAttr)) {
      continue;
    }
    if (kernel) {
      return {ErrorCode::InvalidArgument,
              "a module holds more than one kernel"};
    }
    kernel = function;
  }
  if (!kernel || kernel.isExternal()) {
    return {ErrorCode::InvalidArgument,
            "a module holds no kernel: no function with a body and " +
                kernelAttr.str()};
  }
  if (!kernel.getBody().hasOneBlock()) {
    return {ErrorCode::InvalidArgument, "the body of kernel '" +
                                            kernel.getSymName().str() +
                                            "' is not one structured block"};
  }
  return kernel;
}

} // namespace nereid::tile
