//===- SimulatedDriver.cpp - A device without a GPU -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"
#include "nereid/Support/Knobs.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unistd.h>

namespace nereid::gpu {

namespace simulated {

World &world() {
  static World *all = new World; // streams may outlive static objects
  return *all;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct Architecture { ///< of GpuArchitectures.def
  std::string_view name;
  unsigned capability;
  const char *ptx;
  int sharedKiB, warps, blocks, allSharedKiB;
};
} // namespace

static constexpr Architecture architectures[] = {
#define NEREID_GPU_ARCHITECTURE(...) {__VA_ARGS__},
#include "nereid/Support/GpuArchitectures.def"
};
/// Instructions of older ones are not simulated.
static constexpr unsigned oldestCapability = 75;

/// Of the world's GPU.
static const Architecture &architecture() {
  unsigned capability = world().options.computeCapability;
  return *std::ranges::find(architectures, capability,
                            &Architecture::capability);
}

static bool parseNumber(std::string_view text, uint64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

static bool parseArchitecture(std::string_view word, unsigned &capability) {
  const auto *found =
      std::ranges::find(architectures, word, &Architecture::name);
  if (found == std::end(architectures) ||
      found->capability < oldestCapability) {
    return false;
  }
  capability = found->capability;
  return true;
}

/// "sm_75, sm_80, ...": each once.
static std::string architectureNames() {
  std::string names;
  for (const Architecture &one : architectures) {
    if (one.capability >= oldestCapability && !one.name.ends_with("a")) {
      names += std::string(one.name) + ", ";
    }
  }
  return names;
}

Expected<Options> parseOptions(const std::string &text) {
  Options options;
  size_t at = 0;
  while (at < text.size()) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    bool isKnown = true;
    if (word == "early" || word == "late") {
      options.asyncOrder =
          word == "early" ? sim::AsyncOrder::Early : sim::AsyncOrder::Late;
    } else if (word == "races") {
      options.checksRaces = true;
    } else if (word == "pages") {
      options.hasPages = true;
    } else if (word == "lazy") {
      options.isLazy = true;
    } else if (word.starts_with("gpus=")) {
      uint64_t count = 0;
      isKnown = parseNumber(std::string_view(word).substr(5), count) &&
                count >= 1 && count <= mostGpus;
      options.gpus = unsigned(count);
    } else if (word.starts_with("seed=")) {
      isKnown = parseNumber(std::string_view(word).substr(5), options.seed);
    } else {
      // "gfx942" is for hip devices.
      isKnown = word.starts_with("gfx") ||
                parseArchitecture(word, options.computeCapability);
    }
    if (!isKnown) {
      return {ErrorCode::InvalidArgument,
              "NEREID_SIMULATOR: '" + word + "': expected " +
                  architectureNames() +
                  "early, late, races, pages, lazy, gpus=N (1 to 8) or seed=N, "
                  "with commas between"};
    }
  }
  return options;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Result init(unsigned) { return Success; }

Result driverGetVersion(int *version) {
  *version = 13000;
  return Success;
}

Result getErrorName(Result error, const char **text) {
  static constexpr std::pair<Result, const char *> names[] = {
      {Success, "CUDA_SUCCESS"},
      {invalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {InvalidPtx, "CUDA_ERROR_INVALID_PTX"},
      {notFound, "CUDA_ERROR_NOT_FOUND"},
      {notSupported, "CUDA_ERROR_NOT_SUPPORTED"},
      {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  for (auto [known, name] : names) {
    if (error == known) {
      *text = name;
      return Success;
    }
  }
  *text = nullptr;
  return invalidValue;
}

Result getErrorString(Result error, const char **text) {
  *text = error == OutOfMemory      ? "out of memory"
          : error == IllegalAddress ? "an illegal memory access was encountered"
          : error == LaunchFailed   ? "the kernel did what no GPU goes on from"
          : error == InvalidPtx     ? "the simulator cannot run this PTX"
          : error == LaunchOutOfResources
              ? "too many resources requested for launch"
              : nullptr;
  return *text ? Success : invalidValue;
}

Result deviceGetCount(int *count) {
  *count = int(world().options.gpus);
  return Success;
}

Result deviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && unsigned(ordinal) < world().options.gpus
             ? Success
             : invalidValue;
}

Result deviceGetName(char *name, int bytes, DeviceId) {
  unsigned capability = world().options.computeCapability;
  std::snprintf(name, size_t(bytes), "simulated sm_%u", capability);
  return Success;
}

Result deviceGetAttribute(int *value, int attribute, DeviceId) {
  unsigned capability = world().options.computeCapability;
  switch (attribute) {
  case MaxThreadsPerBlock:
    *value = 1024;
    return Success;
  case SharedBytesPerBlock:
    *value = 48 << 10;
    return Success;
  case WarpSize:
    *value = 32;
    return Success;
  case MultiprocessorCount:
    *value = 132; // of an H200, so that the same configurations are chosen
    return Success;
  case MaxThreadsPerMultiprocessor:
    *value = int(sim::lanes) * architecture().warps;
    return Success;
  case ComputeCapabilityMajor:
    *value = int(capability / 10);
    return Success;
  case ComputeCapabilityMinor:
    *value = int(capability % 10);
    return Success;
  case SharedBytesPerMultiprocessor:
    *value = architecture().allSharedKiB << 10;
    return Success;
  case RegistersPerMultiprocessor:
    *value = 65536;
    return Success;
  case SharedBytesPerBlockOptin:
    *value = architecture().sharedKiB << 10;
    return Success;
  case L2CacheBytes:
    *value = 50 << 20;
    return Success;
  default:
    *value = 0; // clocks: nothing here has one
    return Success;
  }
}

Result deviceTotalMem(size_t *bytes, DeviceId) {
  *bytes = world().memoryBytes;
  return Success;
}

Result primaryCtxRetain(ContextHandle *context, DeviceId device) {
  *context = &world().contexts[size_t(device)];
  return Success;
}

Result primaryCtxRelease(DeviceId) { return Success; }

static thread_local ContextHandle currentContext = nullptr;

Result ctxSetCurrent(ContextHandle context) {
  currentContext = context;
  return Success;
}

Result ctxGetCurrent(ContextHandle *context) {
  *context = currentContext;
  return Success;
}

Result ctxSynchronize() { return runAll(); }

} // namespace simulated

bool simulateAndProfile(const std::string &target,
                        const sim::GridSample &sample,
                        std::function<void(const ProfiledLaunch &)> tell) {
  simulated::World &world = simulated::world();
  if (world.isLoaded) {
    return false;
  }
  world.target = target;
  world.sample = sample;
  world.tell = std::move(tell);
  setSimulator(Device::Kind::Cuda, simulatedDriver, /*always=*/true);
  return true;
}

bool simulateAndProfile(const std::string &target,
                        const sim::GridSample &sample,
                        std::function<void(const ProfiledHipLaunch &)> tell) {
  simulated::World &world = simulated::world();
  if (world.isLoaded) {
    return false;
  }
  world.target = target;
  world.sample = sample;
  world.onHipLaunch = std::move(tell);
  setSimulator(Device::Kind::Hip, simulatedHip, /*always=*/true);
  return true;
}

void installSimulator() {
  setSimulator(Device::Kind::Cuda, simulatedDriver);
  setSimulator(Device::Kind::Hip, simulatedHip);
}

Expected<std::unique_ptr<const Driver>> simulatedDriver() {
  const std::string &target = simulated::world().target;
  simulated::world().isLoaded = true;
  Expected<simulated::Options> options = simulated::parseOptions(
      target.empty() ? processKnobs().simulator : target + ",pages");
  if (!options.ok()) {
    return options.failure();
  }
  simulated::world().options = *options;
  // As much as the machine has: what does not fit fails as on a GPU.
  simulated::world().memoryBytes = thisMachine().memoryBytes;
  auto driver = std::make_unique<Driver>();
#define NEREID_GPU(name, cuda, hip, parameters) driver->name = simulated::name;
#define NEREID_GPU_HIP(name, hip, parameters)
#include "nereid/Runtime/gpu/GpuDriver.def"
  driver->driverGetVersion(&driver->version);
  driver->keepsExactBytes = !options->hasPages;
  return std::unique_ptr<const Driver>(std::move(driver));
}

} // namespace nereid::gpu
