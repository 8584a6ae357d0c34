//===- LinkObject.h - Code objects of relocatable ones ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_LINKOBJECT_H
#define NEREID_TARGET_AMDGPU_LINKOBJECT_H

#include "nereid/ABI/Status.h"

#include <string>

namespace nereid::amdgpu {

/// The shared object that the driver loads, of a relocatable one. By lld, which
/// works on files and keeps its state in globals: one call at a time, in a
/// folder of its own. Internal with lld's message where it fails.
Expected<std::string> linkObject(const std::string &object);

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_LINKOBJECT_H
