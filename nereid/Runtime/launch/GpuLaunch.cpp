//===- GpuLaunch.cpp - Programs of a grid on a GPU ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/GpuLaunch.h"

#include "nereid/Runtime/fault/Fault.h"
#include "nereid/Runtime/gpu/CudaTensorMap.h"
#include "nereid/Runtime/gpu/GpuCapture.h"
#include "nereid/Runtime/launch/LaunchErrors.h"

#include <algorithm>
#include <cstring>

namespace nereid {

using gpu::DeviceState;
using gpu::StreamState;

[[gnu::cold, gnu::noinline]] static Failure
gridTooLarge(const GpuLaunch &launch, int dimension) {
  return launchFailure(launch.binding.kernel,
                       "grid dimension " + std::to_string(dimension) + " is " +
                           std::to_string(launch.grid[dimension]) +
                           "; the limit of " +
                           (launch.specialization.gpu.isHip ? "hip" : "cuda") +
                           " devices is 65535",
                       "put the largest dimension first: it may have "
                       "2147483647 programs");
}

/// HIP counts the threads of a dimension in 32 bits.
static int64_t mostProgramsOfHip(const GpuEntry &entry) {
  return int64_t{UINT32_MAX} / std::max(entry.threads, 1u);
}

[[gnu::cold, gnu::noinline]] static Failure
tooManyThreads(const GpuLaunch &launch) {
  const GpuEntry &entry = launch.specialization.gpu;
  return launchFailure(
      launch.binding.kernel,
      "grid dimension 0 is " + std::to_string(launch.grid[0]) +
          "; the limit of hip devices is 4294967295 threads, " +
          std::to_string(mostProgramsOfHip(entry)) + " programs of " +
          std::to_string(entry.threads),
      "use a second dimension, larger blocks, or fewer warps");
}

/// launch_pdl. Where the driver or the GPU has no such launches, as HIP, this
/// one begins when those in front of it have ended, as gdc_wait then expects.
[[gnu::noinline]] static gpu::Result enqueueDependent(const GpuLaunch &launch,
                                                      StreamState &stream,
                                                      void **parameters) {
  const GpuEntry &entry = launch.specialization.gpu;
  const auto &grid = launch.grid;
  gpu::LaunchAttribute early = {
      gpu::LaunchAttribute::programmaticStreamSerialization, 0, {1}};
  gpu::LaunchConfig config = {static_cast<unsigned>(grid[0]),
                              static_cast<unsigned>(grid[1]),
                              static_cast<unsigned>(grid[2]),
                              entry.threads,
                              1,
                              1,
                              entry.sharedBytes,
                              stream.handle,
                              &early,
                              stream.takesDependentLaunches() ? 1u : 0u};
  return stream.device.driver.launchKernelEx(&config, entry.function,
                                             parameters, nullptr);
}

[[gnu::cold, gnu::noinline]] static gpu::Result
enqueueCooperative(const GpuLaunch &launch, StreamState &stream,
                   void **parameters) {
  const GpuEntry &entry = launch.specialization.gpu;
  const auto &grid = launch.grid;
  return stream.device.driver.launchCooperativeKernel(
      entry.function, static_cast<unsigned>(grid[0]),
      static_cast<unsigned>(grid[1]), static_cast<unsigned>(grid[2]),
      entry.threads, 1, 1, entry.sharedBytes, stream.handle, parameters);
}

static gpu::Result enqueue(const GpuLaunch &launch, StreamState &stream,
                           void **parameters) {
  const GpuEntry &entry = launch.specialization.gpu;
  const auto &grid = launch.grid;
  if (launch.binding.options.cooperativeGrid) [[unlikely]] {
    return enqueueCooperative(launch, stream, parameters);
  }
  if (launch.binding.options.dependentLaunch && !entry.isHip) {
    return enqueueDependent(launch, stream, parameters);
  }
  return stream.device.driver.launchKernel(
      entry.function, static_cast<unsigned>(grid[0]),
      static_cast<unsigned>(grid[1]), static_cast<unsigned>(grid[2]),
      entry.threads, 1, 1, entry.sharedBytes, stream.handle, parameters,
      nullptr);
}

[[gnu::cold, gnu::noinline]] static void keepForGraph(const GpuLaunch &launch,
                                                      gpu::Capture &graph) {
  graph.keep(launch.specialization.loaded);
}

/// launch_cooperative_grid of more programs than the GPU holds.
static Failure tooManyAtOnce(const GpuLaunch &launch) {
  const gpu::LoadedKernel &kernel = *launch.specialization.gpu.kernel;
  const DeviceState &device = kernel.device;
  int blocks = 0;
  device.driver.occupancyMaxActiveBlocks(
      &blocks, kernel.function,
      static_cast<int>(launch.specialization.gpu.threads),
      launch.specialization.gpu.sharedBytes);
  const auto &grid = launch.grid;
  Failure failure = launchFailure(
      launch.binding.kernel,
      "launch option 'launch_cooperative_grid': expected at most " +
          std::to_string(blocks * device.properties.multiprocessors) +
          " programs, which " + device.name() + " can run at once, got " +
          std::to_string(int64_t{grid[0]} * grid[1] * grid[2]),
      "use a smaller grid, or fewer warps, registers or shared memory");
  failure.code = ErrorCode::Unsupported;
  return failure;
}

static Status enqueued(const GpuLaunch &launch, StreamState &stream) {
  stream.remember(*launch.specialization.gpu.kernel, launch.grid, launch.slots,
                  launch.slotCount);
  if (gpu::Capture *graph = stream.capture.load(std::memory_order_relaxed))
      [[unlikely]] {
    keepForGraph(launch, *graph);
  }
  return Status::success();
}

[[gnu::cold, gnu::noinline]] static Status refused(const GpuLaunch &launch,
                                                   StreamState &stream,
                                                   void **parameters,
                                                   gpu::Result result) {
  DeviceState &device = stream.device;
  if (result == gpu::InvalidContext || result == gpu::InvalidHandle) {
    // The caller has made another context current since.
    Status status = device.makeCurrent();
    result = status.ok() ? enqueue(launch, stream, parameters) : result;
  }
  if (result == gpu::CooperativeLaunchTooLarge) {
    return tooManyAtOnce(launch);
  }
  if (result != gpu::Success) {
    std::string what =
        "launching kernel '" + launch.binding.kernel.description.name + "'";
    return device.failure(result, what, &stream);
  }
  return enqueued(launch, stream);
}

/// The legacy default stream is that of the current context, whichever it is.
[[gnu::cold, gnu::noinline]] static Status
submitToLegacyStream(const GpuLaunch &launch, StreamState &stream,
                     void **parameters) {
  Status status = stream.device.makeCurrent();
  if (!status.ok()) {
    return status;
  }
  gpu::Result result = enqueue(launch, stream, parameters);
  return result == gpu::Success ? enqueued(launch, stream)
                                : refused(launch, stream, parameters, result);
}

static Status submit(const GpuLaunch &launch, StreamState &stream,
                     void **parameters) {
  if (!stream.handle) [[unlikely]] {
    return submitToLegacyStream(launch, stream, parameters);
  }
  stream.device.assumeCurrent();
  gpu::Result result = enqueue(launch, stream, parameters);
  if (result != gpu::Success) [[unlikely]] {
    return refused(launch, stream, parameters, result);
  }
  return enqueued(launch, stream);
}

//===----------------------------------------------------------------------===//
// Launches with checks
//===----------------------------------------------------------------------===//

namespace {
/// A DeviceFault and the ranges after it, in pinned memory.
class FaultRecord {
public:
  explicit FaultRecord(DeviceState &device) : device(device) {}
  ~FaultRecord() {
    if (memory) {
      device.driver.memFreeHost(memory);
    }
  }
  FaultRecord(const FaultRecord &) = delete;
  FaultRecord &operator=(const FaultRecord &) = delete;

  Status prepare(const std::vector<AddressRange> &ranges) {
    size_t rangeBytes = ranges.size() * sizeof(AddressRange);
    Status status = device.check(
        device.driver.memHostAlloc(&memory, sizeof(DeviceFault) + rangeBytes,
                                   gpu::hostPortableMapped),
        "allocating the record of failed checks");
    if (status.ok()) {
      status = device.check(
          device.driver.memHostGetDevicePointer(&address, memory, 0),
          "mapping the record of failed checks");
    }
    if (!status.ok()) {
      return status;
    }
    DeviceFault fault = {};
    fault.rangeCount = static_cast<uint32_t>(ranges.size());
    fault.ranges = address + sizeof(DeviceFault);
    std::memcpy(memory, &fault, sizeof(fault));
    std::memcpy(static_cast<std::byte *>(memory) + sizeof(fault), ranges.data(),
                rangeBytes);
    return Status::success();
  }

  uint64_t address = 0; ///< as the device sees it

  std::optional<Fault> read() const {
    DeviceFault fault;
    std::memcpy(&fault, memory, sizeof(fault));
    if (fault.state != DeviceFault::Written) {
      return std::nullopt;
    }
    return Fault{fault.site,
                 fault.element,
                 fault.value,
                 {fault.programId[0], fault.programId[1], fault.programId[2]}};
  }

private:
  DeviceState &device;
  void *memory = nullptr;
};
} // namespace

/// Takes what it needs again each time: checks cost more than that.
[[gnu::cold, gnu::noinline]] static Status
launchChecked(const GpuLaunch &launch, StreamState &stream) {
  if (stream.capture) {
    return {ErrorCode::Unsupported,
            launch.binding.kernel.description.name +
                ": a kernel with checks (NEREID_CHECK, debug) cannot be part "
                "of a graph"};
  }
  std::vector<AddressRange> ranges;
  if (launch.binding.options.checks & CheckBounds) {
    ranges = tensorRanges(launch.binding);
  }
  Status status = stream.device.makeCurrent();
  FaultRecord record(stream.device);
  if (status.ok()) {
    status = record.prepare(ranges);
  }
  if (!status.ok()) {
    return status;
  }
  std::vector<void *> parameters;
  for (size_t i = 0; i < launch.slotCount; ++i) {
    parameters.push_back(const_cast<uint64_t *>(&launch.slots[i]));
  }
  parameters.push_back(&record.address);
  status = submit(launch, stream, parameters.data());
  if (status.ok()) {
    status = stream.synchronize();
  }
  if (!status.ok()) {
    return status;
  }
  if (std::optional<Fault> fault = record.read()) {
    return faultFailure(launch.binding, launch.specialization, *fault);
  }
  return Status::success();
}

static void pointTo(const GpuLaunch &launch, void **parameters) {
  for (size_t i = 0; i < launch.slotCount; ++i) {
    // The driver reads a parameter's own size; the slot is little endian.
    parameters[i] = const_cast<uint64_t *>(&launch.slots[i]);
  }
}

[[gnu::cold, gnu::noinline]] static Status submitMany(const GpuLaunch &launch,
                                                      StreamState &stream) {
  std::vector<void *> parameters(launch.slotCount);
  pointTo(launch, parameters.data());
  return submit(launch, stream, parameters.data());
}

/// With a tensor map for each of the image's, after the other parameters.
[[gnu::noinline]] static Status launchWithMaps(const GpuLaunch &launch,
                                               StreamState &stream) {
  const KernelImage &image = launch.specialization.loaded->image;
  size_t count = image.tensorMaps.size();
  gpu::TensorMap inlineMaps[4];
  void *inlineParameters[64];
  std::vector<gpu::TensorMap> moreMaps;
  std::vector<void *> moreParameters;
  gpu::TensorMap *maps = inlineMaps;
  void **parameters = inlineParameters;
  if (count > std::size(inlineMaps) ||
      launch.slotCount + count > std::size(inlineParameters)) [[unlikely]] {
    moreMaps.resize(count);
    moreParameters.resize(launch.slotCount + count);
    maps = moreMaps.data();
    parameters = moreParameters.data();
  }
  pointTo(launch, parameters);
  for (size_t i = 0; i < count; ++i) {
    Status status = gpu::makeTensorMap(image, image.tensorMaps[i], launch.slots,
                                       stream.device, maps[i]);
    if (!status.ok()) {
      return status;
    }
    parameters[launch.slotCount + i] = &maps[i];
  }
  return submit(launch, stream, parameters);
}

Status launchOnGpu(const GpuLaunch &launch) {
  for (int dimension : {1, 2}) {
    if (launch.grid[dimension] > 65535) [[unlikely]] {
      return gridTooLarge(launch, dimension);
    }
  }
  const GpuEntry &entry = launch.specialization.gpu;
  if (entry.isHip && launch.grid[0] > mostProgramsOfHip(entry)) [[unlikely]] {
    return tooManyThreads(launch);
  }
  StreamState &stream = entry.device->currentStream();
  if (entry.hasFaultRecord) [[unlikely]] {
    return launchChecked(launch, stream);
  }
  if (entry.hasTensorMaps) {
    return launchWithMaps(launch, stream);
  }
  void *parameters[64];
  if (launch.slotCount > std::size(parameters)) [[unlikely]] {
    return submitMany(launch, stream);
  }
  pointTo(launch, parameters);
  return submit(launch, stream, parameters);
}

} // namespace nereid
