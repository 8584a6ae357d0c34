//===- SimulatedHip.cpp - A HIP library whose GPU is the simulator --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, streams, events and graphs are those of the simulated CUDA driver
// (SimulatedMemory.cpp), whose world this one shares: a fault of either ends
// both.
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"
#include "nereid/Sim/AMD/Counts/Profile.h"
#include "nereid/Support/Knobs.h"

#include <algorithm>
#include <cstring>

namespace nereid::gpu {

namespace {

using namespace simulated;

//===----------------------------------------------------------------------===//
// Options and the device
//===----------------------------------------------------------------------===//

/// A processor is a compute unit (CDNA), or a pair of them that shares its LDS
/// (RDNA): four SIMD units.
struct Architecture {
  std::string_view name;
  int sharedKiB;    ///< LDS of a workgroup, at most
  int allSharedKiB; ///< of a processor
  int sharedUnit;   ///< bytes of LDS that are given out together
  int registers;    ///< vector registers of a SIMD unit, each of a wave's lanes
  int registerUnit; ///< that are given out together
  int processors;   ///< of an MI210, MI300X, MI350X, RX 7900 XTX, RX 9070 XT
  int threads;      ///< resident on a processor
  int major, minor;
};

constexpr Architecture architectures[] = {
    {"gfx90a", 64, 64, 512, 512, 8, 104, 2048, 9, 0},
    {"gfx942", 64, 64, 512, 512, 8, 304, 2048, 9, 4},
    {"gfx950", 160, 160, 1280, 512, 8, 256, 2048, 9, 5},
    {"gfx1100", 64, 128, 1024, 1536, 24, 48, 2048, 11, 0},
    {"gfx1201", 64, 128, 1024, 1536, 24, 32, 2048, 12, 0},
};

struct HipOptions {
  Architecture architecture = architectures[1];
  bool checksRaces = false;
  uint64_t seed = 0;
};

HipOptions &hipOptions() {
  static HipOptions options;
  return options;
}

Expected<HipOptions> parseHipOptions(const std::string &text) {
  HipOptions options;
  size_t at = 0;
  while (at < text.size()) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    const auto *found =
        std::ranges::find(architectures, word, &Architecture::name);
    // What is for cuda devices is left to them.
    Expected<Options> shared = parseOptions(word);
    if (found != std::end(architectures)) {
      options.architecture = *found;
    } else if (shared.ok() && !word.empty() && !word.starts_with("gfx")) {
      options.checksRaces |= shared->checksRaces;
      options.seed = shared->seed ? shared->seed : options.seed;
    } else {
      std::string names;
      for (const Architecture &one : architectures) {
        names += std::string(one.name) + ", ";
      }
      return {ErrorCode::InvalidArgument,
              "NEREID_SIMULATOR: '" + word + "': for hip devices expected " +
                  names + "races or seed=N, with commas between"};
    }
  }
  return options;
}

Result versionOfHip(int *version) {
  *version = 60300000;
  return Success;
}

Result errorName(Result error, const char **text) {
  static constexpr std::pair<Result, const char *> names[] = {
      {Success, "hipSuccess"},
      {invalidValue, "hipErrorInvalidValue"},
      {OutOfMemory, "hipErrorOutOfMemory"},
      {NoBinaryForGpu, "hipErrorNoBinaryForGpu"},
      {notFound, "hipErrorNotFound"},
      {IllegalAddress, "hipErrorIllegalAddress"},
      {LaunchFailed, "hipErrorLaunchFailure"},
  };
  const auto *found =
      std::ranges::find(names, error, &std::pair<Result, const char *>::first);
  *text = found == std::end(names) ? "hipErrorUnknown" : found->second;
  return Success;
}

Result nameOfDevice(char *name, int bytes, DeviceId) {
  std::snprintf(name, size_t(bytes), "simulated %s",
                hipOptions().architecture.name.data());
  return Success;
}

/// The numbers are those of hipDeviceAttribute_t.
Result attributeOfDevice(int *value, int attribute, DeviceId) {
  const Architecture &gpu = hipOptions().architecture;
  const std::pair<int, int> values[] = {{23, gpu.major},
                                        {61, gpu.minor},
                                        {56, 1024},
                                        {57, gpu.threads},
                                        {63, gpu.processors},
                                        {74, gpu.sharedKiB << 10},
                                        {10002, gpu.allSharedKiB << 10}};
  const auto *found =
      std::ranges::find(values, attribute, &std::pair<int, int>::first);
  *value = found == std::end(values) ? 0 : found->second;
  return Success;
}

Result propertiesOfDevice(void *properties, DeviceId) {
  constexpr size_t size = 1472, nameOfArchitecture = 1160;
  std::memset(properties, 0, size);
  std::string_view name = hipOptions().architecture.name;
  std::memcpy(static_cast<char *>(properties) + nameOfArchitecture, name.data(),
              name.size());
  return Success;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

struct HipModule;

struct HipFunction {
  const HipModule &owner;
  const sim::amd::Kernel *kernel;
};

struct HipModule {
  std::shared_ptr<const sim::amd::Program> program;
  std::string object; ///< its bytes
  std::map<std::string, std::unique_ptr<HipFunction>> functions;
};

HipModule *moduleOf(ModuleHandle handle) {
  return reinterpret_cast<HipModule *>(handle);
}
const HipFunction &functionOf(FunctionHandle handle) {
  return *reinterpret_cast<HipFunction *>(handle);
}

/// The sections of an ELF file end with their table, as lld writes it.
size_t sizeOfElf(const unsigned char *file) {
  uint64_t place = 0;
  uint16_t entryBytes = 0, entries = 0;
  std::memcpy(&place, file + 40, sizeof(place));
  std::memcpy(&entryBytes, file + 58, sizeof(entryBytes));
  std::memcpy(&entries, file + 60, sizeof(entries));
  return place + size_t{entryBytes} * entries;
}

Result loadModule(ModuleHandle *module, const void *image, unsigned, int *,
                  void **) {
  const auto *file = static_cast<const unsigned char *>(image);
  constexpr unsigned char magic[] = {0x7f, 'E', 'L', 'F'};
  if (std::memcmp(file, magic, sizeof(magic))) {
    return NoBinaryForGpu;
  }
  std::span<const unsigned char> object(file, sizeOfElf(file));
  auto program = sim::amd::load(object);
  if (!program.ok()) {
    std::fprintf(stderr, "simulator: %s\n", program.failure().message.c_str());
    return NoBinaryForGpu;
  }
  if (sim::amd::targetOf(**program) != hipOptions().architecture.name) {
    return NoBinaryForGpu;
  }
  *module = reinterpret_cast<ModuleHandle>(
      new HipModule{*program, {object.begin(), object.end()}, {}});
  return Success;
}

Result unloadModule(ModuleHandle module) {
  delete moduleOf(module);
  return Success;
}

Result functionOfModule(FunctionHandle *function, ModuleHandle module,
                        const char *name) {
  HipModule &owner = *moduleOf(module);
  const sim::amd::Kernel *kernel = sim::amd::findKernel(*owner.program, name);
  if (!kernel) {
    return notFound;
  }
  auto &made = owner.functions[name];
  if (!made) {
    made = std::make_unique<HipFunction>(owner, kernel);
  }
  *function = reinterpret_cast<FunctionHandle>(made.get());
  return Success;
}

Result attributeOfFunction(int *value, int attribute, FunctionHandle function) {
  const sim::amd::Kernel &kernel = *functionOf(function).kernel;
  *value = attribute == MaxFunctionThreads  ? int(kernel.mostThreads)
           : attribute == StaticSharedBytes ? int(kernel.sharedBytes)
           : attribute == LocalBytes        ? int(kernel.privateBytes)
           : attribute == NumRegisters      ? int(kernel.vectorRegisters)
                                            : 0;
  return Success;
}

int roundUp(int value, int unit) { return (value + unit - 1) / unit * unit; }

Result residentBlocks(int *blocks, FunctionHandle function, int threads,
                      size_t sharedBytes) {
  constexpr int units = 4, mostGroups = 32;
  const Architecture &gpu = hipOptions().architecture;
  const sim::amd::Kernel &kernel = *functionOf(function).kernel;
  int lanes = int(kernel.lanes);
  int waves = std::max(roundUp(threads, lanes) / lanes, 1);
  int registers =
      roundUp(std::max(int(kernel.vectorRegisters), 1), gpu.registerUnit);
  int shared = roundUp(int(kernel.sharedBytes + sharedBytes), gpu.sharedUnit);
  *blocks = std::min({mostGroups, gpu.threads / lanes / waves,
                      gpu.registers / registers * units / waves});
  if (shared) {
    *blocks = std::min(*blocks, (gpu.allSharedKiB << 10) / shared);
  }
  return Success;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What a launch asks for, with its arguments as the kernarg segment has them.
struct HipLaunch {
  std::array<uint32_t, 3> grid, block;
  uint32_t sharedBytes;
  bool isCooperative;
  std::vector<unsigned char> arguments = {};
};

Result run(const HipFunction &function, const HipLaunch &launch) {
  const HipOptions &options = hipOptions();
  const HipModule &owner = function.owner;
  sim::amd::LaunchRequest request{*owner.program, *function.kernel,
                                  world().memory, launch.grid, launch.block};
  request.dynamicSharedBytes = launch.sharedBytes;
  request.arguments = launch.arguments;
  request.checksRaces = options.checksRaces;
  request.seed = options.seed;
  request.isCooperative = launch.isCooperative;
  // With a seed on one thread, so that the same seed gives the same order.
  request.workers = options.seed ? 1 : unsigned(thisMachine().cores);
  sim::amd::Profile profile;
  const World &all = world();
  if (all.onHipLaunch) {
    request.profile = &profile;
    request.sample = all.sample;
    if (launch.isCooperative) {
      request.sample.mostBlocks = 0;
    }
  }
  Status status = sim::amd::launch(request);
  if (status.ok()) {
    if (all.onHipLaunch) {
      all.onHipLaunch({*owner.program, *function.kernel, owner.object, profile,
                       launch.grid,
                       launch.block[0] * launch.block[1] * launch.block[2],
                       launch.sharedBytes});
    }
    return Success;
  }
  std::string line = "simulator: " + status.failure().message + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  bool isAddress = status.failure().message.find("illegal memory access") !=
                   std::string::npos;
  world().fatal = isAddress ? IllegalAddress : LaunchFailed;
  // As on a GPU the launch itself has succeeded; the next call tells.
  return Success;
}

Result launch(FunctionHandle handle, HipLaunch launch, StreamHandle stream,
              void **values) {
  const HipFunction &function = functionOf(handle);
  const sim::amd::Kernel &kernel = *function.kernel;
  auto [gridX, gridY, gridZ] = launch.grid;
  auto [blockX, blockY, blockZ] = launch.block;
  uint64_t threads = uint64_t{blockX} * blockY * blockZ;
  size_t shared = size_t{kernel.sharedBytes} + launch.sharedBytes;
  const Architecture &gpu = hipOptions().architecture;
  bool fits = threads && threads <= kernel.mostThreads && gridX && gridY &&
              gridZ && gridY < 65536 && gridZ < 65536 &&
              uint64_t{gridX} * blockX <= UINT32_MAX &&
              shared <= size_t(gpu.sharedKiB) << 10;
  if (!fits) {
    return invalidValue;
  }
  int resident = 0;
  residentBlocks(&resident, handle, int(threads), launch.sharedBytes);
  if (launch.isCooperative &&
      uint64_t{gridX} * gridY * gridZ > uint64_t(resident) * gpu.processors) {
    return CooperativeLaunchTooLarge;
  }
  size_t bytes = kernel.argumentBytes, i = 0;
  for (const sim::amd::KernelArgument &argument : kernel.arguments) {
    bytes = std::max<size_t>(bytes, argument.offset + argument.bytes);
  }
  launch.arguments.resize(bytes);
  for (const sim::amd::KernelArgument &argument : kernel.arguments) {
    if (!argument.isHidden()) {
      std::memcpy(&launch.arguments[argument.offset], values[i++],
                  argument.bytes);
    }
  }
  return enqueue(stream, [&function, launch = std::move(launch)] {
    return run(function, launch);
  });
}

Result launchHip(FunctionHandle function, unsigned gridX, unsigned gridY,
                 unsigned gridZ, unsigned blockX, unsigned blockY,
                 unsigned blockZ, unsigned sharedBytes, StreamHandle stream,
                 void **values, void **) {
  return launch(function,
                {{gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 /*isCooperative=*/false},
                stream, values);
}

Result launchHipTogether(FunctionHandle function, unsigned gridX,
                         unsigned gridY, unsigned gridZ, unsigned blockX,
                         unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                         StreamHandle stream, void **values) {
  return launch(function,
                {{gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 /*isCooperative=*/true},
                stream, values);
}

} // namespace

Expected<std::unique_ptr<const Driver>> simulatedHip() {
  const std::string &target = world().target;
  world().isLoaded = true;
  Expected<HipOptions> options =
      parseHipOptions(target.empty() ? processKnobs().simulator : target);
  if (!options.ok()) {
    return options.failure();
  }
  hipOptions() = *options;
  world().memoryBytes = thisMachine().memoryBytes;
  auto driver = std::make_unique<Driver>();
  driver->kind = Device::Kind::Hip;
  // Memory, streams, events and graphs as they are.
#define NEREID_GPU(name, cuda, hip, parameters) driver->name = simulated::name;
#define NEREID_GPU_CUDA(name, cuda, parameters)
#define NEREID_GPU_HIP(name, hip, parameters)
#include "nereid/Runtime/gpu/GpuDriver.def"
  driver->driverGetVersion = versionOfHip;
  driver->getErrorName = errorName;
  driver->deviceGetName = nameOfDevice;
  driver->deviceGetAttribute = attributeOfDevice;
  driver->deviceGetProperties = propertiesOfDevice;
  driver->moduleLoadDataEx = loadModule;
  driver->moduleUnload = unloadModule;
  driver->moduleGetFunction = functionOfModule;
  driver->funcGetAttribute = attributeOfFunction;
  driver->occupancyMaxActiveBlocks = residentBlocks;
  driver->launchKernel = launchHip;
  driver->launchCooperativeKernel = launchHipTogether;
  driver->driverGetVersion(&driver->version);
  driver->keepsExactBytes = true;
  return std::unique_ptr<const Driver>(std::move(driver));
}

} // namespace nereid::gpu
