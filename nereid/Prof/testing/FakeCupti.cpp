//===- FakeCupti.cpp - A CUPTI without a GPU ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/testing/FakeCupti.h"

#include "nereid/Runtime/Observer.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace nereid;
using namespace nereid::prof::cupti;

namespace nereid::prof::cupti {

FakeCupti &fakeCupti() {
  static auto *instance = new FakeCupti;
  return *instance;
}

uint32_t FakeCupti::streamId(gpu::StreamHandle stream) {
  static auto *ids = new std::map<gpu::StreamHandle, uint32_t>;
  return ids->emplace(stream, 7 + ids->size()).first->second;
}

} // namespace nereid::prof::cupti

namespace {

BufferRequested request = nullptr;
BufferCompleted complete = nullptr;

/// CUpti_ActivityKernel9, Memcpy5 and Memset4.
size_t bytesOf(int kind) {
  return kind == ConcurrentKernel ? 208 : kind == Memset ? 88 : 96;
}

void write(uint8_t *to, const FakeActivity &activity) {
  auto begin =
      static_cast<uint64_t>(activity.beginNs + fakeCupti().clockOffset);
  auto end = static_cast<uint64_t>(activity.endNs + fakeCupti().clockOffset);
  std::memset(to, 0xEE, bytesOf(activity.kind));
  auto put = [&](const auto &record) {
    std::memcpy(to, &record, sizeof(record));
  };
  if (activity.kind == ConcurrentKernel) {
    KernelActivity kernel = {};
    kernel.kind = activity.kind;
    kernel.start = begin;
    kernel.end = end;
    kernel.deviceId = activity.device;
    kernel.streamId = activity.stream;
    std::copy(activity.grid.begin(), activity.grid.end(), kernel.grid);
    static auto *names = new std::set<std::string>;
    kernel.name = names->insert(activity.name).first->c_str();
    put(kernel);
  } else if (activity.kind == Memset) {
    put(MemsetActivity{activity.kind, 0, activity.bytes, begin, end,
                       activity.device, 1, activity.stream});
  } else {
    put(MemcpyActivity{activity.kind, activity.copyKind, 0, 0, 0,
                       activity.bytes, begin, end, activity.device, 1,
                       activity.stream});
  }
}

Result enter(const char *symbol) {
  auto found = fakeCupti().failNext.find(symbol);
  if (found == fakeCupti().failNext.end()) {
    return Success;
  }
  Result result = found->second;
  fakeCupti().failNext.erase(found);
  return result;
}

} // namespace

extern "C" {

Result cuptiGetVersion(uint32_t *version) {
  *version = fakeCupti().version;
  return Success;
}

Result cuptiGetResultString(Result result, const char **text) {
  *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                       : "CUPTI_ERROR_UNKNOWN";
  return Success;
}

Result cuptiGetTimestamp(uint64_t *ns) {
  *ns =
      static_cast<uint64_t>(fakeCupti().clock->now() + fakeCupti().clockOffset);
  return Success;
}

Result cuptiGetStreamIdEx(gpu::ContextHandle, gpu::StreamHandle stream, uint8_t,
                          uint32_t *id) {
  *id = fakeCupti().streamId(stream);
  return Success;
}

Result cuptiActivityRegisterCallbacks(BufferRequested requested,
                                      BufferCompleted completed) {
  if (Result result = enter("cuptiActivityRegisterCallbacks")) {
    return result;
  }
  request = requested;
  complete = completed;
  return Success;
}

Result cuptiActivityEnable(int kind) {
  if (Result result = enter("cuptiActivityEnable")) {
    return result;
  }
  fakeCupti().enabled.insert(kind);
  return Success;
}

Result cuptiActivityDisable(int kind) {
  fakeCupti().enabled.erase(kind);
  return Success;
}

Result cuptiActivityFlushAll(uint32_t) {
  std::vector<FakeActivity> waiting = std::exchange(fakeCupti().waiting, {});
  for (size_t i = 0; i < waiting.size();) {
    uint8_t *buffer = nullptr;
    size_t bytes = 0, most = 0, used = 0;
    request(&buffer, &bytes, &most);
    for (size_t n = 0; n < fakeCupti().recordsPerBuffer && i < waiting.size();
         ++n, ++i) {
      write(buffer + used, waiting[i]);
      used += bytesOf(waiting[i].kind);
    }
    complete(nullptr, 0, buffer, bytes, used);
  }
  return Success;
}

Result cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBytes,
                                  prof::cupti::Activity **record) {
  uint8_t *next = buffer;
  if (*record) {
    next = reinterpret_cast<uint8_t *>(*record) + bytesOf((*record)->kind);
  }
  if (next >= buffer + validBytes) {
    return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
  }
  *record = reinterpret_cast<prof::cupti::Activity *>(next);
  return Success;
}

Result cuptiActivityGetNumDroppedRecords(gpu::ContextHandle, uint32_t,
                                         size_t *count) {
  *count = std::exchange(fakeCupti().dropped, 0);
  return Success;
}

} // extern "C"
