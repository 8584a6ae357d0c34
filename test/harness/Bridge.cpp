//===- Bridge.cpp - Launching kernels from test-time Python ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/harness/Bridge.h"

#include "nereid/nereid.h"
#include "tools/check/DeviceCheck.h"

#include <chrono>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace nereid;

namespace {

/// Host arrays as the GPU sees them: a copy of every array, those that overlap
/// together, at addresses that are as well aligned, and no better.
class Mirror {
public:
  explicit Mirror(Device device) : device(device) {}

  /// All arrays first, then their places.
  void add(const void *data, int64_t bytes) {
    Range range{static_cast<const std::byte *>(data),
                static_cast<const std::byte *>(data) +
                    std::max<int64_t>(bytes, 1),
                {},
                nullptr};
    for (auto it = ranges.begin(); it != ranges.end();) {
      if (it->begin < range.end && range.begin < it->end) {
        range.begin = std::min(range.begin, it->begin);
        range.end = std::max(range.end, it->end);
        it = ranges.erase(it);
      } else {
        ++it;
      }
    }
    ranges.push_back(std::move(range));
  }
  void *place(const void *data) {
    for (Range &range : ranges) {
      auto *at = static_cast<const std::byte *>(data);
      if (at < range.begin || at >= range.end) {
        continue;
      }
      if (!range.copy.defined()) {
        auto misaligned =
            static_cast<int64_t>(reinterpret_cast<uint64_t>(range.begin) % 256);
        range.copy = empty({range.end - range.begin + 512}, u8, device);
        auto base = reinterpret_cast<uint64_t>(range.copy.data());
        range.first = reinterpret_cast<std::byte *>(
            (base + 255) / 256 * 256 + static_cast<uint64_t>(misaligned));
      }
      return range.first + (at - range.begin);
    }
    return nullptr;
  }
  void copyIn() const {
    for (const Range &range : ranges) {
      onDevice(range).copyFrom(onHost(range));
    }
  }
  void copyOut() const {
    for (const Range &range : ranges) {
      onHost(range).copyFrom(onDevice(range));
    }
  }

private:
  struct Range {
    const std::byte *begin, *end;
    Tensor copy;
    std::byte *first;
  };
  Tensor onHost(const Range &range) const {
    return Tensor::borrow(const_cast<std::byte *>(range.begin),
                          {range.end - range.begin}, u8);
  }
  Tensor onDevice(const Range &range) const {
    return Tensor::borrow(range.first, {range.end - range.begin}, u8, device);
  }

  Device device;
  std::vector<Range> ranges;
};

} // namespace

/// Owns everything the views in `arguments` point to.
struct NereidBridgeLaunch {
  std::string file, name;
  Kernel kernel;
  Grid grid;
  std::list<std::string> strings;
  std::list<Tensor> tensors;
  std::vector<LaunchArgument> arguments;
  std::unique_ptr<Mirror> mirror; ///< for devices that do not see host memory
  Device device;
  std::optional<Stream> stream;
};

namespace {

thread_local std::string lastError;

DType dtypeNamed(const char *name) {
  std::optional<DType> dtype = parseDType(name);
  if (!dtype) {
    raise({ErrorCode::InvalidArgument,
           std::string("no dtype is called '") + name + "'",
           {}});
  }
  return *dtype;
}

Argument toArgument(const NereidBridgeArgument &argument, Device device,
                    NereidBridgeLaunch &launch) {
  switch (argument.kind) {
  case NereidBridgeNone:
    return nullptr;
  case NereidBridgeBool:
    return argument.integer != 0;
  case NereidBridgeInt:
    return argument.integer;
  case NereidBridgeFloat:
    return argument.real;
  case NereidBridgeDType:
    return dtypeNamed(argument.text);
  case NereidBridgeString:
    return launch.strings.emplace_back(argument.text);
  case NereidBridgeDeviceTensor:
  case NereidBridgeTensor: {
    Shape shape(argument.shape, argument.shape + argument.rank);
    Shape strides(argument.strides, argument.strides + argument.rank);
    DType dtype = dtypeNamed(argument.text);
    bool isMirrored = launch.mirror && argument.kind == NereidBridgeTensor;
    void *data =
        isMirrored ? launch.mirror->place(argument.data) : argument.data;
    return launch.tensors.emplace_back(
        Tensor::borrow(data, shape, dtype, device, strides));
  }
  default:
    raise({ErrorCode::InvalidArgument, "unknown argument kind", {}});
  }
}

/// Runs `body`; an exception becomes lastError and the result `failed`.
template <typename Result, typename Body>
Result guarded(Result failed, Body body) {
  try {
    return body();
  } catch (const std::exception &error) {
    lastError = error.what();
    return failed;
  }
}

} // namespace

NereidBridgeLaunch *nereidBridgePrepare(const char *file, const char *kernel,
                                        const char *deviceName,
                                        const int64_t *grid, int32_t gridRank,
                                        const NereidBridgeArgument *arguments,
                                        int32_t count) {
  return guarded<NereidBridgeLaunch *>(nullptr, [&] {
    Device device = Device::parse(deviceName);
    auto launch = std::make_unique<NereidBridgeLaunch>();
    launch->file = file;
    launch->name = kernel;
    launch->kernel = Kernel::load(file, kernel).on(device);
    launch->grid = Grid(std::span(grid, gridRank));
    launch->device = device;
    if (!device.isHost()) {
      launch->mirror = std::make_unique<Mirror>(device);
      for (int32_t i = 0; i < count; ++i) {
        const NereidBridgeArgument &a = arguments[i];
        if (a.kind == NereidBridgeTensor) {
          Tensor host = Tensor::borrow(a.data, Shape(a.shape, a.shape + a.rank),
                                       dtypeNamed(a.text), Device::cpu(),
                                       Shape(a.strides, a.strides + a.rank));
          launch->mirror->add(a.data, host.extentBytes());
        }
      }
    }
    for (int32_t i = 0; i < count; ++i) {
      std::string &name = launch->strings.emplace_back(arguments[i].name);
      launch->arguments.emplace_back(name,
                                     toArgument(arguments[i], device, *launch));
    }
    launch->kernel.compile(launch->arguments);
    return launch.release();
  });
}

int64_t nereidBridgeRun(NereidBridgeLaunch *launch, int32_t repetitions) {
  return guarded<int64_t>(-1, [&]() -> int64_t {
    if (launch->mirror) {
      launch->mirror->copyIn();
    }
    std::optional<StreamGuard> guard;
    if (launch->stream) {
      guard.emplace(*launch->stream);
    }
    auto start = std::chrono::steady_clock::now();
    for (int32_t i = 0; i < repetitions; ++i) {
      launch->kernel.launch(launch->grid, launch->arguments);
    }
    if (launch->mirror) {
      launch->mirror->copyOut(); // waits
    }
    auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed)
        .count();
  });
}

int32_t nereidBridgeCheck(NereidBridgeLaunch *launch, const char *devices,
                          const NereidBridgeArgument *reachable,
                          int32_t count) {
  return guarded<int32_t>(-1, [&] {
    check::CheckedLaunch checked;
    checked.load = [launch](Context &context) {
      return Kernel::load(launch->file, launch->name, context);
    };
    checked.grid = launch->grid;
    checked.arguments = launch->arguments;
    for (int32_t i = 0; i < count; ++i) {
      const NereidBridgeArgument &a = reachable[i];
      checked.reachable.push_back(
          {a.name, Tensor::borrow(a.data, Shape(a.shape, a.shape + a.rank),
                                  dtypeNamed(a.text), Device::cpu(),
                                  Shape(a.strides, a.strides + a.rank))});
    }
    std::string names = devices;
    for (size_t begin = 0; begin <= names.size();) {
      size_t end = std::min(names.find(',', begin), names.size());
      checked.devices.push_back(
          Device::parse(names.substr(begin, end - begin)));
      begin = end + 1;
    }
    check::CheckReport report = check::checkLaunch(checked);
    lastError = report.text();
    return report.passed() ? 1 : 0;
  });
}

int32_t nereidBridgeUseStream(NereidBridgeLaunch *launch, void *stream) {
  return guarded<int32_t>(-1, [&] {
    launch->stream = Stream::borrow(stream, launch->device);
    return 0;
  });
}

void nereidBridgeFree(NereidBridgeLaunch *launch) { delete launch; }

const char *nereidBridgeError() { return lastError.c_str(); }

void nereidBridgeSetThreads(int32_t count) { setNumThreads(count); }
