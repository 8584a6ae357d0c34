/*===- provider.h - Code of others in nereid bench ----------------*- C -*-===*\
|*
|* Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/
/*
 * A shared library that is timed beside a kernel:
 *
 *   nereid bench softmax --against 'mine=lib:./libmine.so:softmax'
 *
 * calls its function softmax for each run, as it calls the kernel: warm or from
 * cold caches, in turns with the others. The function does one run:
 *
 *   #include "nereid/Bench/provider.h"
 *
 *   int softmax(const NereidCall *call) {
 *     const NereidArray *x = nereid_array(call, "x");
 *     const NereidArray *y = nereid_array(call, "y");
 *     if (!x || !y || x->dtype != NEREID_FP32)
 *       return 1;
 *     return run_softmax(y->data, x->data, x->shape[0], x->shape[1],
 *                        call->stream);
 *   }
 *
 * On a GPU it queues its work on call->stream, a CUstream (which is also a
 * cudaStream_t), and does not wait: the time is taken by events on that stream.
 * On the host it returns when it is done. 0 is success; anything else takes the
 * provider out, with this status in the message. What it keeps between two
 * calls (handles, plans, workspaces) is its own; arrays may be others in each.
 * This header is C99 and C++, and nothing has to be linked.
 */
#ifndef NEREID_BENCH_PROVIDER_H
#define NEREID_BENCH_PROVIDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added at the end of a struct. */
#define NEREID_PROVIDER_VERSION 1

typedef enum NereidType {
  NEREID_OTHER = 0,
  NEREID_FP64,
  NEREID_FP32,
  NEREID_FP16,
  NEREID_BF16,
  NEREID_FP8E4NV,
  NEREID_FP8E5,
  NEREID_INT64,
  NEREID_INT32,
  NEREID_INT16,
  NEREID_INT8,
  NEREID_UINT8,
  NEREID_BOOL
} NereidType;

/* Row-major, without gaps. */
typedef struct NereidArray {
  const char *name;
  void *data; /* on the device */
  NereidType dtype;
  int rank;
  const int64_t *shape;
} NereidArray;

/* An argument that is no array; `real` is the number, whatever it is. */
typedef struct NereidNumber {
  const char *name;
  int64_t integer;
  double real;
} NereidNumber;

typedef struct NereidCall {
  int version; /* NEREID_PROVIDER_VERSION of the program that calls */
  /* The arrays of the bench by their names, and the arguments of the kernel by
     its parameters' names: "x" and "x_ptr" may be the same array. */
  const NereidArray *arrays;
  int arrays_count;
  /* Arguments of the kernel, and variables of the bench. */
  const NereidNumber *numbers;
  int numbers_count;
  int device;   /* of CUDA; -1: the host */
  void *stream; /* a CUstream; null on the host */
} NereidCall;

typedef int (*NereidProvider)(const NereidCall *call);

/* By name; null where there is none. */
static inline const NereidArray *nereid_array(const NereidCall *call,
                                              const char *name) {
  int i;
  for (i = 0; i < call->arrays_count; ++i) {
    if (strcmp(call->arrays[i].name, name) == 0) {
      return &call->arrays[i];
    }
  }
  return NULL;
}

static inline const NereidNumber *nereid_number(const NereidCall *call,
                                                const char *name) {
  int i;
  for (i = 0; i < call->numbers_count; ++i) {
    if (strcmp(call->numbers[i].name, name) == 0) {
      return &call->numbers[i];
    }
  }
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* NEREID_BENCH_PROVIDER_H */
