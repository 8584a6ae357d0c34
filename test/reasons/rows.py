"""Which rows are prefetched by earlier programs, and why others are not.

REQUIRES: nereid
RUN: nereid compile %s:softmax -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=ASKED
RUN: nereid compile %s:softmax -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=SHORT
RUN: nereid compile %s:softmax -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 32768" 2>&1 | FileCheck %s --check-prefix=LONG
RUN: nereid compile %s:softmax -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=ALIGNED
RUN: nereid compile %s:softmax -v --target sm_80 -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=TARGET
RUN: nereid compile %s:softmax -v --target sm_90a --instrument oob -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=CHECKED
RUN: nereid compile %s:total -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=STORES
RUN: nereid compile %s:gathered -v --target sm_90a -o %t --signature "*fp32:16, *i32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=ADDRESS
RUN: nereid compile %s:early -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=EARLY
RUN: nereid compile %s:in_loop -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=LOOP
RUN: nereid compile %s:weighted -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
"""
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    # ASKED: rows.py:[[#@LINE+5]]:9: remark: row: an earlier program prefetches it, 4 KiB: a reduction waits for it
    # SHORT: :[[#@LINE+4]]:9: remark: row: each program loads it without a prefetch; not prefetched by an earlier program: its 256 bytes are fewer than 512 bytes
    # LONG: :[[#@LINE+3]]:9: remark: row: {{.*}}: a program's rows of 128 KiB keep the memory busy on their own
    # ALIGNED: :[[#@LINE+2]]:9: remark: row: {{.*}}: its address is not known to be divisible by 16 bytes
    # CHECKED: :[[#@LINE+1]]:9: remark: row: {{.*}}: NEREID_CHECK=oob reports wrong addresses instead
    x = tl.load(x_ptr + i)
    # TARGET: :[[#@LINE+1]]:20: remark: row: {{.*}}: sm_80 has no bulk prefetch
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + i, e / tl.sum(e, axis=0))


@triton.jit
def total(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    # STORES: :[[#@LINE+1]]:9: remark: row: {{.*}}: the kernel stores less than half of the 4 KiB that it loads
    x = tl.load(x_ptr + tl.program_id(0) * stride + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def gathered(x_ptr, row_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.load(row_ptr + tl.program_id(0))
    # ADDRESS: :[[#@LINE+1]]:9: remark: row: {{.*}}: its address is not arithmetic on program ids and arguments
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(y_ptr + row * BLOCK + tl.arange(0, BLOCK), x / tl.sum(x, axis=0))


@triton.jit
def early(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row >= n:
        return
    i = row * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    # EARLY: :[[#@LINE+1]]:29: remark: row: {{.*}}: it stands under a condition; an early return makes one
    tl.store(y_ptr + i, x / tl.sum(x, axis=0))


@triton.jit
def in_loop(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for row in range(n):
        i = row * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i)
        # LOOP: :[[#@LINE+1]]:33: remark: row: {{.*}}: what it reduces may be loaded in its loop, which can start loads ahead itself
        tl.store(y_ptr + i, x / tl.sum(x, axis=0))


@triton.jit
def weighted(x_ptr, w_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    total = tl.sum(x, axis=0)
    # WEIGHTS: :[[#@LINE+1]]:9: remark: row: program 0 prefetches it before anything else: all programs read it after a reduction
    w = tl.load(w_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr + i, x / total * w)
