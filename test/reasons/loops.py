"""Which loads run ahead of their loops, and why others do not.

REQUIRES: nereid
RUN: nereid compile %s:matmul -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64" 2>&1 | FileCheck %s --check-prefix=AHEAD
RUN: nereid compile %s:matmul -v --target sm_90a --num-stages 8 -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 128, 128" 2>&1 | FileCheck %s --check-prefix=SHARED
RUN: nereid compile %s:matmul -v --target sm_90a --num-stages 1 -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64" 2>&1 | FileCheck %s --check-prefix=ONE
RUN: nereid compile %s:matmul -v --target sm_75 -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64" 2>&1 | FileCheck %s --check-prefix=TARGET
RUN: nereid compile %s:matmul -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, i32, 64, 64" 2>&1 | FileCheck %s --check-prefix=PIECE
RUN: nereid compile %s:halved -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=USED
RUN: nereid compile %s:summed -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=REGISTERS
RUN: nereid compile %s:attended -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=OTHERDOT
RUN: nereid compile %s:weights -v --target sm_90a -o %t --signature "*fp16:16, *i8:16, *fp16:16, *fp32:16, i32, 128" 2>&1 | FileCheck %s --check-prefix=SOURCES
RUN: nereid compile %s:weights -v --target sm_86 -o %t --signature "*fp16:16, *i8:16, *fp16:16, *fp32:16, i32, 256" 2>&1 | FileCheck %s --check-prefix=ALONE
RUN: nereid compile %s:sums -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=NODOT
RUN: nereid compile %s:aliased -v --target sm_90a -o %t --signature "*fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=ALIAS
RUN: nereid compile %s:dependent -v --target sm_90a -o %t --signature "*fp32:16, *i32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=DEPENDS
RUN: nereid compile %s:other -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32:16, 1024" 2>&1 | FileCheck %s --check-prefix=OTHER
RUN: nereid compile %s:until -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=WHILE
RUN: nereid compile %s:counting -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=COUNTING
RUN: nereid compile %s:early -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" 2>&1 | FileCheck %s --check-prefix=EARLY
RUN: nereid compile %s:nested -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, i32, 1024" 2>&1 | FileCheck %s --check-prefix=NESTED
RUN: nereid compile %s:unrolled -v --target sm_90a -o %t --signature "*fp32:16, 1024" 2>&1 | FileCheck %s --check-prefix=UNROLLED
"""
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, stride, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, 64)
    c = tl.zeros((M, N), tl.float32)
    # AHEAD: loops.py:[[#@LINE+4]]:14: remark: loop: 2 loads copied 2 iterations ahead, 3 stages of 16 KiB{{$}}
    # SHARED: :[[#@LINE+3]]:14: remark: loop: 2 loads copied {{[0-9]}} iterations ahead, {{[0-9]}} stages of 32 KiB; not 8 stages: a block has {{.*}} of shared memory, and one more stage needs {{.*}}; hint: smaller blocks, or a smaller num_stages
    # ONE: :[[#@LINE+2]]:14: remark: loop: its loads wait in their own iteration; not copied ahead: num_stages is 1; hint: num_stages=2 or more
    # TARGET: :[[#@LINE+1]]:14: remark: loop: its loads wait in their own iteration; not copied ahead: sm_75 has no asynchronous copies
    for i in range(0, K, 64):
        # AHEAD: :[[#@LINE+1]]:13: remark: copy ahead: 16 bytes an access (8 x fp16)
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + k)[None, :])
        # PIECE: :[[#@LINE+1]]:13: remark: load: the loop waits for it in its own iteration; not copied ahead: its address is not known to be divisible by 4 bytes
        b = tl.load(b_ptr + (i + k)[:, None] * stride + n[None, :])
        # AHEAD: :[[#@LINE+1]]:13: remark: dot: runs on into the next iteration: only the next iteration's product needs the sum
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@triton.jit
def halved(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    m = tl.arange(0, N)
    c = tl.zeros((N, N), tl.float32)
    for i in range(0, K, N):
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + m)[None, :])
        b = tl.load(b_ptr + (i + m)[:, None] * 4096 + m[None, :])
        # USED: :[[#@LINE+1]]:13: remark: dot: runs while the next iteration's copies start; not into the next iteration: the iteration uses its result
        c = tl.dot(a, b, c) * 0.5
    tl.store(c_ptr + m[:, None] * N + m[None, :], c)


@triton.jit
def summed(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    m = tl.arange(0, N)
    c = tl.zeros((N, N), tl.float32)
    d = tl.zeros((N, N), tl.float16)
    for i in range(0, K, N):
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + m)[None, :])
        b = tl.load(b_ptr + (i + m)[:, None] * 4096 + m[None, :])
        # REGISTERS: :[[#@LINE+1]]:13: remark: dot: runs while the next iteration's copies start; not into the next iteration: the iteration has one of its operands in registers, too
        c = tl.dot(a, b, c)
        d += a
    tl.store(c_ptr + m[:, None] * N + m[None, :], c + d)


@triton.jit
def attended(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    m = tl.arange(0, N)
    c = tl.zeros((N, N), tl.float32)
    d = tl.zeros((N, N), tl.float32)
    for i in range(0, K, N):
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + m)[None, :])
        b = tl.load(b_ptr + (i + m)[:, None] * 4096 + m[None, :])
        # OTHERDOT: :[[#@LINE+1]]:13: remark: dot: runs while the next iteration's copies start; not into the next iteration: another product of the iteration waits for all
        c = tl.dot(a, b, c)
        e = tl.load(a_ptr + N * 4096 + m[:, None] * 4096 + (i + m)[None, :])
        d = tl.dot((e * 2).to(tl.float16), b, d)
    tl.store(c_ptr + m[:, None] * N + m[None, :], c + d)


@triton.jit
def sums(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n, BLOCK):
        # NODOT: :[[#@LINE+1]]:18: remark: load: the loop waits for it in its own iteration; not copied ahead: no product of the loop reads it; hint: tl.range(..., num_stages=2)
        total += tl.load(x_ptr + k + i)
    tl.store(y_ptr + i, total)


@triton.jit
def aliased(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in tl.range(0, n, num_stages=3):
        # ALIAS: :[[#@LINE+1]]:13: remark: load: the loop waits for it {{.*}}; not copied ahead: the loop writes an array in line [[#@LINE+2]] that may be the one it reads; hint: read and write through different parameters
        x = tl.load(x_ptr + k * BLOCK + i)
        tl.store(x_ptr + (k + 1) * BLOCK + i, x + 1)


@triton.jit
def dependent(x_ptr, index_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.range(0, n, num_stages=3):
        row = tl.load(index_ptr + k)
        # DEPENDS: :[[#@LINE+1]]:18: remark: load: the loop waits for it {{.*}}; not copied ahead: its address or mask depends on what the same iteration loads in line [[#@LINE-1]]
        total += tl.load(x_ptr + row * BLOCK + i)
    tl.store(y_ptr + i, total)


@triton.jit
def other(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.range(0, n, BLOCK, num_stages=3):
        # OTHER: :[[#@LINE+1]]:18: remark: load: {{.*}}; not copied ahead: its 'other' is not 0, and copies fill with zeros
        total += tl.load(x_ptr + k + i, mask=k + i < n, other=1.0)
    tl.store(y_ptr + i, total)


@triton.jit
def until(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    k = 0
    # WHILE: :[[#@LINE+1]]:{{[0-9]+}}: remark: loop: its loads wait in their own iteration; not copied ahead: a while loop may end after any iteration; hint: for i in range(n)
    while k < 1000:
        total += tl.load(x_ptr + k * BLOCK + i)
        k += 1 + tl.program_id(0)
    tl.store(y_ptr + i, total)


@triton.jit
def counting(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    m = tl.arange(0, N)
    c = tl.zeros((N, N), tl.float32)
    i = 0
    # A while loop that counts is a for loop.
    # COUNTING: :[[#@LINE+1]]:5: remark: loop: 2 loads copied 2 iterations ahead, 3 stages of 16 KiB{{$}}
    while i < K:
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + m)[None, :])
        b = tl.load(b_ptr + (i + m)[:, None] * 4096 + m[None, :])
        c = tl.dot(a, b, c)
        i += N
    tl.store(c_ptr + m[:, None] * N + m[None, :], c)


@triton.jit
def early(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    if tl.program_id(0) >= K:
        return
    m = tl.arange(0, N)
    c = tl.zeros((N, N), tl.float32)
    # EARLY: :[[#@LINE+1]]:14: remark: loop: 2 loads copied 2 iterations ahead, 3 stages of 16 KiB{{$}}
    for i in range(0, K, N):
        a = tl.load(a_ptr + m[:, None] * 4096 + (i + m)[None, :])
        b = tl.load(b_ptr + (i + m)[:, None] * 4096 + m[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m[:, None] * N + m[None, :], c)


@triton.jit
def nested(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in range(n):
        # NESTED: :[[#@LINE+1]]:17: remark: load: the loop waits for it in its own iteration; not copied ahead: no product of the loop reads it; hint: tl.range(..., num_stages=2)
        total = tl.load(x_ptr + k * BLOCK + i)
        for j in range(k):
            total = total * 2 + 1
        tl.store(y_ptr + k * BLOCK + i, total)


@triton.jit
def unrolled(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # UNROLLED: :[[#@LINE+1]]:14: remark: loop: unrolled, 3 iterations one after the other: its items are known while compiling
    for k in tl.static_range(3):
        tl.store(x_ptr + k * BLOCK + i, i * 1.0)


@triton.jit
def weights(a_ptr, w_ptr, scale_ptr, c_ptr, n, DEPTH: tl.constexpr):
    i = tl.arange(0, 64)
    k = tl.arange(0, DEPTH)
    c = tl.zeros((64, 64), tl.float32)
    # What the right operand is computed from is copied, too, where two iterations of all fit.
    # SOURCES: :[[#@LINE+2]]:14: remark: loop: 3 loads copied 2 iterations ahead
    # ALONE: :[[#@LINE+1]]:14: remark: loop: 1 load copied 1 iteration ahead
    for j in range(n):
        a = tl.load(a_ptr + j * 64 * DEPTH + i[:, None] * DEPTH + k[None, :])
        w = tl.load(w_ptr + j * 64 * DEPTH + k[:, None] * 64 + i[None, :])
        scale = tl.load(scale_ptr + j * 64 + i)
        c += tl.dot(a, w.to(tl.float16) * scale[None, :])
    tl.store(c_ptr + i[:, None] * 64 + i[None, :], c)
