"""Reductions, scans, atomic operations and layouts: what threads tell each other, and why.

REQUIRES: nereid
RUN: nereid compile %s:sums -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=WARPS
RUN: nereid compile %s:sums -v --target sm_90a --num-warps 1 -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=WARP
RUN: nereid compile %s:columns -v --target sm_90a --num-warps 1 -o %t --signature "*fp32:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=THREAD
RUN: nereid compile %s:sums -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1000" 2>&1 | FileCheck %s --check-prefix=PADDED
RUN: nereid compile %s:running -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 4096" 2>&1 | FileCheck %s --check-prefix=SCAN
RUN: nereid compile %s:running -v --target sm_90a --num-warps 1 -o %t --signature "*fp32:16, *fp32:16, 64" 2>&1 | FileCheck %s --check-prefix=ONE
RUN: nereid compile %s:counts -v --target sm_90a -o %t --signature "*i32:16, *i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=COUNTS
RUN: nereid compile %s:added -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1024, 'relaxed'" 2>&1 | FileCheck %s --check-prefix=WIDE
RUN: nereid compile %s:added -v --target sm_80 -o %t --signature "*fp32:16, *fp32:16, 1024, 'acq_rel'" 2>&1 | FileCheck %s --check-prefix=ORDERED
RUN: nereid compile %s:added -v --target sm_80 -o %t --signature "*bf16:16, *bf16:16, 1024, 'relaxed'" 2>&1 | FileCheck %s --check-prefix=SWAP
RUN: nereid compile %s:transposed -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=CONVERT
RUN: nereid compile %s:norm -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 128" 2>&1 | FileCheck %s --check-prefix=ADOPT
RUN: nereid compile %s:norm -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 2048" 2>&1 | FileCheck %s --check-prefix=SPREAD
"""
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    # WARPS: between-threads.py:[[#@LINE+3]]:40: remark: reduce: 8 elements in each thread, then 5 steps of shuffles between 32 lanes, then the parts of 4 warps through shared memory, with a barrier; not inside a warp: the axis of 1024 elements is spread over 4 warps
    # PADDED: :[[#@LINE+2]]:40: remark: reduce: whether a part counts travels with it; not a plain tree: the axis of 1000 elements is padded to 1024; hint: a block of a power of two
    # WARP: :[[#@LINE+1]]:40: remark: reduce: 32 elements in each thread as 8 running results, then 5 steps of shuffles between 32 lanes, no shared memory: each row of the axis lies in one warp
    tl.store(y_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def columns(x_ptr, y_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8)[:, None] * 128 + tl.arange(0, 128)[None, :])
    # THREAD: :[[#@LINE+1]]:41: remark: reduce: 8 elements in each thread{{.*}}, no communication: each row of the axis lies in one thread
    tl.store(y_ptr + tl.arange(0, 128), tl.sum(x, axis=0))


@triton.jit
def running(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    # SCAN: :[[#@LINE+2]]:25: remark: scan: 16 elements in each thread, then 5 steps of shuffles between 32 lanes, then the totals of 4 warps through shared memory, with a barrier, 2 rounds one after the other; not inside a warp: the axis of 4096 elements is spread over 4 warps
    # ONE: :[[#@LINE+1]]:25: remark: scan: 2 elements in each thread, then 5 steps of shuffles between 32 lanes{{$}}
    tl.store(y_ptr + i, tl.cumsum(x, axis=0))


@triton.jit
def counts(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    # COUNTS: :[[#@LINE+1]]:41: remark: histogram: one atomic addition to shared memory for each element, 512 bytes of counts, 2 barriers
    tl.store(y_ptr + tl.arange(0, 128), tl.histogram(x, 128))


@triton.jit
def added(x_ptr, y_ptr, BLOCK: tl.constexpr, ORDER: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    # WIDE: :[[#@LINE+3]]:5: remark: atomic: 16 bytes an access (4 x fp32), neighbours in runs of 4 KiB{{$}}
    # ORDERED: :[[#@LINE+2]]:5: remark: atomic: the program's threads wait for each other around it, and a fence orders memory; not unordered: its order is 'acq_rel', which the language takes where none is said; hint: sem="relaxed"
    # SWAP: :[[#@LINE+1]]:5: remark: atomic: a loop of compare-and-swap for each element; not one instruction: sm_80 has no instruction for 'fadd' of bf16
    tl.atomic_add(y_ptr + i, x, sem=ORDER)


@triton.jit
def transposed(x_ptr, y_ptr):
    i = tl.arange(0, 64)
    x = tl.load(x_ptr + i[:, None] * 64 + i[None, :])
    # CONVERT: :[[#@LINE+1]]:52: remark: layout: a tile of 64x64 moves between threads through shared memory, 16 KiB with a barrier; not left where it is: 'store' wants other elements in each thread than 'transpose' gives
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], tl.trans(x))


@triton.jit
def norm(x_ptr, w_ptr, y_ptr, COLUMNS: tl.constexpr):
    i = tl.arange(0, 4)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + i)
    # ADOPT: :[[#@LINE+2]]:9: remark: layout: every warp loads what it needs of the tile: that is at most 4 instructions a thread, less than a trip through shared memory
    # SPREAD: :[[#@LINE+1]]:9: remark: layout: the warps share each row; not a row stays in a warp: weights of {{[0-9]+}} registers a thread would be held by every warp
    w = tl.load(w_ptr + tl.arange(0, COLUMNS))
    tl.store(y_ptr + i, x / tl.sum(x, axis=1)[:, None] * w[None, :])
