//===- GpuDriver.cpp - GPUs' drivers, loaded by name ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDriver.h"

#include "nereid/Support/Knobs.h"

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <vector>

namespace nereid::gpu {

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string out = name ? name
                         : (kind == Device::Kind::Hip ? "HIP" : "CUDA") +
                               (" error " + std::to_string(result));
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

/// "11.8", "6.0": of Driver::version.
static std::string numberText(Device::Kind kind, int version) {
  bool isHip = kind == Device::Kind::Hip;
  return std::to_string(version / (isHip ? 10000000 : 1000)) + "." +
         std::to_string(isHip ? version / 100000 % 100 : version % 1000 / 10);
}

namespace {
/// What messages call a driver, and where it is looked for.
struct DriverNames {
  const char *driver; ///< "the NVIDIA driver"
  const char *api;
  int oldest;
  const char *getVersion;
  const char *install;
  /// Looked for in this order. Programs of ROCm are linked with the ones that
  /// have a number; the plain one is that of packages for development.
  std::vector<const char *> libraries;
  const char *variable;
  std::string Knobs::*setting;
  const char *noSimulator;
};
} // namespace

static const DriverNames &namesOf(Device::Kind kind) {
  static const DriverNames cuda = {"NVIDIA driver",
                                   "CUDA",
                                   oldestCudaDriver,
                                   "cuDriverGetVersion",
                                   "install the driver of the graphics card",
                                   {"libcuda.so.1"},
                                   "NEREID_CUDA_DRIVER",
                                   &Knobs::cudaDriver,
                                   "=simulator: this program does not have the "
                                   "simulated GPU; the command nereid has"},
                           hip = {"HIP library",
                                  "HIP",
                                  oldestHipDriver,
                                  "hipDriverGetVersion",
                                  "install the HIP runtime of ROCm",
                                  {"libamdhip64.so.7", "libamdhip64.so.6",
                                   "libamdhip64.so",
                                   "/opt/rocm/lib/libamdhip64.so"},
                                  "NEREID_HIP_DRIVER",
                                  &Knobs::hipDriver,
                                  "=simulator: this program has no simulated "
                                  "AMD GPU"};
  return kind == Device::Kind::Hip ? hip : cuda;
}

/// Of a pipe or a device dlopen would read without end.
static bool isNoFile(const std::string &name) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(name, error);
  return name.find('/') != std::string::npos &&
         std::filesystem::exists(status) &&
         !std::filesystem::is_regular_file(status);
}

std::string Driver::versionText() const {
  return std::string(namesOf(kind).api) + " " + numberText(kind, version);
}

/// A symbol's address; null for a name of "".
static void *find(void *library, const char *symbol) {
  return *symbol ? dlsym(library, symbol) : nullptr;
}

Expected<std::unique_ptr<const Driver>> openDriver(Device::Kind kind,
                                                   const std::string &name) {
  const DriverNames &names = namesOf(kind);
  const bool isHip = kind == Device::Kind::Hip;
  void *library =
      isNoFile(name) ? nullptr : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return {ErrorCode::NotFound, std::string("no ") + names.driver + ": " +
                                     name + " cannot be loaded; " +
                                     names.install +
                                     ", or use the device 'cpu'"};
  }
  auto driver = std::make_unique<Driver>();
  driver->kind = kind;
  auto *getVersion =
      reinterpret_cast<Result (*)(int *)>(dlsym(library, names.getVersion));
  if (!getVersion || getVersion(&driver->version) != Success) {
    return {ErrorCode::Unsupported, name + " is no " + names.driver};
  }
  // Before the symbols: a driver that lacks some is old, and saying so helps
  // more than the name of the first one.
  if (driver->version < names.oldest) {
    return {ErrorCode::Unsupported,
            std::string("the ") + names.driver + " supports " + names.api +
                " " + numberText(kind, driver->version) + "; Nereid needs " +
                numberText(kind, names.oldest) +
                " or newer: update the driver, or use the device 'cpu'"};
  }
  const char *missing = nullptr;
  auto require = [&](void *function, const char *symbol) {
    missing = function || !*symbol || missing ? missing : symbol;
    return function;
  };
#define NEREID_GPU(name, cuda, hip, parameters)                                \
  driver->name = reinterpret_cast<decltype(driver->name)>(                     \
      require(find(library, isHip ? hip : cuda), isHip ? hip : cuda));
#define NEREID_GPU_CUDA_NEWER(name, cuda, parameters)                          \
  driver->name = reinterpret_cast<decltype(driver->name)>(                     \
      find(library, isHip ? "" : cuda));
#include "nereid/Runtime/gpu/GpuDriver.def"
  if (missing) {
    return {ErrorCode::Unsupported, std::string("the ") + names.driver +
                                        " lacks the function " + missing};
  }
  Status status = driver->check(
      driver->init(0), (std::string("starting the ") + names.driver).c_str());
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<const Driver>(std::move(driver));
}

namespace {
struct Simulator {
  OpenDriver open = nullptr;
  bool isAlways = false;
};
} // namespace

static Simulator &simulatorOf(Device::Kind kind) {
  static Simulator cuda, hip;
  return kind == Device::Kind::Hip ? hip : cuda;
}

void setSimulator(Device::Kind kind, OpenDriver open, bool always) {
  simulatorOf(kind) = {open, always};
}

/// The first of the usual libraries that there is.
static Expected<std::unique_ptr<const Driver>> openUsual(Device::Kind kind) {
  std::optional<Failure> first;
  for (const char *name : namesOf(kind).libraries) {
    Expected<std::unique_ptr<const Driver>> driver = openDriver(kind, name);
    if (driver.ok() || driver.failure().code != ErrorCode::NotFound) {
      return driver;
    }
    first = first ? first : driver.failure();
  }
  return *first;
}

static Expected<std::unique_ptr<const Driver>>
openNamed(Device::Kind kind, const std::string &name) {
  const Simulator &simulator = simulatorOf(kind);
  if (simulator.isAlways) {
    return simulator.open();
  }
  if (name != "simulator") {
    return name.empty() ? openUsual(kind) : openDriver(kind, name);
  }
  if (!simulator.open) {
    return {ErrorCode::NotFound,
            std::string(namesOf(kind).variable) + namesOf(kind).noSimulator};
  }
  return simulator.open();
}

static Expected<const Driver *> load(Device::Kind kind) {
  const std::string &wanted = processKnobs().*namesOf(kind).setting;
  if (wanted == "none" && !simulatorOf(kind).isAlways) {
    return {ErrorCode::NotFound,
            std::string(kind == Device::Kind::Hip ? "hip" : "cuda") +
                " devices are turned off by " + namesOf(kind).variable +
                "=none"};
  }
  Expected<std::unique_ptr<const Driver>> driver = openNamed(kind, wanted);
  if (!driver.ok()) {
    return driver.failure();
  }
  return driver->release(); // never unloaded: the driver has threads
}

Expected<const Driver *> loadDriver(Device::Kind kind) {
  if (kind == Device::Kind::Hip) {
    static const Expected<const Driver *> hip = load(kind);
    return hip;
  }
  static const Expected<const Driver *> cuda = load(kind);
  return cuda;
}

} // namespace nereid::gpu
