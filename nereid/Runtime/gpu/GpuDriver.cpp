//===- GpuDriver.cpp - NVIDIA's driver, loaded by name -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDriver.h"

#include "nereid/Support/Knobs.h"

#include <dlfcn.h>
#include <filesystem>

namespace nereid::gpu {

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string out = name ? name : "CUDA error " + std::to_string(result);
  return text ? out + ": " + text : out;
}

Status Driver::check(Result result, const char *what) const {
  if (result == Success) {
    return Status::success();
  }
  ErrorCode code = ErrorCode::Internal;
  switch (result) {
  case OutOfMemory:
    code = ErrorCode::OutOfMemory;
    break;
  case NoDevice:
    code = ErrorCode::NotFound;
    break;
  case InvalidPtx:
  case UnsupportedPtxVersion:
  case NoBinaryForGpu:
  case LaunchOutOfResources:
    code = ErrorCode::Unsupported;
    break;
  default:
    code = isFatal(result) ? ErrorCode::KernelFault : ErrorCode::Internal;
    break;
  }
  return {code, std::string(what) + ": " + describe(result)};
}

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Of a pipe or a device dlopen would read without end.
static bool isNoFile(const std::string &name) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(name, error);
  return name.find('/') != std::string::npos &&
         std::filesystem::exists(status) &&
         !std::filesystem::is_regular_file(status);
}

Expected<std::unique_ptr<const Driver>> openDriver(const std::string &name) {
  void *library =
      isNoFile(name) ? nullptr : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return {ErrorCode::NotFound,
            "no NVIDIA driver: " + name +
                " cannot be loaded; install the driver of the graphics card, "
                "or use the device 'cpu'"};
  }
  auto driver = std::make_unique<Driver>();
  auto *getVersion =
      reinterpret_cast<Result (*)(int *)>(dlsym(library, "cuDriverGetVersion"));
  if (!getVersion || getVersion(&driver->version) != Success) {
    return {ErrorCode::Unsupported, name + " is no NVIDIA driver"};
  }
  // Before the symbols: a driver that lacks some is old, and saying so helps
  // more than the name of the first one.
  if (driver->version < oldestDriver) {
    return {ErrorCode::Unsupported,
            "the NVIDIA driver supports CUDA " + versionText(driver->version) +
                "; Nereid needs " + versionText(oldestDriver) +
                " or newer: update the driver, or use the device 'cpu'"};
  }
#define NEREID_GPU(name, symbol, parameters)                                   \
  driver->name =                                                               \
      reinterpret_cast<decltype(driver->name)>(dlsym(library, symbol));        \
  if (!driver->name) {                                                         \
    return {ErrorCode::Unsupported,                                            \
            "the NVIDIA driver lacks the function " symbol};                   \
  }
#define NEREID_GPU_NEWER(name, symbol, parameters)                             \
  driver->name =                                                               \
      reinterpret_cast<decltype(driver->name)>(dlsym(library, symbol));
#include "nereid/Runtime/gpu/GpuDriver.def"
  Status status = driver->check(driver->init(0), "starting the NVIDIA driver");
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<const Driver>(std::move(driver));
}

static OpenDriver openSimulator = nullptr;
static bool isAlwaysSimulated = false;

void setSimulator(OpenDriver open, bool always) {
  openSimulator = open;
  isAlwaysSimulated = always;
}

static Expected<std::unique_ptr<const Driver>>
openNamed(const std::string &name) {
  if (isAlwaysSimulated) {
    return openSimulator();
  }
  if (name != "simulator") {
    return openDriver(name.empty() ? "libcuda.so.1" : name);
  }
  if (!openSimulator) {
    return {ErrorCode::NotFound,
            "NEREID_CUDA_DRIVER=simulator: this program does not have the "
            "simulated GPU; the command nereid has"};
  }
  return openSimulator();
}

static Expected<const Driver *> load() {
  const std::string &wanted = processKnobs().cudaDriver;
  if (wanted == "none" && !isAlwaysSimulated) {
    return {ErrorCode::NotFound,
            "cuda devices are turned off by NEREID_CUDA_DRIVER=none"};
  }
  Expected<std::unique_ptr<const Driver>> driver = openNamed(wanted);
  if (!driver.ok()) {
    return driver.failure();
  }
  return driver->release(); // never unloaded: the driver has threads
}

Expected<const Driver *> loadDriver() {
  static const Expected<const Driver *> result = load();
  return result;
}

} // namespace nereid::gpu
