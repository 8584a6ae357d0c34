//===- Nccl.cpp - NVIDIA's collectives, loaded by name --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Nccl.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;

std::string Nccl::describe(Result result, Comm comm) const {
  std::string text = getErrorString(result);
  const char *last = getLastError ? getLastError(comm) : nullptr;
  return last && *last ? text + " (" + last + ")" : text;
}

std::optional<int> Nccl::typeOf(DType dtype) {
  switch (dtype) {
  case DType::Int1:
  case DType::UInt8:
    return 1;
  case DType::Int8:
    return 0;
  case DType::Int32:
    return 2;
  case DType::UInt32:
    return 3;
  case DType::Int64:
    return 4;
  case DType::UInt64:
    return 5;
  case DType::Float16:
    return 6;
  case DType::Float32:
    return 7;
  case DType::Float64:
    return 8;
  case DType::BFloat16:
    return 9;
  default:
    return std::nullopt;
  }
}

/// 21005 is 2.10.5, 2804 was 2.8.4.
static std::string versionText(int version) {
  constexpr int beforeTwoNine = 10000;
  int unit = version < beforeTwoNine ? 1000 : 10000;
  return std::to_string(version / unit) + "." +
         std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

Expected<std::unique_ptr<const Nccl>> gpt2::openNccl() {
  const char *named = std::getenv("NCCL_LIBRARY");
  std::string name = named && *named ? named : "libnccl.so.2";
  std::error_code error;
  bool isFile = name.find('/') == std::string::npos ||
                !std::filesystem::exists(name, error) ||
                std::filesystem::is_regular_file(name, error);
  void *library =
      isFile ? dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    const char *why = isFile ? dlerror() : nullptr;
    return {ErrorCode::NotFound,
            "several GPUs need NCCL, which cannot be loaded: " +
                (why ? std::string(why) : name + " is no file") +
                "; hint: install libnccl2, or set NCCL_LIBRARY to its file (of "
                "Python's package nvidia-nccl: nvidia/nccl/lib/libnccl.so.2)"};
  }
  auto nccl = std::make_unique<Nccl>();
  std::string missing;
  auto load = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, symbol));
    if (!function && missing.empty()) {
      missing = symbol;
    }
  };
  load(nccl->getVersion, "ncclGetVersion");
  int version = 0;
  if (nccl->getVersion && nccl->getVersion(&version) == Nccl::success) {
    nccl->version = versionText(version);
    constexpr int oldest = 21000; // bf16
    if (version < oldest) {
      return {ErrorCode::Unsupported,
              name + " is NCCL " + nccl->version +
                  ": expected 2.10 or newer; hint: update it, or set "
                  "NCCL_LIBRARY to another one's file"};
    }
  }
  load(nccl->getUniqueId, "ncclGetUniqueId");
  load(nccl->commInitRank, "ncclCommInitRank");
  load(nccl->commDestroy, "ncclCommDestroy");
  load(nccl->commAbort, "ncclCommAbort");
  load(nccl->commGetAsyncError, "ncclCommGetAsyncError");
  load(nccl->getErrorString, "ncclGetErrorString");
  load(nccl->allReduce, "ncclAllReduce");
  load(nccl->reduceScatter, "ncclReduceScatter");
  load(nccl->allGather, "ncclAllGather");
  load(nccl->broadcast, "ncclBroadcast");
  load(nccl->send, "ncclSend");
  load(nccl->receive, "ncclRecv");
  load(nccl->groupStart, "ncclGroupStart");
  load(nccl->groupEnd, "ncclGroupEnd");
  if (!missing.empty()) {
    return {ErrorCode::Unsupported,
            name + " lacks the function " + missing +
                ": expected NCCL 2.10 or newer; hint: set NCCL_LIBRARY to its "
                "file"};
  }
  // Since 2.13: more words on what went wrong.
  nccl->getLastError = reinterpret_cast<decltype(nccl->getLastError)>(
      dlsym(library, "ncclGetLastError"));
  return std::unique_ptr<const Nccl>(std::move(nccl));
}
