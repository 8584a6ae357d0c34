//===- GpuExecutor.cpp - Programs on a GPU, or compiled for one -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is called directly: what is tested is the compiler, and a worker
// must not start the driver before it has been forked. Arrays go over with
// their guards, and another guard after them.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Executor.h"
#include "test/fuzz/Random.h"

#include "nereid/Conversion/TileToCPU/TileToCPU.h"
#include "nereid/Conversion/ToLLVM/ToLLVM.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/Pipeline/GpuPipeline.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/Sim/Program.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/AMDGPU/AmdgpuTarget.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"
#include "nereid/Target/NVPTX/Ptxas.h"

#include "mlir/Pass/PassManager.h"

#include <array>
#include <bit>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::fuzz {
namespace {

/// The first GPU of its kind in this process, started when first asked for.
struct Gpu {
  const gpu::Driver *driver = nullptr;
  std::string architecture;

  static Expected<Gpu> start(Device::Kind kind) {
    gpu::installSimulator();
    auto driver = gpu::loadDriver(kind);
    if (!driver.ok()) {
      return driver.status();
    }
    Gpu gpu;
    gpu.driver = *driver;
    gpu::DeviceId device = 0;
    gpu::ContextHandle context = nullptr;
    gpu::DeviceProperties properties;
    Status status =
        gpu.driver->check(gpu.driver->deviceGet(&device, 0), "finding the GPU");
    if (!status.ok()) {
      return status;
    }
    if (kind == Device::Kind::Hip) {
      auto architecture = gpu::readArchitecture(*gpu.driver, device);
      if (!architecture.ok()) {
        return architecture.status();
      }
      properties.architecture = *architecture;
    } else {
      gpu.driver->deviceGetAttribute(&properties.major,
                                     gpu::ComputeCapabilityMajor, device);
      gpu.driver->deviceGetAttribute(&properties.minor,
                                     gpu::ComputeCapabilityMinor, device);
    }
    gpu.architecture = properties.target();
    status = gpu.driver->check(gpu.driver->primaryCtxRetain(&context, device),
                               "opening the GPU");
    if (status.ok()) {
      status = gpu.driver->check(gpu.driver->ctxSetCurrent(context),
                                 "using the GPU");
    }
    if (!status.ok()) {
      return status;
    }
    return gpu;
  }
};

/// Why no GPU of `kind` starts here; empty if one does. A child asks, since a
/// process that has opened a GPU may not fork workers.
std::string whyNoGpu(Device::Kind kind) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) {
    return "no pipe to a child";
  }
  pid_t child = fork();
  if (child == 0) {
    auto started = Gpu::start(kind);
    std::string text = started.ok() ? "" : started.failure().str();
    bool isWritten = write(ends[1], text.data(), text.size()) >= 0;
    _exit(started.ok() && isWritten ? 0 : 1);
  }
  close(ends[1]);
  std::string reason;
  std::array<char, 256> part;
  for (ssize_t count; (count = read(ends[0], part.data(), part.size())) > 0;) {
    reason.append(part.data(), size_t(count));
  }
  close(ends[0]);
  int status = 1;
  if (child > 0) {
    waitpid(child, &status, 0);
  }
  return status == 0 || !reason.empty() ? reason : "opening a GPU failed";
}

/// Unsupported, with the reason, where this machine has no GPU of `kind`. Each
/// kind is looked for once in a process and its workers.
Status findGpu(Device::Kind kind) {
  static std::array<std::optional<std::string>, 2> reasons;
  std::optional<std::string> &reason = reasons[kind == Device::Kind::Hip];
  if (!reason) {
    reason = whyNoGpu(kind);
  }
  return reason->empty() ? Status::success()
                         : Status(ErrorCode::Unsupported, *reason);
}

/// An array on the GPU. A failure is fatal to the context, so to the process:
/// the fuzzer starts another.
class DeviceArray {
public:
  DeviceArray(const gpu::Driver &driver, GuardedArray &host)
      : driver(driver), host(host), bytes(host.wholeBytes()) {
    must(driver.memAlloc(&address, bytes + tail), "allocating");
    must(driver.memsetD8Async(address, 0xfe, bytes + tail, nullptr), "filling");
    must(driver.memcpyHtoDAsync(address, host.whole(), bytes, nullptr),
         "copying in");
  }
  ~DeviceArray() { driver.memFree(address); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  uint64_t first() const {
    return address + static_cast<uint64_t>(host.data() - host.whole());
  }
  /// False if something was written past the array.
  bool copyBack() {
    std::vector<unsigned char> behind(tail);
    must(driver.memcpyDtoHAsync(host.whole(), address, bytes, nullptr),
         "copying out");
    must(driver.memcpyDtoHAsync(behind.data(), address + bytes, tail, nullptr),
         "copying out");
    must(driver.ctxSynchronize(), "waiting");
    return llvm::all_of(behind, [](unsigned char c) { return c == 0xfe; });
  }

private:
  void must(gpu::Result result, const char *what) const {
    if (result != gpu::Success) {
      llvm::errs() << what << ": " << driver.describe(result) << "\n";
      std::abort(); // counted as the death of this program
    }
  }

  static constexpr size_t tail = 4096;
  const gpu::Driver &driver;
  GuardedArray &host;
  size_t bytes;
  gpu::DeviceAddress address = 0;
};

/// Owns a loaded module.
struct LoadedModule {
  const gpu::Driver &driver;
  gpu::ModuleHandle module = nullptr;
  gpu::FunctionHandle function = nullptr;
  ~LoadedModule() { driver.moduleUnload(module); }
};

class GpuExecutor : public Executor {
public:
  /// `architecture` to compile for, or "cuda" or "hip", whose first GPU runs
  /// the programs.
  GpuExecutor(std::string label, std::string architecture, unsigned warps,
              std::optional<unsigned> stages)
      : label(std::move(label)), architecture(std::move(architecture)),
        warps(warps), stages(stages) {}

  std::string name() const override { return label; }

  Expected<Prepared> prepare(mlir::ModuleOp module,
                             const std::string &) override {
    bool isHip = architecture == "hip";
    if ((isHip || architecture == "cuda") && !gpu) {
      auto started = Gpu::start(isHip ? Device::Kind::Hip : Device::Kind::Cuda);
      if (!started.ok()) {
        return started.status();
      }
      gpu = *started;
    }
    const std::string &compiledFor = gpu ? gpu->architecture : architecture;
    if (amdgpu::isArchitecture(compiledFor)) {
      return prepareCodeObject(module, compiledFor);
    }
    auto target = nvptx::resolve(compiledFor);
    if (!target.ok()) {
      return target.status();
    }
    GpuKernelInfo info;
    bool isFree = hasFreeOrder(module);
    auto ptx = compile(module, *target, info);
    if (!ptx.ok()) {
      return ptx.status();
    }
    Prepared prepared;
    prepared.assembly = *ptx;
    // What is too large for a block is for no executor to run.
    prepared.compileOnly =
        !gpu || !checkSharedMemory(info, target->info, info.entry).ok();
    if (!gpu) {
      Status status = assembleIfPossible(*ptx, target->name);
      if (status.ok() && target->computeCapability >= 75) {
        status = isSimulated(*ptx);
      }
      return status.ok() ? Expected<Prepared>(std::move(prepared)) : status;
    }
    if (prepared.compileOnly) {
      return prepared;
    }
    return load(std::move(prepared), ptx->c_str(), info, isFree);
  }

private:
  /// By ptxas, where it is installed and knows the architecture.
  static Status assembleIfPossible(const std::string &ptx,
                                   const std::string &architecture) {
    static const Expected<std::string> ptxas = nvptx::findPtxas();
    if (!ptxas.ok()) {
      return Status::success();
    }
    KernelImage image;
    image.format = ImageFormat::GpuAssembly;
    image.target = architecture;
    auto *bytes = reinterpret_cast<const std::byte *>(ptx.data());
    image.code.assign(bytes, bytes + ptx.size());
    Status status = nvptx::assemble(*ptxas, image);
    return !status.ok() && status.failure().code == ErrorCode::Unsupported
               ? Status::success()
               : status;
  }

  /// One to five, by the seed of the program.
  static unsigned stagesOf(mlir::ModuleOp module) {
    auto seed = kernelOf(module)->getAttrOfType<mlir::IntegerAttr>(seedAttr);
    return 1 + (seed ? Random(uint64_t(seed.getInt())).below(5) : 2);
  }

  static bool hasFreeOrder(mlir::ModuleOp module) {
    bool found = false;
    module.walk([&](tile::AtomicRMWOp op) {
      found |= op.getKind() == tile::AtomicKind::FAdd;
    });
    return found;
  }

  /// `image` on the GPU, to be run.
  Expected<Prepared> load(Prepared prepared, const char *image,
                          const GpuKernelInfo &info, bool isFree) {
    const gpu::Driver &driver = *gpu->driver;
    auto loaded = std::make_shared<LoadedModule>(LoadedModule{driver});
    Status status = driver.check(
        driver.moduleLoadDataEx(&loaded->module, image, 0, nullptr, nullptr),
        "loading");
    if (status.ok()) {
      status = driver.check(driver.moduleGetFunction(&loaded->function,
                                                     loaded->module,
                                                     info.entry.c_str()),
                            "finding the kernel");
    }
    if (!status.ok()) {
      return status;
    }
    // A code object states what it takes itself.
    uint32_t sharedBytes = 0;
    if (driver.funcSetAttribute) {
      sharedBytes = info.sharedBytes;
      driver.funcSetAttribute(loaded->function, gpu::MaxDynamicSharedBytes,
                              int(sharedBytes));
    }
    prepared.hasFreeOrder = isFree;
    prepared.run = [this, loaded, sharedBytes,
                    threads = info.threads](Arguments &arguments) {
      return run(*loaded, threads, sharedBytes, arguments);
    };
    return prepared;
  }

  /// For AMD's processors.
  Expected<Prepared> prepareCodeObject(mlir::ModuleOp module,
                                       const std::string &compiledFor) {
    auto target = amdgpu::resolve(compiledFor);
    if (!target.ok()) {
      return target.status();
    }
    GpuKernelInfo info;
    bool isFree = hasFreeOrder(module);
    if (Status status = lower(module, target->name, info); !status.ok()) {
      return status;
    }
    // LLVM has no place for more.
    bool fits = checkSharedMemory(info, target->info, info.entry).ok();
    Prepared prepared;
    prepared.compileOnly = !gpu || !fits;
    if (!fits) {
      return prepared;
    }
    auto object = amdgpu::emitCodeObject(module, *target, {info.sharedBytes});
    if (!object.ok()) {
      return object.status();
    }
    prepared.assembly = *object;
    return gpu ? load(std::move(prepared), object->data(), info, isFree)
               : Expected<Prepared>(std::move(prepared));
  }

  Expected<std::string> compile(mlir::ModuleOp module,
                                const nvptx::NvptxTarget &target,
                                GpuKernelInfo &info) {
    Status status = lower(module, target.name, info);
    return status.ok() ? nvptx::emitPtx(module, target)
                       : Expected<std::string>(status);
  }

  Status lower(mlir::ModuleOp module, const std::string &target,
               GpuKernelInfo &info) {
    GpuOptions options;
    options.target = target;
    options.warps = warps;
    options.stages = stages ? *stages : stagesOf(module);
    options.disabled = knobs().disable; // which policy is to blame?
    // The verifier runs after every pass.
    mlir::PassManager manager(module.getContext());
    tile::buildTilePipeline(manager);
    buildTileGPUPipeline(manager, options);
    buildGpuThreadsPipeline(manager, options);
    if (mlir::failed(manager.run(module))) {
      return Status(ErrorCode::Internal, "a pass failed");
    }
    auto threads = readGpuKernel(module);
    if (!threads.ok()) {
      return threads.status();
    }
    info = *threads;
    tile::expandMath(module, gpuMath());
    return convertToLLVM(module, machineDialects());
  }

  Status run(const LoadedModule &loaded, unsigned threads, uint32_t sharedBytes,
             Arguments &arguments) {
    std::vector<uint64_t> slots = arguments.slots;
    std::vector<std::unique_ptr<DeviceArray>> arrays;
    for (Arguments::Buffer &buffer : arguments.buffers) {
      arrays.push_back(
          std::make_unique<DeviceArray>(*gpu->driver, *buffer.array));
      slots[buffer.parameter] = arrays.back()->first();
    }
    std::vector<void *> pointers;
    for (uint64_t &slot : slots) {
      pointers.push_back(&slot);
    }
    Status status = gpu->driver->check(
        gpu->driver->launchKernel(loaded.function, arguments.grid[0],
                                  arguments.grid[1], arguments.grid[2], threads,
                                  1, 1, sharedBytes, nullptr, pointers.data(),
                                  nullptr),
        "launching");
    if (!status.ok()) {
      return status;
    }
    for (auto &array : arrays) {
      if (!array->copyBack()) {
        return {ErrorCode::Internal, "written past an array"};
      }
    }
    return Status::success();
  }

  std::string label, architecture;
  unsigned warps;
  std::optional<unsigned> stages;
  std::optional<Gpu> gpu;
};

} // namespace

Status isSimulated(const std::string &ptx) {
  auto module = sim::parsePtx(ptx);
  if (!module.ok()) {
    return module.status();
  }
  for (const sim::Entry &entry : (*module)->entries) {
    auto program = sim::decode(**module, entry, /*globals=*/0);
    if (!program.ok()) {
      return program.status();
    }
  }
  return Status::success();
}

Expected<std::unique_ptr<Executor>> makeGpuExecutor(const std::string &name) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  llvm::StringRef(name).split(parts, ':');
  unsigned warps = 0, stages = 0;
  bool isValid = parts.size() > 1 && parts.size() < 4 &&
                 !parts[1].getAsInteger(10, warps) &&
                 std::has_single_bit(warps) && warps <= 32;
  isValid &= parts.size() < 3 || !parts[2].getAsInteger(10, stages);
  if (!isValid) {
    return Status(ErrorCode::InvalidArgument,
                  "executor '" + name + "': expected " + parts[0].str() +
                      ":WARPS or " + parts[0].str() +
                      ":WARPS:STAGES, warps a power of two up to 32");
  }
  if (parts[0] == "cuda" || parts[0] == "hip") {
    Status status =
        findGpu(parts[0] == "hip" ? Device::Kind::Hip : Device::Kind::Cuda);
    if (!status.ok()) {
      return status;
    }
  }
  return std::unique_ptr<Executor>(new GpuExecutor(
      name, parts[0].str(), warps,
      parts.size() == 3 ? std::optional(stages) : std::nullopt));
}

} // namespace nereid::fuzz
