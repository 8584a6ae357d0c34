//===- HostMemory.h - Memory of tensors on the host -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_HOSTMEMORY_H
#define NEREID_RUNTIME_DEVICE_HOSTMEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nereid {

/// Memory of whole cache lines, so that two tensors never share one; an
/// address for zero bytes, too. From two huge pages on it begins at one. Null
/// when there is none.
std::shared_ptr<void> allocateHostMemory(size_t bytes);

/// Bytes of such memory that tensors have.
uint64_t hostMemoryUse();
/// Bytes of blocks that tensors have left and later ones will get, and their
/// return to the system.
uint64_t hostMemoryCached();
void emptyHostCache();

/// From now on such memory lies between pages that no thread may touch: a
/// kernel that leaves its arrays by a little stops with a fault instead of
/// changing what lies beside them. An array ends where the pages begin (fewer
/// than 64 bytes before, or fewer than 4096 for one of huge pages). For
/// programs that run kernels of others: each array takes two more mappings, and
/// 2 MB of address space. Memory that cannot be mapped so is allocated without
/// such pages.
void guardHostMemory();

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_HOSTMEMORY_H
