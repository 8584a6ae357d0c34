//===- FakeDriver.cpp - A CUDA driver without a GPU -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cuda/FakeDriver.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <sys/mman.h>

using namespace nereid::cuda;

namespace nereid::cuda {

struct ContextObject {
  int device;
};

struct StreamObject {
  std::deque<std::function<void()>> work;
  bool capturing = false;
  std::vector<std::function<void()>> captured;
};

struct EventObject {
  StreamHandle stream = nullptr;
  uint64_t recorded = 0, reached = 0;
  double milliseconds = 0;
};

struct GraphObject {
  std::vector<std::function<void()>> work;
};
struct GraphExecObject {
  std::vector<std::function<void()>> work;
};

struct LinkObject {
  char *info = nullptr, *errors = nullptr;
  std::string text;
};

struct ModuleObject {
  std::string entry;
};
struct FunctionObject {
  std::string entry;
};

} // namespace nereid::cuda

namespace {

constexpr int deviceCount = 2;
constexpr size_t arenaBytes = size_t{1} << 30; // of addresses, not of memory
constexpr Result invalidValue = 1, captureUnsupported = 900;

struct World {
  std::recursive_mutex mutex;
  std::byte *arena = nullptr; // that of device 1 follows that of device 0
  std::map<DeviceAddress, size_t> blocks[deviceCount];
  ContextObject contexts[deviceCount] = {{0}, {1}};
  StreamObject legacy;
  std::set<StreamHandle> streams;
  std::map<std::byte *, size_t> pinned;
  std::map<std::string, FunctionObject> functions;
  uint64_t events = 0;

  World() {
    arena = static_cast<std::byte *>(
        ::mmap(nullptr, deviceCount * arenaBytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    streams.insert(&legacy);
  }
};

World &world() {
  static World *instance = new World;
  return *instance;
}

thread_local ContextHandle current = nullptr;

/// Counts the call; what it must return at once, or Success.
Result enter(const char *symbol) {
  FakeDriver &driver = fakeDriver();
  ++driver.calls[symbol];
  if (driver.fatal) {
    return driver.fatal;
  }
  auto planned = driver.failNext.find(symbol);
  if (planned == driver.failNext.end()) {
    return Success;
  }
  Result result = planned->second;
  driver.failNext.erase(planned);
  return result;
}

StreamObject &streamOf(StreamHandle handle) {
  return handle ? *handle : world().legacy;
}

/// The devices' memory can be touched while one of these exists.
class OpenMemory {
public:
  OpenMemory() {
    if (!depth++) {
      protect(PROT_READ | PROT_WRITE);
    }
  }
  ~OpenMemory() {
    if (!--depth) {
      protect(PROT_NONE);
    }
  }

private:
  static void protect(int access) {
    ::mprotect(world().arena, deviceCount * arenaBytes, access);
  }
  static inline int depth = 0;
};

/// Runs the stream's oldest piece of work.
void runOne(StreamObject &stream) {
  OpenMemory open;
  auto piece = std::move(stream.work.front());
  stream.work.pop_front();
  piece();
}

Result drain(StreamObject &stream) {
  if (!stream.work.empty()) {
    OpenMemory open;
    while (!stream.work.empty() && !fakeDriver().fatal) {
      runOne(stream);
    }
  }
  return fakeDriver().fatal;
}

Result drainAll() {
  for (StreamHandle stream : world().streams) {
    drain(*stream);
  }
  return fakeDriver().fatal;
}

void push(StreamHandle handle, std::function<void()> piece) {
  StreamObject &stream = streamOf(handle);
  if (stream.capturing) {
    stream.captured.push_back(std::move(piece));
  } else {
    stream.work.push_back(std::move(piece));
  }
}

bool isPinned(const void *memory) {
  auto *p = static_cast<std::byte *>(const_cast<void *>(memory));
  auto after = world().pinned.upper_bound(p);
  return after != world().pinned.begin() &&
         p < std::prev(after)->first + std::prev(after)->second;
}

/// Is it all inside one allocation?
bool isDeviceMemory(DeviceAddress address, size_t bytes) {
  for (auto &blocks : world().blocks) {
    auto after = blocks.upper_bound(address);
    if (after != blocks.begin()) {
      auto [begin, size] = *std::prev(after);
      if (address + bytes <= begin + size) {
        return true;
      }
    }
  }
  return false;
}

template <typename T>
T *at(DeviceAddress address) {
  return reinterpret_cast<T *>(address);
}

template <typename T>
Result fillWith(const char *symbol, DeviceAddress to, T value, size_t count,
                StreamHandle stream) {
  if (Result result = enter(symbol)) {
    return result;
  }
  if (!isDeviceMemory(to, count * sizeof(T))) {
    return invalidValue;
  }
  push(stream, [=] { std::fill_n(at<T>(to), count, value); });
  return Success;
}

} // namespace

namespace nereid::cuda {

FakeDriver &fakeDriver() {
  static FakeDriver *instance = new FakeDriver;
  return *instance;
}

void FakeDriver::reset() {
  std::lock_guard lock(world().mutex);
  for (StreamHandle stream : world().streams) {
    stream->work.clear();
  }
  *this = FakeDriver();
}

} // namespace nereid::cuda

// The symbols are those of CudaDriver.def; which are not used by a test return
// what a healthy driver would.
#define NEREID_FAKE(symbol)                                                    \
  std::lock_guard lock(world().mutex);                                         \
  if (Result early = enter(symbol)) {                                          \
    return early;                                                              \
  }                                                                            \
  static_assert(true)

extern "C" {

Result cuInit(unsigned) { return Success; }

Result cuDriverGetVersion(int *version) {
  *version = fakeDriver().version;
  return Success;
}

Result cuGetErrorName(Result error, const char **text) {
  *text = error == IllegalAddress         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == OutOfMemory          ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == InvalidPtx           ? "CUDA_ERROR_INVALID_PTX"
          : error == LaunchOutOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                                          : "CUDA_ERROR_OTHER";
  return Success;
}

Result cuGetErrorString(Result, const char **text) {
  *text = "as the fake driver says";
  return Success;
}

Result cuDeviceGetCount(int *count) {
  *count = deviceCount;
  return Success;
}

Result cuDeviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal < deviceCount ? Success : 101;
}

Result cuDeviceGetName(char *name, int bytes, DeviceId) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return Success;
}

Result cuDeviceGetAttribute(int *value, int attribute, DeviceId device) {
  static const std::map<int, int> values = {
      {MaxThreadsPerBlock, 1024},  {SharedBytesPerBlock, 48 << 10},
      {MultiprocessorCount, 4},    {MaxThreadsPerMultiprocessor, 2048},
      {ComputeCapabilityMajor, 9}, {SharedBytesPerBlockOptin, 227 << 10}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  if (attribute == ComputeCapabilityMajor && device == 1) {
    *value = 8; // so that images of two architectures meet
  }
  return Success;
}

Result cuDeviceTotalMem_v2(size_t *bytes, DeviceId) {
  *bytes = fakeDriver().memoryBytes;
  return Success;
}

Result cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceId device) {
  *context = &world().contexts[device];
  return Success;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceId) { return Success; }

Result cuCtxSetCurrent(ContextHandle context) {
  ++fakeDriver().calls["cuCtxSetCurrent"];
  current = context;
  return Success;
}

Result cuCtxGetCurrent(ContextHandle *context) {
  ++fakeDriver().calls["cuCtxGetCurrent"];
  *context = current;
  return Success;
}

Result cuCtxSynchronize() {
  NEREID_FAKE("cuCtxSynchronize");
  return drainAll();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result cuMemAlloc_v2(DeviceAddress *address, size_t bytes) {
  NEREID_FAKE("cuMemAlloc_v2");
  if (!current) {
    return InvalidContext;
  }
  auto &blocks = world().blocks[current->device];
  size_t used = 0;
  DeviceAddress next = reinterpret_cast<DeviceAddress>(world().arena) +
                       static_cast<size_t>(current->device) * arenaBytes + 4096;
  for (auto [begin, size] : blocks) {
    used += size;
    next = std::max(next, (begin + size + 4096) / 512 * 512);
  }
  if (used + bytes > fakeDriver().memoryBytes) {
    return OutOfMemory;
  }
  blocks[next] = bytes;
  *address = next;
  return Success;
}

Result cuMemFree_v2(DeviceAddress address) {
  NEREID_FAKE("cuMemFree_v2");
  drainAll();
  for (auto &blocks : world().blocks) {
    auto found = blocks.find(address);
    if (found != blocks.end()) {
      // Untouched pages make opening and closing the rest fast.
      auto begin = (address + 4095) / 4096 * 4096;
      auto end = (address + found->second) / 4096 * 4096;
      if (begin < end) {
        ::madvise(at<void>(begin), end - begin, MADV_DONTNEED);
      }
      blocks.erase(found);
      return Success;
    }
  }
  return invalidValue;
}

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
  std::lock_guard lock(world().mutex);
  *total = fakeDriver().memoryBytes;
  *available = *total;
  for (auto [begin, size] : world().blocks[current ? current->device : 0]) {
    *available -= size;
  }
  return Success;
}

Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  NEREID_FAKE("cuMemHostAlloc");
  auto *made = new std::byte[bytes];
  world().pinned[made] = bytes;
  *memory = made;
  return Success;
}

Result cuMemHostGetDevicePointer_v2(DeviceAddress *address, void *memory,
                                    unsigned) {
  *address = reinterpret_cast<DeviceAddress>(memory);
  return Success;
}

Result cuMemFreeHost(void *memory) {
  std::lock_guard lock(world().mutex);
  world().pinned.erase(static_cast<std::byte *>(memory));
  delete[] static_cast<std::byte *>(memory);
  return Success;
}

Result cuMemcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                     StreamHandle stream) {
  NEREID_FAKE("cuMemcpyAsync");
  if (!isDeviceMemory(to, bytes) || !isDeviceMemory(from, bytes)) {
    return invalidValue;
  }
  push(stream,
       [=] { std::memmove(at<std::byte>(to), at<std::byte>(from), bytes); });
  return Success;
}

Result cuMemcpyPeerAsync(DeviceAddress to, ContextHandle, DeviceAddress from,
                         ContextHandle, size_t bytes, StreamHandle stream) {
  ++fakeDriver().calls["cuMemcpyPeerAsync"];
  return cuMemcpyAsync(to, from, bytes, stream);
}

Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void *from, size_t bytes,
                            StreamHandle stream) {
  NEREID_FAKE("cuMemcpyHtoDAsync_v2");
  if (!isDeviceMemory(to, bytes)) {
    return invalidValue;
  }
  if (isPinned(from)) {
    push(stream, [=] { std::memcpy(at<void>(to), from, bytes); });
    return Success;
  }
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), from, bytes);
  push(stream, [to, copy = std::move(copy)] {
    std::memcpy(at<void>(to), copy.data(), copy.size());
  });
  return Success;
}

Result cuMemcpyDtoHAsync_v2(void *to, DeviceAddress from, size_t bytes,
                            StreamHandle stream) {
  NEREID_FAKE("cuMemcpyDtoHAsync_v2");
  if (!isDeviceMemory(from, bytes)) {
    return invalidValue;
  }
  push(stream, [=] { std::memcpy(to, at<void>(from), bytes); });
  return Success;
}

Result cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t count,
                       StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD8Async", to, value, count, stream);
}

Result cuMemsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                        StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD16Async", to, value, count, stream);
}

Result cuMemsetD32Async(DeviceAddress to, unsigned value, size_t count,
                        StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  return fillWith("cuMemsetD32Async", to, value, count, stream);
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

Result cuStreamCreate(StreamHandle *stream, unsigned) {
  NEREID_FAKE("cuStreamCreate");
  *stream = new StreamObject;
  world().streams.insert(*stream);
  return Success;
}

Result cuStreamDestroy_v2(StreamHandle stream) {
  std::lock_guard lock(world().mutex);
  drain(*stream);
  world().streams.erase(stream);
  delete stream;
  return Success;
}

Result cuStreamSynchronize(StreamHandle stream) {
  NEREID_FAKE("cuStreamSynchronize");
  return streamOf(stream).capturing ? captureUnsupported
                                    : drain(streamOf(stream));
}

Result cuStreamQuery(StreamHandle stream) {
  NEREID_FAKE("cuStreamQuery");
  return streamOf(stream).work.empty() ? Success : NotReady;
}

Result cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  NEREID_FAKE("cuStreamWaitEvent");
  uint64_t point = event->recorded;
  StreamHandle other = event->stream;
  if (!point || &streamOf(other) == &streamOf(stream)) {
    return Success;
  }
  push(stream, [=] {
    while (event->reached < point && world().streams.count(&streamOf(other)) &&
           !streamOf(other).work.empty()) {
      runOne(streamOf(other));
    }
  });
  return Success;
}

Result cuStreamBeginCapture_v2(StreamHandle stream, int) {
  NEREID_FAKE("cuStreamBeginCapture_v2");
  stream->capturing = true;
  return Success;
}

Result cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  NEREID_FAKE("cuStreamEndCapture");
  stream->capturing = false;
  *graph = new GraphObject{std::move(stream->captured)};
  stream->captured.clear();
  return Success;
}

Result cuEventCreate(EventHandle *event, unsigned) {
  NEREID_FAKE("cuEventCreate");
  *event = new EventObject;
  return Success;
}

// Leaked: a wait for it may be queued.
Result cuEventDestroy_v2(EventHandle) { return Success; }

Result cuEventRecord(EventHandle event, StreamHandle stream) {
  NEREID_FAKE("cuEventRecord");
  uint64_t point = ++world().events;
  event->recorded = point;
  event->stream = stream;
  push(stream, [=] {
    event->reached = std::max(event->reached, point);
    event->milliseconds = fakeDriver().clockMs;
  });
  return Success;
}

Result cuEventSynchronize(EventHandle event) {
  NEREID_FAKE("cuEventSynchronize");
  StreamObject &stream = streamOf(event->stream);
  while (event->reached < event->recorded && !stream.work.empty() &&
         !fakeDriver().fatal) {
    runOne(stream);
  }
  return fakeDriver().fatal;
}

Result cuEventQuery(EventHandle event) {
  NEREID_FAKE("cuEventQuery");
  return event->reached < event->recorded ? NotReady : Success;
}

Result cuEventElapsedTime(float *ms, EventHandle start, EventHandle end) {
  NEREID_FAKE("cuEventElapsedTime");
  *ms = static_cast<float>(end->milliseconds - start->milliseconds);
  return Success;
}

Result cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                   unsigned long long) {
  NEREID_FAKE("cuGraphInstantiateWithFlags");
  *exec = new GraphExecObject{graph->work};
  return Success;
}

Result cuGraphGetNodes(GraphHandle graph, GraphNodeHandle *, size_t *count) {
  *count = graph->work.size();
  return Success;
}

Result cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  NEREID_FAKE("cuGraphLaunch");
  for (auto &piece : exec->work) {
    push(stream, piece);
  }
  return Success;
}

Result cuGraphDestroy(GraphHandle graph) {
  delete graph;
  return Success;
}

Result cuGraphExecDestroy(GraphExecHandle exec) {
  delete exec;
  return Success;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Result cuLinkCreate_v2(unsigned count, int *names, void **values,
                       LinkHandle *link) {
  NEREID_FAKE("cuLinkCreate_v2");
  *link = new LinkObject;
  fakeDriver().linkOptions.clear();
  for (unsigned i = 0; i < count; ++i) {
    fakeDriver().linkOptions[names[i]] = reinterpret_cast<size_t>(values[i]);
    if (names[i] == JitInfoLogBuffer) {
      (*link)->info = static_cast<char *>(values[i]);
    } else if (names[i] == JitErrorLogBuffer) {
      (*link)->errors = static_cast<char *>(values[i]);
    }
  }
  return Success;
}

Result cuLinkAddData_v2(LinkHandle link, int, void *data, size_t bytes,
                        const char *, unsigned, int *, void **) {
  NEREID_FAKE("cuLinkAddData_v2");
  auto *text = static_cast<const char *>(data);
  if (!bytes || text[bytes - 1]) {
    return invalidValue; // the real one reads on past the end
  }
  link->text = text;
  if (link->text.find(".wrong") != std::string::npos) {
    std::strcpy(link->errors, "ptxas fatal: line 2: Unknown .wrong\n");
    return InvalidPtx;
  }
  std::strcpy(link->info, "ptxas info : 8 bytes stack frame, 4 bytes spill "
                          "stores, 12 bytes spill loads\n");
  return Success;
}

Result cuLinkComplete(LinkHandle link, void **cubin, size_t *bytes) {
  NEREID_FAKE("cuLinkComplete");
  link->text = "CUBIN " + link->text;
  *cubin = link->text.data();
  *bytes = link->text.size() + 1;
  return Success;
}

Result cuLinkDestroy(LinkHandle link) {
  delete link;
  return Success;
}

Result cuModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned,
                          int *, void **) {
  NEREID_FAKE("cuModuleLoadDataEx");
  std::string text = static_cast<const char *>(image);
  size_t entry = text.find(".entry ");
  if (!text.starts_with("CUBIN ") || entry == std::string::npos) {
    return NoBinaryForGpu;
  }
  text = text.substr(entry + 7);
  *module = new ModuleObject{text.substr(0, text.find('('))};
  return Success;
}

Result cuModuleUnload(ModuleHandle module) {
  ++fakeDriver().calls["cuModuleUnload"];
  delete module;
  return Success;
}

Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                           const char *name) {
  NEREID_FAKE("cuModuleGetFunction");
  if (module->entry != name || !fakeDriver().functions.count(name)) {
    return 500;
  }
  FunctionObject &object = world().functions[name];
  object.entry = name;
  *function = &object;
  return Success;
}

Result cuFuncGetAttribute(int *value, int attribute, FunctionHandle function) {
  NEREID_FAKE("cuFuncGetAttribute");
  const FakeFunction &f = fakeDriver().functions.at(function->entry);
  *value = attribute == NumRegisters        ? f.registers
           : attribute == LocalBytes        ? f.localBytes
           : attribute == StaticSharedBytes ? f.staticSharedBytes
                                            : f.maxThreads;
  return Success;
}

Result cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
  NEREID_FAKE("cuFuncSetAttribute");
  std::string key = function->entry + ":" + std::to_string(attribute);
  fakeDriver().functionAttributes[key] = value;
  return Success;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, FunctionHandle,
                                                   int threads, size_t) {
  *blocks = 2048 / threads;
  return Success;
}

Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned, unsigned,
                      unsigned sharedBytes, StreamHandle stream,
                      void **parameters, void **) {
  NEREID_FAKE("cuLaunchKernel");
  if (!current) {
    return InvalidContext;
  }
  const FakeFunction &f = fakeDriver().functions.at(function->entry);
  FakeKernelCall call{{gridX, gridY, gridZ}, blockX, sharedBytes, {}};
  for (size_t i = 0; i < f.parameterBytes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i], f.parameterBytes[i]);
    call.values.push_back(value);
  }
  push(stream, [call = std::move(call), name = function->entry] {
    const FakeFunction &f = fakeDriver().functions.at(name);
    fakeDriver().clockMs += f.milliseconds;
    if (f.run) {
      f.run(call);
    }
  });
  return Success;
}

} // extern "C"
