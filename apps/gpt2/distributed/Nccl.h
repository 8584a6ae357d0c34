//===- Nccl.h - NVIDIA's collectives, loaded by name -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types are those of the library's ABI, which has been the same since
// NCCL 2.10; no header of NVIDIA's is used. Source: the API section of the NCCL
// 2.27 user guide.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_NCCL_H
#define NEREID_APPS_GPT2_DISTRIBUTED_NCCL_H

#include "nereid/ABI/DType.h"
#include "nereid/ABI/Status.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace nereid::gpt2 {

/// ncclUniqueId.
struct NcclId {
  char bytes[128];
};

struct Nccl {
  using Result = int; ///< ncclResult_t; 0 is success
  using Comm = struct ncclComm *;
  using StreamHandle = void *; ///< cudaStream_t
  static constexpr Result success = 0, inProgress = 7;
  static constexpr int sum = 0; ///< ncclSum

  Result (*getVersion)(int *version) = nullptr;
  Result (*getUniqueId)(NcclId *id) = nullptr;
  Result (*commInitRank)(Comm *comm, int size, NcclId id, int rank) = nullptr;
  Result (*commDestroy)(Comm comm) = nullptr;
  Result (*commAbort)(Comm comm) = nullptr;
  Result (*commGetAsyncError)(Comm comm, Result *error) = nullptr;
  const char *(*getErrorString)(Result result) = nullptr;
  const char *(*getLastError)(Comm comm) = nullptr;
  Result (*allReduce)(const void *from, void *to, size_t count, int type,
                      int op, Comm comm, StreamHandle stream) = nullptr;
  Result (*reduceScatter)(const void *from, void *to, size_t countOfPart,
                          int type, int op, Comm comm,
                          StreamHandle stream) = nullptr;
  Result (*allGather)(const void *from, void *to, size_t countOfPart, int type,
                      Comm comm, StreamHandle stream) = nullptr;
  Result (*broadcast)(const void *from, void *to, size_t count, int type,
                      int root, Comm comm, StreamHandle stream) = nullptr;
  Result (*send)(const void *from, size_t count, int type, int peer, Comm comm,
                 StreamHandle stream) = nullptr;
  Result (*receive)(void *to, size_t count, int type, int peer, Comm comm,
                    StreamHandle stream) = nullptr;
  Result (*groupStart)() = nullptr;
  Result (*groupEnd)() = nullptr;

  std::string version; ///< "2.27.7"
  std::string describe(Result result, Comm comm = nullptr) const;
  /// ncclDataType_t of a type; nothing for fp8 and for i16.
  static std::optional<int> typeOf(DType dtype);
};

/// NCCL_LIBRARY, or libnccl.so.2. NotFound, Unsupported; both say what to do.
Expected<std::unique_ptr<const Nccl>> openNccl();

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_NCCL_H
