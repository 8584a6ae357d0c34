//===- CodeObject.h - What a code object says of its kernel -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_CODEOBJECT_H
#define NEREID_TARGET_AMDGPU_CODEOBJECT_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

#include <string>

namespace nereid::amdgpu {

/// What a wave takes, from the metadata note (AMDGPUUsage, "Code Object V3
/// Metadata").
struct Resources {
  unsigned vectorRegisters = 0; ///< of a lane, with those for accumulation
  unsigned accumulationRegisters = 0;          ///< of these (CDNA)
  unsigned scalarRegisters = 0;                ///< of a wave
  unsigned vectorSpills = 0, scalarSpills = 0; ///< registers
  unsigned sharedBytes = 0;                    ///< LDS of a workgroup
  unsigned privateBytes = 0;                   ///< scratch memory of a lane
};

/// Of the only kernel in `object`. InvalidArgument where it is no code object.
Expected<Resources> readResources(std::string_view object);

/// How many workgroups a processor holds.
struct Occupancy {
  unsigned workgroups = 0;
  unsigned waves = 0, mostWaves = 0; ///< resident
  std::string limit;                 ///< what there is no more of
};

/// Of a kernel of `waves` waves a workgroup. InvalidArgument for an
/// architecture that there is not.
Expected<Occupancy> occupancyOf(const Resources &resources, unsigned waves,
                                std::string_view architecture);

/// "add [gfx942]: 12 VGPRs, 18 SGPRs, 0 spilled, ...": for -v.
Expected<std::string> resourceLine(const KernelImage &image);

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_CODEOBJECT_H
