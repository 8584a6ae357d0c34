//===- types.cpp - A program of a project that Nereid is a part of --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/DType.h"

#include <cstdio>
#include <string>

int main() {
  std::printf("%s %u %u\n",
              std::string(shortName(nereid::DType::BFloat16)).c_str(),
              unsigned(byteSize(nereid::DType::BFloat16)),
              unsigned(bitWidth(nereid::DType::Int1)));
}
