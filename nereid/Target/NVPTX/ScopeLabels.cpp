//===- ScopeLabels.cpp - Labels that PTX does without ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/ScopeLabels.h"

std::string nereid::nvptx::withoutScopeLabels(llvm::StringRef ptx) {
  std::string kept;
  kept.reserve(ptx.size());
  while (!ptx.empty()) {
    size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    llvm::StringRef line = ptx.take_front(end);
    if (!line.starts_with("$L__tmp") && !line.starts_with("$L__func_")) {
      kept += line;
    }
    ptx = ptx.drop_front(end);
  }
  return kept;
}
