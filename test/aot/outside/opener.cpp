//===- opener.cpp - A program that opens a library with kernels -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It has the runtime and no compiler, and uses the shared context before it
// opens the library.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Context.h"

#include <cstdio>
#include <dlfcn.h>

int main(int count, char **arguments) {
  if (count != 3 || nereid::Context::shared().compiler()) {
    std::puts("expected a library and a kernel's file, and no compiler");
    return 2;
  }
  void *library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  auto *run = library ? reinterpret_cast<int (*)(const char *)>(
                            ::dlsym(library, "runPlugin"))
                      : nullptr;
  if (!run) {
    std::puts(::dlerror());
    return 2;
  }
  return run(arguments[2]);
}
