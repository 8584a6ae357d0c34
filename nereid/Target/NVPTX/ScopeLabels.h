//===- ScopeLabels.h - Labels that PTX does without -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_SCOPELABELS_H
#define NEREID_TARGET_NVPTX_SCOPELABELS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nereid::nvptx {

/// LLVM marks the ends of scopes with labels, for debug sections that are not
/// there. ptxas takes a label for the start of a block, and schedules
/// accordingly: without them the machine code is that without lines.
std::string withoutScopeLabels(llvm::StringRef ptx);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_SCOPELABELS_H
