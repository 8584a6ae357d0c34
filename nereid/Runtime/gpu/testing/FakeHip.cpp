//===- FakeHip.cpp - A HIP library without a GPU --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same world under HIP's names, with what HIP has of its own: attributes by
// other numbers, the architecture's name in the properties, device 0 current on
// every thread from the start, code objects instead of PTX, whose LDS is stated
// in them. Calls are counted by HIP's names, and by those of CUDA that they
// lead to. FakeDriver::failNext knows both.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/FakeWorld.h"

#include <cstdio>
#include <cstring>
#include <string_view>

using namespace nereid::gpu;

namespace {

constexpr Result invalidDevice = 101, invalidImage = 200,
                 invalidConfiguration = 9;

/// The calling thread's device of HIP.
thread_local ContextHandle currentOfHip = nullptr;

ContextHandle currentDevice() {
  return currentOfHip ? currentOfHip : &world().contexts[devicesOfKind];
}

/// What is current for CUDA is HIP's while one of these exists.
class HipCall {
public:
  explicit HipCall(const char *symbol)
      : before(std::exchange(current, currentDevice())) {
    std::lock_guard lock(world().mutex);
    ++fakeDriver().calls[symbol];
  }
  ~HipCall() { current = before; }
  HipCall(const HipCall &) = delete;
  HipCall &operator=(const HipCall &) = delete;

private:
  ContextHandle before;
};

/// The name before ".kd", a descriptor's, in a real code object; empty in
/// others. The table of sections is the end of an ELF file.
std::string kernelOf(const char *file) {
  constexpr int classOf64Bits = 2;
  constexpr char descriptor[] = ".kd";
  if (file[4] != classOf64Bits) {
    return "";
  }
  uint64_t table = 0;
  uint16_t entryBytes = 0, entries = 0;
  std::memcpy(&table, file + 40, sizeof(table));
  std::memcpy(&entryBytes, file + 58, sizeof(entryBytes));
  std::memcpy(&entries, file + 60, sizeof(entries));
  std::string_view all(file, table + size_t{entryBytes} * entries);
  size_t end = all.find({descriptor, sizeof(descriptor)}); // with its NUL
  if (end == all.npos) {
    return "";
  }
  size_t begin = all.rfind('\0', end) + 1;
  return std::string(all.substr(begin, end - begin));
}

} // namespace

extern "C" {

// Of the other files.
Result cuCtxSynchronize();
Result cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                          unsigned count, int *names, void **values);
Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes,
                      StreamHandle stream, void **parameters, void **extra);
Result cuMemAlloc_v2(DeviceAddress *address, size_t bytes);
Result cuMemFree_v2(DeviceAddress address);
Result cuMemGetInfo_v2(size_t *available, size_t *total);
Result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
Result cuMemHostGetDevicePointer_v2(DeviceAddress *address, void *memory,
                                    unsigned flags);
Result cuMemFreeHost(void *memory);
Result cuMemcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                     StreamHandle stream);
Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void *from, size_t bytes,
                            StreamHandle stream);
Result cuMemcpyDtoHAsync_v2(void *to, DeviceAddress from, size_t bytes,
                            StreamHandle stream);
Result cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t bytes,
                       StreamHandle stream);
Result cuMemsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                        StreamHandle stream);
Result cuMemsetD32Async(DeviceAddress to, unsigned value, size_t count,
                        StreamHandle stream);
Result cuStreamCreate(StreamHandle *stream, unsigned flags);
Result cuStreamDestroy_v2(StreamHandle stream);
Result cuStreamSynchronize(StreamHandle stream);
Result cuStreamQuery(StreamHandle stream);
Result cuStreamWaitEvent(StreamHandle stream, EventHandle event,
                         unsigned flags);
Result cuStreamBeginCapture_v2(StreamHandle stream, int mode);
Result cuStreamEndCapture(StreamHandle stream, GraphHandle *graph);
Result cuEventCreate(EventHandle *event, unsigned flags);
Result cuEventDestroy_v2(EventHandle event);
Result cuEventRecord(EventHandle event, StreamHandle stream);
Result cuEventSynchronize(EventHandle event);
Result cuEventQuery(EventHandle event);
Result cuEventElapsedTime(float *ms, EventHandle start, EventHandle end);
Result cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                   unsigned long long flags);
Result cuGraphGetNodes(GraphHandle graph, GraphNodeHandle *nodes,
                       size_t *count);
Result cuGraphLaunch(GraphExecHandle exec, StreamHandle stream);
Result cuGraphDestroy(GraphHandle graph);
Result cuGraphExecDestroy(GraphExecHandle exec);
Result cuModuleUnload(ModuleHandle module);
Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                           const char *name);
Result cuFuncGetAttribute(int *value, int attribute, FunctionHandle function);
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                   FunctionHandle function,
                                                   int threads,
                                                   size_t sharedBytes);

Result hipInit(unsigned) { return Success; }

Result hipDriverGetVersion(int *version) {
  *version = fakeDriver().hipVersion;
  return Success;
}

Result hipDrvGetErrorName(Result error, const char **text) {
  *text = error == IllegalAddress ? "hipErrorIllegalAddress"
          : error == OutOfMemory  ? "hipErrorOutOfMemory"
          : error == invalidImage ? "hipErrorInvalidImage"
                                  : "hipErrorOther";
  return Success;
}

Result hipDrvGetErrorString(Result, const char **text) {
  *text = "as the fake library says";
  return Success;
}

Result hipGetDeviceCount(int *count) {
  *count = devicesOfKind;
  return Success;
}

Result hipDeviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal < devicesOfKind ? Success : invalidDevice;
}

Result hipDeviceGetName(char *name, int bytes, DeviceId) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake Instinct");
  return Success;
}

/// The numbers are those of hipDeviceAttribute_t.
Result hipDeviceGetAttribute(int *value, int attribute, DeviceId device) {
  constexpr int l2CacheSize = 19, major = 23, minor = 61,
                maxThreadsPerBlock = 56, maxThreadsPerMultiprocessor = 57,
                multiprocessorCount = 63, registers = 72,
                maxSharedMemoryPerBlock = 74, sharedMemPerMultiprocessor = 76,
                maxSharedMemoryPerMultiprocessor = 10002;
  const std::map<int, int> values = {
      {l2CacheSize, 4 << 20},
      {major, device ? 11 : 9},
      {minor, device ? 0 : 4},
      {maxThreadsPerBlock, 1024},
      {maxThreadsPerMultiprocessor, 2048},
      {multiprocessorCount, 4},
      {registers, 65536},
      {maxSharedMemoryPerBlock, 64 << 10},
      {sharedMemPerMultiprocessor, 4 * (64 << 10)},
      {maxSharedMemoryPerMultiprocessor, 64 << 10}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return Success;
}

Result hipGetDevicePropertiesR0600(void *properties, DeviceId device) {
  constexpr size_t size = 1472, nameOfArchitecture = 1160, length = 256;
  auto *bytes = static_cast<char *>(properties);
  std::memset(bytes, 0, size);
  std::snprintf(bytes + nameOfArchitecture, length, "%s",
                fakeDriver().architectures[device].c_str());
  return Success;
}

Result hipDeviceTotalMem(size_t *bytes, DeviceId) {
  *bytes = fakeDriver().memoryBytes;
  return Success;
}

Result hipDevicePrimaryCtxRetain(ContextHandle *context, DeviceId device) {
  *context = &world().contexts[devicesOfKind + device];
  return Success;
}

Result hipDevicePrimaryCtxRelease(DeviceId) { return Success; }

Result hipCtxSetCurrent(ContextHandle context) {
  HipCall call("hipCtxSetCurrent");
  currentOfHip = context;
  return Success;
}

Result hipCtxGetCurrent(ContextHandle *context) {
  HipCall call("hipCtxGetCurrent");
  *context = currentDevice();
  return Success;
}

Result hipDeviceSynchronize() {
  HipCall call("hipDeviceSynchronize");
  return cuCtxSynchronize();
}

/// No option, and an ELF file: one that a test wrote, in which the kernel's
/// name stands as in PTX, or a real code object.
Result hipModuleLoadDataEx(ModuleHandle *module, const void *image,
                           unsigned count, int *, void **) {
  HipCall call("hipModuleLoadDataEx");
  const auto *file = static_cast<const char *>(image);
  constexpr char magic[] = "\x7f"
                           "ELF";
  if (count) {
    return invalidValue;
  }
  if (std::memcmp(file, magic, sizeof(magic) - 1)) {
    return invalidImage;
  }
  if (std::string name = kernelOf(file); !name.empty()) {
    *module = new ModuleObject{std::move(name)};
    return Success;
  }
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

Result hipModuleLaunchKernel(FunctionHandle function, unsigned gridX,
                             unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ,
                             unsigned sharedBytes, StreamHandle stream,
                             void **parameters, void **extra) {
  HipCall call("hipModuleLaunchKernel");
  if (uint64_t{gridX} * blockX > UINT32_MAX) {
    return invalidConfiguration;
  }
  return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                        sharedBytes, stream, parameters, extra);
}

Result hipModuleLaunchCooperativeKernel(FunctionHandle function, unsigned gridX,
                                        unsigned gridY, unsigned gridZ,
                                        unsigned blockX, unsigned blockY,
                                        unsigned blockZ, unsigned sharedBytes,
                                        StreamHandle stream,
                                        void **parameters) {
  HipCall call("hipModuleLaunchCooperativeKernel");
  return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                        sharedBytes, stream, parameters, nullptr);
}

//===----------------------------------------------------------------------===//
// Alike
//===----------------------------------------------------------------------===//

Result hipMalloc(DeviceAddress *address, size_t bytes) {
  HipCall call("hipMalloc");
  return cuMemAlloc_v2(address, bytes);
}

Result hipFree(DeviceAddress address) {
  HipCall call("hipFree");
  return cuMemFree_v2(address);
}

Result hipMemGetInfo(size_t *available, size_t *total) {
  HipCall call("hipMemGetInfo");
  return cuMemGetInfo_v2(available, total);
}

Result hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
  HipCall call("hipHostMalloc");
  return cuMemHostAlloc(memory, bytes, flags);
}

Result hipHostGetDevicePointer(DeviceAddress *address, void *memory,
                               unsigned flags) {
  HipCall call("hipHostGetDevicePointer");
  return cuMemHostGetDevicePointer_v2(address, memory, flags);
}

Result hipHostFree(void *memory) {
  HipCall call("hipHostFree");
  return cuMemFreeHost(memory);
}

Result hipMemcpyDtoDAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                          StreamHandle stream) {
  HipCall call("hipMemcpyDtoDAsync");
  return cuMemcpyAsync(to, from, bytes, stream);
}

Result hipMemcpyHtoDAsync(DeviceAddress to, const void *from, size_t bytes,
                          StreamHandle stream) {
  HipCall call("hipMemcpyHtoDAsync");
  return cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
}

Result hipMemcpyDtoHAsync(void *to, DeviceAddress from, size_t bytes,
                          StreamHandle stream) {
  HipCall call("hipMemcpyDtoHAsync");
  return cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
}

Result hipMemsetD8Async(DeviceAddress to, unsigned char value, size_t bytes,
                        StreamHandle stream) {
  HipCall call("hipMemsetD8Async");
  return cuMemsetD8Async(to, value, bytes, stream);
}

Result hipMemsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                         StreamHandle stream) {
  HipCall call("hipMemsetD16Async");
  return cuMemsetD16Async(to, value, count, stream);
}

Result hipMemsetD32Async(DeviceAddress to, unsigned value, size_t count,
                         StreamHandle stream) {
  HipCall call("hipMemsetD32Async");
  return cuMemsetD32Async(to, value, count, stream);
}

Result hipStreamCreateWithFlags(StreamHandle *stream, unsigned flags) {
  HipCall call("hipStreamCreateWithFlags");
  return cuStreamCreate(stream, flags);
}

Result hipStreamDestroy(StreamHandle stream) {
  HipCall call("hipStreamDestroy");
  return cuStreamDestroy_v2(stream);
}

Result hipStreamSynchronize(StreamHandle stream) {
  HipCall call("hipStreamSynchronize");
  return cuStreamSynchronize(stream);
}

Result hipStreamQuery(StreamHandle stream) {
  HipCall call("hipStreamQuery");
  return cuStreamQuery(stream);
}

Result hipStreamWaitEvent(StreamHandle stream, EventHandle event,
                          unsigned flags) {
  HipCall call("hipStreamWaitEvent");
  return cuStreamWaitEvent(stream, event, flags);
}

Result hipStreamBeginCapture(StreamHandle stream, int mode) {
  HipCall call("hipStreamBeginCapture");
  return cuStreamBeginCapture_v2(stream, mode);
}

Result hipStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  HipCall call("hipStreamEndCapture");
  return cuStreamEndCapture(stream, graph);
}

Result hipEventCreateWithFlags(EventHandle *event, unsigned flags) {
  HipCall call("hipEventCreateWithFlags");
  return cuEventCreate(event, flags);
}

Result hipEventDestroy(EventHandle event) {
  HipCall call("hipEventDestroy");
  return cuEventDestroy_v2(event);
}

Result hipEventRecord(EventHandle event, StreamHandle stream) {
  HipCall call("hipEventRecord");
  return cuEventRecord(event, stream);
}

Result hipEventSynchronize(EventHandle event) {
  HipCall call("hipEventSynchronize");
  return cuEventSynchronize(event);
}

Result hipEventQuery(EventHandle event) {
  HipCall call("hipEventQuery");
  return cuEventQuery(event);
}

Result hipEventElapsedTime(float *ms, EventHandle start, EventHandle end) {
  HipCall call("hipEventElapsedTime");
  return cuEventElapsedTime(ms, start, end);
}

Result hipGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                    unsigned long long flags) {
  HipCall call("hipGraphInstantiateWithFlags");
  return cuGraphInstantiateWithFlags(exec, graph, flags);
}

Result hipGraphGetNodes(GraphHandle graph, GraphNodeHandle *nodes,
                        size_t *count) {
  HipCall call("hipGraphGetNodes");
  return cuGraphGetNodes(graph, nodes, count);
}

Result hipGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  HipCall call("hipGraphLaunch");
  return cuGraphLaunch(exec, stream);
}

Result hipGraphDestroy(GraphHandle graph) {
  HipCall call("hipGraphDestroy");
  return cuGraphDestroy(graph);
}

Result hipGraphExecDestroy(GraphExecHandle exec) {
  HipCall call("hipGraphExecDestroy");
  return cuGraphExecDestroy(exec);
}

Result hipModuleUnload(ModuleHandle module) {
  HipCall call("hipModuleUnload");
  return cuModuleUnload(module);
}

Result hipModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                            const char *name) {
  HipCall call("hipModuleGetFunction");
  return cuModuleGetFunction(function, module, name);
}

Result hipFuncGetAttribute(int *value, int attribute, FunctionHandle function) {
  HipCall call("hipFuncGetAttribute");
  return cuFuncGetAttribute(value, attribute, function);
}

Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, FunctionHandle function, int threads, size_t sharedBytes) {
  HipCall call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads,
                                                     sharedBytes);
}

} // extern "C"
