"""How products are computed, and why not by wider instructions.

REQUIRES: nereid
RUN: nereid compile %s:product -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 64, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=GROUP
RUN: nereid compile %s:product -v --target sm_90a --num-warps 2 -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 64, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=WARPS
RUN: nereid compile %s:product -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 32, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=FEW
RUN: nereid compile %s:product -v --target sm_80 -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 64, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=TARGET
RUN: nereid compile %s:product -v --target sm_90a -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 64, 64, 64, 'ieee'" 2>&1 | FileCheck %s --check-prefix=IEEE
RUN: nereid compile %s:product -v --target gfx1100 -o %t --signature "*fp32:16, *fp32:16, *fp32:16, 64, 64, 64, 'ieee'" 2>&1 | FileCheck %s --check-prefix=SINGLE
RUN: nereid compile %s:product -v --target sm_75 -o %t --signature "*bf16:16, *bf16:16, *fp32:16, 64, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=TYPE
RUN: nereid compile %s:batches -v --target sm_90a -o %t --signature "*fp16:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=BATCH
RUN: nereid compile %s:product -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 64, 64, 1, None" 2>&1 | FileCheck %s --check-prefix=REGISTER
RUN: env NEREID_DISABLE=matrix-instructions nereid compile %s:product -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 64, 64, 64, None" 2>&1 | FileCheck %s --check-prefix=DISABLED
RUN: nereid compile %s:product -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, 96, 64, 48, None" 2>&1 | FileCheck %s --check-prefix=POWER
RUN: nereid compile %s:product -v --target sm_89 -o %t --signature "*fp64:16, *fp64:16, *fp64:16, 8, 8, 8, None" 2>&1 | FileCheck %s --check-prefix=WORK
RUN: nereid compile %s:integers -v --target sm_90a -o %t --signature "*i8:16, *i8:16, *i32:16, i32, True" 2>&1 | FileCheck %s --check-prefix=K_INSIDE
RUN: nereid compile %s:integers -v --target sm_90a -o %t --signature "*i8:16, *i8:16, *i32:16, i32, False" 2>&1 | FileCheck %s --check-prefix=ACROSS
RUN: nereid compile %s:added -v --target sm_90a -o %t --signature "*fp16:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=ADDED
RUN: nereid compile %s:added -v --target sm_90a --no-fp-fusion -o %t --signature "*fp16:16, *fp32:16" 2>&1 | FileCheck %s --check-prefix=FUSION
RUN: nereid compile %s:chain -v --target sm_90a -o %t --signature "*fp16:16, *fp32:16, i32" 2>&1 | FileCheck %s --check-prefix=CHAIN
RUN: nereid compile %s:left -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp32:16, i32, 64" 2>&1 | FileCheck %s --check-prefix=OUTSIDE
RUN: nereid compile %s:two_left -v --target sm_90a -o %t --signature "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32, 512" 2>&1 | FileCheck %s --check-prefix=ROOM
"""
import triton
import triton.language as tl


@triton.jit
def tile_of(ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    a = tile_of(a_ptr, M, K)
    b = tile_of(b_ptr, K, N)
    # SINGLE: products.py:[[#@LINE+12]]:9: remark: dot: multiplications and additions {{.*}}: Nereid has none for fp32 on gfx1100; hint: operands of fp16 or bf16
    # REGISTER: products.py:[[#@LINE+11]]:9: remark: dot: multiplications and additions {{.*}}: K is 1, less than a register holds of fp16
    # DISABLED: products.py:[[#@LINE+10]]:9: remark: dot: multiplications and additions {{.*}}: NEREID_DISABLE has matrix-instructions
    # POWER: products.py:[[#@LINE+9]]:9: remark: dot: matrix instructions of one warp {{.*}} together: the sizes 96x64x48 are not all powers of two
    # WORK: products.py:[[#@LINE+8]]:9: remark: dot: multiplications and additions {{.*}}: a product of so few elements, padded to 8x8x4, takes longer
    # GROUP: products.py:[[#@LINE+7]]:9: remark: dot: matrix instructions of 4 warps together, operands from shared memory
    # GROUP: :[[#@LINE+6]]:9: remark: dot: the left operand {{.*}}
    # WARPS: :[[#@LINE+5]]:9: remark: dot: matrix instructions of one warp (16x8x16), {{.*}}; not matrix instructions of several warps together: they take 4 warps each; hint: a num_warps divisible by 4
    # FEW: :[[#@LINE+4]]:9: remark: dot: matrix instructions of one warp {{.*}} together: 32 rows; an instruction has 64; hint: M of at least 64
    # TARGET: :[[#@LINE+3]]:9: remark: dot: matrix instructions of one warp {{.*}} together: Nereid has none for sm_80
    # IEEE: :[[#@LINE+2]]:9: remark: dot: multiplications and additions of single elements, {{.*}}; not matrix instructions: input_precision is 'ieee', and matrix instructions round fp32 to tf32; hint: input_precision="tf32x3"
    # TYPE: :[[#@LINE+1]]:9: remark: dot: multiplications and additions {{.*}}: Nereid has none for bf16 on sm_75
    c = tl.dot(a, b, input_precision=PRECISION)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@triton.jit
def batches(a_ptr, c_ptr):
    i = tl.arange(0, 4)[:, None, None] * 4096 + tl.arange(0, 64)[None, :, None] * 64 + tl.arange(0, 64)[None, None, :]
    a = tl.load(a_ptr + i)
    # BATCH: :[[#@LINE+1]]:9: remark: dot: matrix instructions of one warp (16x8x16), 4x1x1 warps; not {{.*}} together: the operands have 3 dimensions
    c = tl.dot(a, a)
    tl.store(c_ptr + i, c)


@triton.jit
def added(a_ptr, c_ptr):
    i = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    a = tl.load(a_ptr + i)
    c = tl.load(c_ptr + i)
    # ADDED: :[[#@LINE+2]]:10: remark: dot: the product begins with what is added to it
    # FUSION: :[[#@LINE+1]]:10: remark: dot: a sum is computed after the product; not the product begins with {{.*}}: enable_fp_fusion is off
    c += tl.dot(a, a)
    tl.store(c_ptr + i, c)


@triton.jit
def chain(a_ptr, c_ptr, n):
    i = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    a = tl.load(a_ptr + i)
    c = tl.zeros((64, 64), tl.float32)
    for k in range(n):
        p = tl.dot(a, a)
        # CHAIN: :[[#@LINE+1]]:14: remark: dot: the left operand stays in registers
        c += tl.dot(p.to(tl.float16), a)
    tl.store(c_ptr + i, c)


@triton.jit
def left(q_ptr, k_ptr, c_ptr, n, DEPTH: tl.constexpr):
    # OUTSIDE: :[[#@LINE+1]]:9: remark: dot operand: is written to shared memory once, in front of the loop, 8 KiB: the loop does not change it
    q = tile_of(q_ptr, 64, DEPTH) * 2
    c = tl.zeros((64, 64), tl.float32)
    for k in range(n):
        b = tile_of(k_ptr + k * 64 * DEPTH, 64, DEPTH)
        s = tl.dot(q, b.T)
        c += tl.where(s > 0, s / c, tl.sin(s))
    tl.store(c_ptr + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], c)


@triton.jit
def two_left(q_ptr, r_ptr, k_ptr, c_ptr, n, DEPTH: tl.constexpr):
    q = tile_of(q_ptr, 64, DEPTH) * 2
    # ROOM: :[[#@LINE+1]]:9: remark: dot operand: is written to shared memory for each product; not once in front of the loop: 64 KiB beside 64 KiB of other buffers are more than {{.*}}, half of a block's shared memory; hint: a smaller block
    r = tile_of(r_ptr, 64, DEPTH) * 2
    c = tl.zeros((64, 64), tl.float32)
    for k in range(n):
        b = tile_of(k_ptr + k * 64 * DEPTH, 64, DEPTH)
        s = tl.dot(q, b.T) - tl.dot(r, b.T)
        c += tl.where(s > 0, s / c, tl.sin(s))
    tl.store(c_ptr + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], c)


@triton.jit
def integers(a_ptr, b_ptr, c_ptr, n, INSIDE: tl.constexpr):
    i = tl.arange(0, 64)
    c = tl.zeros((64, 64), tl.int32)
    for k in range(n):
        a = tile_of(a_ptr + k * 4096, 64, 64)
        b = tl.load(b_ptr + k * 4096 + (i[None, :] * 64 + i[:, None] if INSIDE else i[:, None] * 64 + i[None, :]))
        # K_INSIDE: :[[#@LINE+2]]:14: remark: dot: matrix instructions of 4 warps together
        # ACROSS: :[[#@LINE+1]]:14: remark: dot: matrix instructions of one warp {{.*}} together: operands of int8 must run along K in memory; hint: b[n, k] loaded as
        c += tl.dot(a, b)
    tl.store(c_ptr + i[:, None] * 64 + i[None, :], c)
