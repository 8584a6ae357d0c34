//===- python_bare_launch.cpp - What the driver's launch itself costs -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For python_launch.py, by ctypes: cuLaunchKernel in a loop, in the process and
// the context in which the launches from Python are timed.
//
//===----------------------------------------------------------------------===//

#include <chrono>
#include <cstdint>
#include <dlfcn.h>

using Handle = void *;

/// Seconds of a call of cuLaunchKernel with `parameters` parameters of 8 bytes,
/// on the legacy default stream of the current context: the mean of `launches`
/// calls, without the wait after them. `image` is PTX with a kernel "bare" of
/// such parameters. Negative: the driver's error.
extern "C" double bareLaunchSeconds(const char *image, int parameters,
                                    int launches) {
  Handle driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    return -1;
  }
  auto load = reinterpret_cast<int (*)(Handle *, const void *)>(
      dlsym(driver, "cuModuleLoadData"));
  auto find = reinterpret_cast<int (*)(Handle *, Handle, const char *)>(
      dlsym(driver, "cuModuleGetFunction"));
  auto launch = reinterpret_cast<int (*)(
      Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
      unsigned, Handle, void **, void **)>(dlsym(driver, "cuLaunchKernel"));
  auto wait =
      reinterpret_cast<int (*)(Handle)>(dlsym(driver, "cuStreamSynchronize"));
  static Handle module, function;
  static int loaded = 0;
  constexpr int most = 32;
  if (loaded != parameters) {
    if (int error = load(&module, image)) {
      return -error;
    }
    if (int error = find(&function, module, "bare")) {
      return -error;
    }
    loaded = parameters;
  }
  uint64_t values[most] = {};
  void *addresses[most];
  for (int i = 0; i < parameters && i < most; ++i) {
    addresses[i] = &values[i];
  }
  auto start = std::chrono::steady_clock::now();
  int error = 0;
  for (int i = 0; i < launches; ++i) {
    error |=
        launch(function, 1, 1, 1, 128, 1, 1, 0, nullptr, addresses, nullptr);
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  wait(nullptr);
  return error ? -error : seconds.count() / launches;
}
