//===- Cupti.cpp - NVIDIA's CUPTI, loaded by name -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Cupti.h"

#include "nereid/Support/Knobs.h"

#include <dlfcn.h>
#include <mutex>
#include <vector>

namespace nereid::prof::cupti {

std::string Library::describe(Result result) const {
  const char *text = nullptr;
  getResultString(result, &text);
  return text ? text : "CUPTI error " + std::to_string(result);
}

/// By name first, which finds what the loader's path and ldconfig know.
static constexpr const char *places[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    "/usr/local/cuda/lib64/libcupti.so",
};

/// 13 is that of CUDA 11.0; from CUDA 13.0 on it is 130000.
static bool isKnown(uint32_t version) {
  return (version >= 13 && version < 100) ||
         (version >= 130000 && version < 140000);
}

static Expected<const Library *> open(const std::string &name) {
  void *handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return {ErrorCode::NotFound, name + " cannot be loaded"};
  }
  auto library = std::make_unique<Library>();
  auto find = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(handle, symbol));
    return function != nullptr;
  };
  bool isWhole =
      find(library->getVersion, "cuptiGetVersion") &&
      find(library->getResultString, "cuptiGetResultString") &&
      find(library->getTimestamp, "cuptiGetTimestamp") &&
      find(library->getStreamId, "cuptiGetStreamIdEx") &&
      find(library->registerCallbacks, "cuptiActivityRegisterCallbacks") &&
      find(library->enable, "cuptiActivityEnable") &&
      find(library->disable, "cuptiActivityDisable") &&
      find(library->flushAll, "cuptiActivityFlushAll") &&
      find(library->getNextRecord, "cuptiActivityGetNextRecord") &&
      find(library->getDropped, "cuptiActivityGetNumDroppedRecords");
  if (!isWhole || library->getVersion(&library->version) != Success) {
    return {ErrorCode::Unsupported, name + " is no CUPTI of CUDA 11 or newer"};
  }
  if (!isKnown(library->version)) {
    return {ErrorCode::Unsupported,
            name + " has version " + std::to_string(library->version) +
                ", whose records are not known; expected that of CUDA 11.0 to "
                "13"};
  }
  library->name = name;
  static std::mutex mutex;
  static auto *kept = new std::vector<std::unique_ptr<const Library>>;
  std::lock_guard lock(mutex);
  return kept->emplace_back(std::move(library)).get();
}

Expected<const Library *> load() {
  const std::string &wanted = processKnobs().cupti;
  if (wanted == "none") {
    return {ErrorCode::NotFound, "CUPTI is turned off by NEREID_CUPTI=none"};
  }
  if (!wanted.empty()) {
    return open(wanted);
  }
  if (!processKnobs().cudaDriver.empty()) {
    return {ErrorCode::NotFound,
            "CUPTI sees nothing of the driver that NEREID_CUDA_DRIVER names"};
  }
  for (const char *place : places) {
    Expected<const Library *> library = open(place);
    if (library.ok() || library.failure().code != ErrorCode::NotFound) {
      return library;
    }
  }
  return {ErrorCode::NotFound,
          "CUPTI (libcupti.so) is not installed, or not in LD_LIBRARY_PATH; "
          "NEREID_CUPTI can name it"};
}

} // namespace nereid::prof::cupti
