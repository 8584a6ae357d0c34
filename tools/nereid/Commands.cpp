//===- Commands.cpp - What several subcommands need -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "nereid/Runtime/Error.h"

#include <filesystem>

namespace nereid {

void usageError(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

std::pair<std::string, std::string> splitKernel(const std::string &text) {
  size_t colon = text.rfind(':');
  // A path may hold a colon of its own.
  std::error_code ignored; // a name that is too long, say
  if (colon == std::string::npos || std::filesystem::exists(text, ignored)) {
    return {text, ""};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

} // namespace nereid
