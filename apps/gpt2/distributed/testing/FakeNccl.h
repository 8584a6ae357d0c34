//===- FakeNccl.h - NCCL between threads of a process ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library with NCCL's functions for simulated GPUs, whose memory all threads
// of a process see. What a call queues on a stream goes through `enqueue` of
// the simulated driver, which records it into graphs, too. It waits for the
// same call of the other ranks when it runs, in the order in which a rank's
// calls run. Sums are added in the order of the ranks.
//
// A rank whose call is another one than rank 0's gets ncclInvalidUsage from
// ncclCommGetAsyncError, and so do all.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_TESTING_FAKENCCL_H
#define NEREID_APPS_GPT2_DISTRIBUTED_TESTING_FAKENCCL_H

#include <functional>

namespace nereid::gpt2 {

/// Has a stream (CUstream) run what it is given; 0, or the driver's error.
using FakeNcclEnqueue = int (*)(void *stream, std::function<int()> work);

/// Symbol of the library: before any of NCCL's that takes a stream.
constexpr const char *fakeNcclSetEnqueue = "nereidFakeNcclSetEnqueue";

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TESTING_FAKENCCL_H
