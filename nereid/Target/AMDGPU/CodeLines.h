//===- CodeLines.h - Which line code comes from -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_CODELINES_H
#define NEREID_TARGET_AMDGPU_CODELINES_H

#include "nereid/ABI/Status.h"

#include <map>
#include <string_view>

namespace nereid::amdgpu {

/// The table of lines of a code object.
class CodeLines {
public:
  /// Empty where `object` has none, or is no code object.
  explicit CodeLines(std::string_view object);
  /// Of the instruction at this address, as linked; line 0: of none.
  SourceLocation at(uint64_t address) const;

private:
  std::map<uint64_t, SourceLocation> begins;
};

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_CODELINES_H
