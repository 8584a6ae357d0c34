"""What became of loads and stores, and why.

REQUIRES: nereid
RUN: nereid compile %s:wide -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=WIDE
RUN: nereid compile %s:wide -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=MASK
RUN: nereid compile %s:wide -v --target sm_90a -o %t --signature "*fp16, *fp16:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=ALIGNED
RUN: nereid compile %s:wide -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, i32:16, 256" 2>&1 | FileCheck %s --check-prefix=SHARE
RUN: nereid compile %s:wide -v --target sm_90a --instrument oob -o %t --signature "*fp16:16, *fp16:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=CHECKED
RUN: nereid compile %s:gathered -v --target sm_90a -o %t --signature "*fp32:16, *i32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=GATHER
RUN: nereid compile %s:strided -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=STRIDE
RUN: nereid compile %s:every_third -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=CONSTANT
RUN: nereid compile %s:short_rows -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, i32:16" 2>&1 | FileCheck %s --check-prefix=SHORT
RUN: nereid compile %s:in_place -v --target sm_90a -o %t --signature "*fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=ORDER
RUN: nereid compile %s:scalar -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=SCALAR
RUN: nereid compile %s:add -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=STREAM
"""
import triton
import triton.language as tl


@triton.jit
def wide(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # WIDE: accesses.py:[[#@LINE+6]]:9: remark: load: 16 bytes an access (8 x fp16), neighbours in runs of 2 KiB{{$}}
    # WIDE: accesses.py:[[#@LINE+6]]:5: remark: store: 16 bytes an access
    # MASK: :[[#@LINE+4]]:9: remark: load: 2 bytes an access (1 x fp16), {{.*}}; not 16 bytes: the mask may change after 1 element; hint: {{.*}}tl.multiple_of(n, 16)
    # ALIGNED: :[[#@LINE+3]]:9: remark: load: 2 bytes an access {{.*}}; not 16 bytes: the address is known to be divisible by 2 bytes only; hint: {{.*}}tl.multiple_of(x, 16)
    # SHARE: :[[#@LINE+2]]:9: remark: load: 4 bytes an access (2 x fp16), {{.*}}; not 16 bytes: 256 elements on 128 threads leave 2 each; hint: a larger block, or a smaller num_warps
    # CHECKED: :[[#@LINE+1]]:9: remark: load: 2 bytes an access {{.*}}; not 16 bytes: NEREID_CHECK=oob lets elements through one by one
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def gathered(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i)
    # GATHER: :[[#@LINE+1]]:9: remark: load: 4 bytes an access (1 x fp32); not coalesced: a gather: the indices are loaded in line [[#@LINE-1]]
    x = tl.load(x_ptr + index)
    tl.store(y_ptr + i, x)


@triton.jit
def strided(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # STRIDE: :[[#@LINE+1]]:9: remark: load: {{.*}}; not coalesced: neighbouring elements lie a distance apart that is known at run time only ('stride'); hint: pass 1 as the stride
    x = tl.load(x_ptr + i * stride)
    tl.store(y_ptr + i, x)


@triton.jit
def every_third(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # CONSTANT: :[[#@LINE+1]]:9: remark: load: {{.*}}; not coalesced: neighbouring elements lie 12 bytes apart
    x = tl.load(x_ptr + 3 * i)
    tl.store(y_ptr + i, x)


@triton.jit
def short_rows(x_ptr, y_ptr, stride):
    i = tl.arange(0, 128)[:, None] * stride + tl.arange(0, 4)[None, :]
    # SHORT: :[[#@LINE+1]]:9: remark: load: 8 bytes an access (4 x fp16), neighbours in runs of 8 bytes; not 16 bytes: only 4 elements are known to lie side by side
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x)


@triton.jit
def in_place(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)
    # ORDER: :[[#@LINE+1]]:9: remark: order: all warps wait at a barrier in front of it; not started at once: the program wrote the same array through other pointers before
    x = tl.load(x_ptr + (BLOCK - 1 - i))
    tl.store(x_ptr + BLOCK + i, x)


@triton.jit
def scalar(x_ptr, y_ptr, BLOCK: tl.constexpr):
    # SCALAR: :[[#@LINE+1]]:9: remark: load: one fp32, a scalar for all threads
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(y_ptr + tl.arange(0, BLOCK), x)


@triton.jit
def add(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    # STREAM: :[[#@LINE+1]]:5: remark: store: leaves the nearest cache to the loads: the kernel writes this array and does not read it, and loads more bytes than it stores
    tl.store(z_ptr + i, x + y)
