//===- plugin.cpp - A library that brings the compiler with it --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"

#include <cstdio>

using namespace nereid::literals;

extern "C" int runPlugin(const char *path) {
  nereid::installDefaults();
  try {
    auto fill = nereid::Kernel::load(path, "fill");
    auto y = nereid::zeros({4}, nereid::i32, nereid::Device::cpu());
    fill[{1}](y, 3, "BLOCK"_a = 16);
    const int *values = static_cast<const int *>(y.data());
    std::printf("%d %d %d %d\n", values[0], values[1], values[2], values[3]);
  } catch (const nereid::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
