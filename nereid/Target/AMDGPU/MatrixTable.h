//===- MatrixTable.h - Matrix instructions of each chip ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_MATRIXTABLE_H
#define NEREID_TARGET_AMDGPU_MATRIXTABLE_H

#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include <string_view>

namespace nereid::amdgpu {

/// Of an architecture that resolve() knows, those of 16 x 16 sums first.
std::vector<tilegpu::MatrixInstruction>
matrixInstructions(std::string_view architecture);

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_MATRIXTABLE_H
