"""nereid run warns of accesses that leave their arrays, before it launches; nereid explain, too.

REQUIRES: nereid
RUN: env NEREID_CHECK=oob not nereid run %s:unmasked x_ptr=randn:f32[1000] y_ptr=zeros:f32[1000] n=1000 --grid 4 2>&1 | FileCheck %s --check-prefix=UNMASKED
RUN: env NEREID_CHECK=oob not nereid run %s:off_by_one x_ptr=randn:f32[1000] y_ptr=zeros:f32[1000] n=1000 --grid 4 2>&1 | FileCheck %s --check-prefix=MASKED
RUN: env NEREID_CHECK=oob not nereid run %s:looped x_ptr=randn:f32[3,1000] y_ptr=zeros:f32[3] n=1000 --grid 1,3 2>&1 | FileCheck %s --check-prefix=LOOPED
RUN: nereid explain %s:unmasked x_ptr=randn:f32[1000] y_ptr=zeros:f32[1000] n=1000 --grid 4 2>&1 | FileCheck %s --check-prefix=UNMASKED
RUN: nereid run %s:right x_ptr=randn:f32[1000] index_ptr=zeros:i32[1000] y_ptr=zeros:f32[1000] n=1000 --grid 4 2>&1 | count 0
"""
import triton
import triton.language as tl


@triton.jit
def unmasked(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # UNMASKED: outside.py:[[#@LINE+2]]:9: warning: load leaves x_ptr: expected elements 0 to 999, got elements 768 to 1023 in program 3
    # UNMASKED: hint: pass mask=index < n, with the index that is added to x_ptr
    x = tl.load(x_ptr + i)
    # UNMASKED-NOT: warning:
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def off_by_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # MASKED: outside.py:[[#@LINE+2]]:9: warning: load leaves x_ptr: expected elements 0 to 999, got elements -1 to 254 in program 0
    # MASKED: hint: an index is negative
    x = tl.load(x_ptr + i - 1, mask=i < n)
    # MASKED: outside.py:[[#@LINE+2]]:5: warning: store leaves y_ptr: expected elements 0 to 999, got elements 768 to 1000 in program 3
    # MASKED: hint: the mask lets them through: it should be false from n on
    tl.store(y_ptr + i, x, mask=i <= n)


@triton.jit
def looped(x_ptr, y_ptr, n, BLOCK: tl.constexpr = 256):
    row = tl.program_id(1)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, n, BLOCK):
        # LOOPED: outside.py:[[#@LINE+2]]:18: warning: load leaves x_ptr: expected elements 0 to 2999, got elements 2768 to 3023 in program (0, 2, 0)
        # LOOPED: hint: pass mask=index < 3000
        total += tl.load(x_ptr + row * n + first + tl.arange(0, BLOCK))
    tl.store(y_ptr + row, tl.sum(total, axis=0))


@triton.jit
def right(x_ptr, index_ptr, y_ptr, n, BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(y_ptr + i, tl.load(x_ptr + at), mask=i < n)
