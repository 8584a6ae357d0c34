"""Products in the forms that people write."""

import triton
import triton.language as tl


@triton.jit
def int8_kernel(c_ptr, a_ptr, b_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """int32 [M, N] = int8 [M, K] @ int8 [N, K]^T."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.int32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + columns[None, :] * K + (start + k)[:, None])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


@triton.jit
def gated_kernel(y_ptr, x_ptr, gate_ptr, up_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr):
    """silu(x @ gate) * (x @ up): two products of one left operand."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    gate = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    up = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + rows[:, None] * K + (start + k)[None, :])
        at = (start + k)[:, None] * N + columns[None, :]
        gate = tl.dot(x, tl.load(gate_ptr + at), gate)
        up = tl.dot(x, tl.load(up_ptr + at), up)
    y = gate * tl.sigmoid(gate) * up
    tl.store(y_ptr + rows[:, None] * N + columns[None, :], y.to(y_ptr.dtype.element_ty))


@triton.jit
def masked_kernel(c_ptr, a_ptr, b_ptr, bias_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """relu(a @ b + bias) of any sizes, every edge masked, programs in groups of GROUP rows of blocks."""
    program = tl.program_id(0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * blocks_n)
    first = group * GROUP
    height = min(blocks_m - first, GROUP)
    block_m = first + program % (GROUP * blocks_n) % height
    block_n = program % (GROUP * blocks_n) // height
    rows = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows < M)[:, None] & (k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + columns[None, :], mask=(k < K)[:, None] & (columns < N)[None, :], other=0.0)
        total = tl.dot(a, b, total)
    total += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], tl.maximum(total, 0.0).to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def split_k_kernel(c_ptr, a_ptr, b_ptr, M, N, K, SPLIT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr):
    """c (fp32, zero before) grows by each program's share of K."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K * SPLIT):
        a = tl.load(a_ptr + rows[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.atomic_add(c_ptr + rows[:, None] * N + columns[None, :], total)


@triton.jit
def int4_weights_kernel(c_ptr, a_ptr, packed_ptr, scale_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                        BLOCK_K: tl.constexpr):
    """fp16 a @ (nibbles - 8) * scale: 8 rows of a column in an int32, a scale for each BLOCK_K rows of a column."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (start + k)[None, :])
        word = tl.load(packed_ptr + ((start + k) // 8)[:, None] * N + columns[None, :])
        nibble = (word >> ((k % 8) * 4)[:, None]) & 15
        scale = tl.load(scale_ptr + start // BLOCK_K * N + columns)
        total = tl.dot(a, ((nibble - 8) * scale[None, :]).to(tl.float16), total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def batched_kernel(c_ptr, a_ptr, b_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """c[i] = a[i] @ b[i]^T, both with K fastest."""
    batch = tl.program_id(2)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + batch * M * K + rows[:, None] * K + k[None, :]
    b_ptrs = b_ptr + batch * N * K + columns[None, :] * K + k[:, None]
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    tl.store(c_ptr + batch * M * N + rows[:, None] * N + columns[None, :], total.to(c_ptr.dtype.element_ty))
