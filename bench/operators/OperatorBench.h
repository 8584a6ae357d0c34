//===- OperatorBench.h - Operators from test-time Python -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A C interface, loaded with ctypes by bench/operators/compare.py, which runs
// operators beside PyTorch's on tensors of PyTorch's. Not an interface for
// users.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_OPERATORS_OPERATORBENCH_H
#define NEREID_BENCH_OPERATORS_OPERATORBENCH_H

#include "test/harness/Bridge.h"

extern "C" {

struct NereidOperatorCall;

/// `inputs`: tensors of `device` (NereidBridgeDeviceTensor; integer 1: a
/// gradient is wanted), or None; their memory must outlive the result. Null on
/// failure: see nereidOperatorError.
NereidOperatorCall *nereidOperatorPrepare(const char *name, const char *device,
                                          const NereidBridgeArgument *inputs,
                                          int32_t count, const double *numbers,
                                          int32_t numberCount,
                                          const NereidBridgeArgument *gradient,
                                          void *stream);
/// Runs forward, or forward and backward, `repetitions` times; nanoseconds of
/// the host of all of them together, or -1.
int64_t nereidOperatorRun(NereidOperatorCall *call, int32_t backward,
                          int32_t repetitions);
/// Replays the pass, of a GPU, as a graph, which the first call captures;
/// nanoseconds in which the host has enqueued it, or -1. It does not wait.
int64_t nereidOperatorReplay(NereidOperatorCall *call, int32_t backward);
/// The most bytes of tensors beyond those before, while it ran once, or -1. Of
/// the first run with `backward` the gradients are a part.
int64_t nereidOperatorMemory(NereidOperatorCall *call, int32_t backward);
/// The last run's output `index`, or with `gradient` that of input `index`,
/// copied to `to`. 0, or -1.
int32_t nereidOperatorResult(NereidOperatorCall *call, int32_t gradient,
                             int32_t index, const NereidBridgeArgument *to);
void nereidOperatorFree(NereidOperatorCall *call);
const char *nereidOperatorError();
/// The names there are, with spaces between.
const char *nereidOperatorNames();
void nereidOperatorSetThreads(int32_t count);
}

#endif // NEREID_BENCH_OPERATORS_OPERATORBENCH_H
