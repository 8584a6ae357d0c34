//===- GpuModule.cpp - From an image to a function of a device ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuModule.h"

#include "nereid/Support/AssemblerLog.h"

namespace nereid::gpu {

LoadedKernel::~LoadedKernel() {
  device.forEachStream([&](StreamState &stream) { stream.forget(*this); });
  if (module && device.makeCurrent().ok()) {
    device.driver.ctxSynchronize(); // it may be running
    device.driver.moduleUnload(module);
  }
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

namespace {

/// Options of the driver's assembler: names and values in two arrays, sizes
/// passed as pointers; and the logs that it writes.
class JitOptions {
public:
  explicit JitOptions(uint32_t maxRegisters) {
    add(JitInfoLogBuffer, info.data());
    add(JitInfoLogBytes, info.size() - 1);
    add(JitErrorLogBuffer, errors.data());
    add(JitErrorLogBytes, errors.size() - 1);
    add(JitLogVerbose, size_t{1});
    add(JitLineInfo, size_t{1});
    if (maxRegisters) {
      add(JitMaxRegisters, size_t{maxRegisters});
    }
  }

  std::vector<char> info = std::vector<char>(size_t{16} << 10);
  std::vector<char> errors = std::vector<char>(size_t{16} << 10);
  unsigned count = 0;
  int names[8] = {};
  void *values[8] = {};

private:
  void add(JitOption name, size_t value) {
    names[count] = name;
    values[count++] = reinterpret_cast<void *>(value);
  }
  void add(JitOption name, char *buffer) {
    names[count] = name;
    values[count++] = buffer;
  }
};

/// A link in progress; destroys itself, and with it the cubin.
struct Link {
  const Driver &driver;
  LinkHandle handle = nullptr;
  ~Link() {
    if (handle) {
      driver.linkDestroy(handle);
    }
  }
};

} // namespace

static std::string trimmed(const std::vector<char> &log) {
  std::string text(log.data());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

static Failure assemblerFailure(DeviceState &device, const KernelImage &image,
                                Result result, const JitOptions &options) {
  Failure failure = device.failure(
      result, "assembling kernel '" + image.kernel + "' for " + image.target);
  if (result == UnsupportedPtxVersion) {
    failure.message += "; a newer driver knows this version of PTX";
  } else if (result == InvalidPtx) {
    failure.code = ErrorCode::Internal;
  }
  std::string log = trimmed(options.errors);
  if (log.empty()) {
    log = trimmed(options.info);
  }
  if (!log.empty()) {
    failure.message += "\n" + log;
  }
  return failure;
}

/// The driver wants the NUL at the end of PTX.
static std::string textOf(const KernelImage &image) {
  return std::string(reinterpret_cast<const char *>(image.code.data()),
                     image.code.size());
}

Status assemble(DeviceState &device, KernelImage &image,
                uint32_t maxRegisters) {
  Status status = device.makeCurrent();
  if (!status.ok()) {
    return status;
  }
  JitOptions options(maxRegisters);
  std::string text = textOf(image);
  const Driver &driver = device.driver;
  Link link{driver};
  void *cubin = nullptr;
  size_t bytes = 0;
  Result result = driver.linkCreate(options.count, options.names,
                                    options.values, &link.handle);
  if (result == Success) {
    result = driver.linkAddData(link.handle, jitInputPtx, text.data(),
                                text.size() + 1, image.kernel.c_str(), 0,
                                nullptr, nullptr);
  }
  if (result == Success) {
    result = driver.linkComplete(link.handle, &cubin, &bytes);
  }
  if (result != Success) {
    return assemblerFailure(device, image, result, options);
  }
  image.spillBytes = readAssemblerLog(options.info.data()).spillBytes;
  auto *first = static_cast<const std::byte *>(cubin);
  image.code.assign(first, first + bytes);
  image.format = ImageFormat::GpuBinary;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

uint32_t dynamicSharedBytes(const DeviceState &device,
                            const KernelImage &image) {
  return device.isHip() ? 0 : image.sharedBytes;
}

static Status checkResources(const LoadedKernel &kernel,
                             const KernelImage &image) {
  const DeviceProperties &limits = kernel.device.properties;
  std::string name = kernel.name + " [" + image.target + "]: ";
  int staticShared = 0, threads = 0;
  const Driver &driver = kernel.device.driver;
  Status status =
      driver.check(driver.funcGetAttribute(&staticShared, StaticSharedBytes,
                                           kernel.function),
                   "reading a kernel's shared memory");
  if (status.ok()) {
    status = driver.check(
        driver.funcGetAttribute(&threads, MaxFunctionThreads, kernel.function),
        "reading a kernel's limits");
  }
  if (!status.ok()) {
    return status;
  }
  uint64_t shared = uint64_t{dynamicSharedBytes(kernel.device, image)} +
                    uint64_t(staticShared);
  if (shared > static_cast<uint64_t>(limits.sharedBytesOptin)) {
    return {ErrorCode::Unsupported,
            name + "needs " + std::to_string(shared) +
                " bytes of shared memory a block, and " + kernel.device.name() +
                " has " + std::to_string(limits.sharedBytesOptin) +
                "; use smaller blocks, or a smaller num_stages"};
  }
  int wanted = static_cast<int>(image.threadsPerBlock);
  int most = std::min(threads, limits.maxThreadsPerBlock);
  if (wanted > most) {
    return {ErrorCode::Unsupported,
            name + "has " + std::to_string(wanted) +
                " threads a block (num_warps=" +
                std::to_string(image.numWarps) + "), and with " +
                std::to_string(image.numRegisters) + " registers a thread " +
                kernel.device.name() + " runs at most " + std::to_string(most) +
                " threads; use a smaller num_warps, smaller blocks, or "
                "maxnreg"};
  }
  return Status::success();
}

/// Machine code, or PTX, which the driver assembles.
static Status loadModule(DeviceState &device, KernelImage &image,
                         uint32_t maxRegisters, ModuleHandle &module) {
  const Driver &driver = device.driver;
  if (device.isHip() && image.format != ImageFormat::GpuBinary) {
    return {ErrorCode::Unsupported,
            device.name() + ": kernel '" + image.kernel +
                "': expected a code object, got text of " + image.target};
  }
  if (image.format != ImageFormat::GpuAssembly) {
    std::string what = "loading kernel '" + image.kernel + "'";
    return device.check(driver.moduleLoadDataEx(&module, image.code.data(), 0,
                                                nullptr, nullptr),
                        what.c_str());
  }
  JitOptions options(maxRegisters);
  Result result =
      driver.moduleLoadDataEx(&module, textOf(image).c_str(), options.count,
                              options.names, options.values);
  if (result != Success) {
    return assemblerFailure(device, image, result, options);
  }
  // Nothing is said of what the driver finds in its cache.
  std::string log = trimmed(options.info);
  if (!log.empty()) {
    image.spillBytes = readAssemblerLog(log).spillBytes;
  }
  return Status::success();
}

Expected<std::shared_ptr<const LoadedKernel>>
load(DeviceState &device, KernelImage &image, uint32_t maxRegisters) {
  Status status = device.makeCurrent();
  if (!status.ok()) {
    return status;
  }
  auto kernel = std::make_shared<LoadedKernel>(device);
  kernel->name = image.kernel;
  kernel->parameters = image.parameters;
  const Driver &driver = device.driver;
  std::string what = "loading kernel '" + image.kernel + "'";
  status = loadModule(device, image, maxRegisters, kernel->module);
  if (status.ok()) {
    status =
        device.check(driver.moduleGetFunction(&kernel->function, kernel->module,
                                              image.entry.c_str()),
                     what.c_str());
  }
  int registers = 0, local = 0;
  if (status.ok()) {
    status = device.check(
        driver.funcGetAttribute(&registers, NumRegisters, kernel->function),
        what.c_str());
  }
  if (status.ok()) {
    status = device.check(
        driver.funcGetAttribute(&local, LocalBytes, kernel->function),
        what.c_str());
  }
  image.numRegisters = static_cast<uint32_t>(registers);
  image.localBytes = static_cast<uint32_t>(local);
  if (status.ok()) {
    status = checkResources(*kernel, image);
  }
  if (status.ok() &&
      dynamicSharedBytes(device, image) >
          static_cast<uint32_t>(device.properties.sharedBytesPerBlock)) {
    status = device.check(
        driver.funcSetAttribute(kernel->function, MaxDynamicSharedBytes,
                                static_cast<int>(image.sharedBytes)),
        "reserving shared memory");
  }
  if (!status.ok()) {
    return status;
  }
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

} // namespace nereid::gpu
