//===- SimulatedDriver.cpp - A device without a GPU -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cuda/simulated/SimulatedDriver.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/cuda/simulated/SimulatedWorld.h"
#include "nereid/Support/Knobs.h"

#include <charconv>
#include <cstring>
#include <unistd.h>

namespace nereid::cuda {

namespace simulated {

World &world() {
  static World *all = new World; // streams may outlive static objects
  return *all;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Architectures that kernels are simulated for; what they can hold is below.
static constexpr unsigned capabilities[] = {75,  80,  86,  89, 90,
                                            100, 103, 120, 121};

static bool parseNumber(std::string_view text, uint64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

static bool parseArchitecture(std::string_view word, unsigned &capability) {
  uint64_t value = 0;
  if (!word.starts_with("sm_")) {
    return false;
  }
  word.remove_prefix(3);
  if (word.ends_with("a")) {
    word.remove_suffix(1);
  }
  if (!parseNumber(word, value)) {
    return false;
  }
  for (unsigned known : capabilities) {
    if (value == known) {
      capability = known;
      return true;
    }
  }
  return false;
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
    } else if (word.starts_with("seed=")) {
      isKnown = parseNumber(std::string_view(word).substr(5), options.seed);
    } else {
      isKnown = parseArchitecture(word, options.computeCapability);
    }
    if (!isKnown) {
      return {ErrorCode::InvalidArgument,
              "NEREID_SIMULATOR: '" + word +
                  "': expected an architecture from sm_75 to sm_121, early, "
                  "late, races, pages or seed=N, with commas between"};
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
  *count = 1;
  return Success;
}

Result deviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? Success : invalidValue;
}

Result deviceGetName(char *name, int bytes, DeviceId) {
  unsigned capability = world().options.computeCapability;
  std::snprintf(name, size_t(bytes), "simulated sm_%u", capability);
  return Success;
}

/// CUDA programming guide, "Technical Specifications per Compute Capability".
static int sharedBytesOptin(unsigned capability) {
  switch (capability) {
  case 75:
    return 64 << 10;
  case 80:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return 227 << 10;
  }
}

static int threadsPerMultiprocessor(unsigned capability) {
  switch (capability) {
  case 75:
    return 1024;
  case 86:
  case 89:
  case 120:
  case 121:
    return 1536;
  default:
    return 2048;
  }
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
    *value = threadsPerMultiprocessor(capability);
    return Success;
  case ComputeCapabilityMajor:
    *value = int(capability / 10);
    return Success;
  case ComputeCapabilityMinor:
    *value = int(capability % 10);
    return Success;
  case SharedBytesPerMultiprocessor:
    *value = sharedBytesOptin(capability) + 1024;
    return Success;
  case RegistersPerMultiprocessor:
    *value = 65536;
    return Success;
  case SharedBytesPerBlockOptin:
    *value = sharedBytesOptin(capability);
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

Result primaryCtxRetain(ContextHandle *context, DeviceId) {
  *context = &world().context;
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

Result ctxSynchronize() { return world().fatal; }

} // namespace simulated

bool simulateAndProfile(const std::string &target, uint64_t mostBlocks,
                        std::function<void(const ProfiledLaunch &)> tell) {
  simulated::World &world = simulated::world();
  if (world.isLoaded) {
    return false;
  }
  world.target = target;
  world.mostBlocks = mostBlocks;
  world.tell = std::move(tell);
  setSimulator(simulatedDriver, /*always=*/true);
  return true;
}

void installSimulator() { setSimulator(simulatedDriver); }

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
#define NEREID_CUDA(name, symbol, parameters) driver->name = simulated::name;
#include "nereid/Runtime/cuda/CudaDriver.def"
  driver->driverGetVersion(&driver->version);
  return std::unique_ptr<const Driver>(std::move(driver));
}

} // namespace nereid::cuda
