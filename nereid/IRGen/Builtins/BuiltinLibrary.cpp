//===- BuiltinLibrary.cpp - The embedded standard library ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/Builtins.h"

#include <utility>

namespace nereid::irgen {

static constexpr std::pair<std::string_view, std::string_view> sources[] = {
#include "nereid/IRGen/StdlibSources.inc"
};

std::string_view librarySource(llvm::StringRef name) {
  for (const auto &[file, text] : sources) {
    if (file == std::string_view(name)) {
      return text;
    }
  }
  return {};
}

} // namespace nereid::irgen
