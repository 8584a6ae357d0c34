//===- Bridge.h - Launching kernels from test-time Python ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A C interface, loaded with ctypes by test/harness/bridge.py: tests and
// benchmarks written in Python (because their oracle is NumPy or PyTorch) run
// kernels on memory they own, in one process. Not an interface for users.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_HARNESS_BRIDGE_H
#define NEREID_TEST_HARNESS_BRIDGE_H

#include <cstdint>

extern "C" {

enum NereidBridgeKind : int32_t {
  NereidBridgeNone,
  NereidBridgeBool,
  NereidBridgeInt,
  NereidBridgeFloat,
  NereidBridgeTensor,
  NereidBridgeDType,
  NereidBridgeString,
  NereidBridgeDeviceTensor, ///< memory of the launch's device, used in place
};

/// One argument of a launch, by parameter name.
struct NereidBridgeArgument {
  const char *name;
  int32_t kind;
  int32_t rank;
  int64_t integer; ///< Bool, Int
  double real;
  void *data;       ///< Tensor
  const char *text; ///< Tensor, DType: the element type's name; String
  int64_t shape[8];
  int64_t strides[8]; ///< elements
};

struct NereidBridgeLaunch;

/// Binds a kernel to its arguments and compiles it. The memory of tensors must
/// outlive the result. Null on failure: see nereidBridgeError.
NereidBridgeLaunch *nereidBridgePrepare(const char *file, const char *kernel,
                                        const char *device, const int64_t *grid,
                                        int32_t gridRank,
                                        const NereidBridgeArgument *arguments,
                                        int32_t count);
/// Launches go to this stream of the driver (a CUstream) from now on.
/// 0, or -1 on failure.
int32_t nereidBridgeUseStream(NereidBridgeLaunch *launch, void *stream);
/// Launches `repetitions` times. Returns the nanoseconds of all of them
/// together, or -1 on failure.
int64_t nereidBridgeRun(NereidBridgeLaunch *launch, int32_t repetitions);
/// Judges the launch on `devices` (names with commas between) by the reference
/// executor's bounds (tools/check), on copies of its arrays and of `reachable`:
/// memory of the host that tables of addresses lead to. 1: right; 0: wrong; -1
/// on failure. nereidBridgeError has the report.
int32_t nereidBridgeCheck(NereidBridgeLaunch *launch, const char *devices,
                          const NereidBridgeArgument *reachable, int32_t count);
void nereidBridgeFree(NereidBridgeLaunch *launch);
/// The message of this thread's last failure.
const char *nereidBridgeError();
void nereidBridgeSetThreads(int32_t count);
}

#endif // NEREID_TEST_HARNESS_BRIDGE_H
