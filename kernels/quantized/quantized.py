"""Products with weights of 8 or 4 bits: w[n, k] = scales[n, k // group] * q[n, k].

Eight bits are a byte each. Four bits lie in units of 64 elements, 32 bytes: byte i has element i in its low half and 32 + i
in its high half, so that each half is a block of neighbours along K, and nothing is interleaved. `group` is a multiple of 32.

Whole numbers of 8 bits are exact in every float type: they are multiplied as they are, and a sum over a block of one group
takes its scale in fp32 after.
"""
import triton
import triton.language as tl


@triton.jit
def scales_kernel(scales_ptr, w_ptr, K, w_row, w_col, group, groups, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    """Programs (rows * groups): the largest absolute value is LARGEST times the scale. NaN where an element is not
    finite."""
    row = (tl.program_id(0) // groups).to(tl.int64)
    first = tl.program_id(0) % groups * group
    last = min(first + group, K)
    ks = tl.arange(0, BLOCK)
    largest = tl.zeros((BLOCK,), dtype=tl.float32)
    bad = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(first, last, BLOCK):
        k = (start + ks).to(tl.int64)
        w = tl.load(w_ptr + row * w_row + k * w_col, mask=k < last, other=0.0).to(tl.float32)
        bad = tl.maximum(bad, tl.where(tl.abs(w) < float("inf"), 0, 1))
        largest = tl.maximum(largest, tl.abs(w))
    scale = tl.max(largest, axis=0) / LARGEST
    tl.store(scales_ptr + tl.program_id(0), tl.where(tl.max(bad, axis=0) > 0, float("nan"), scale))


@triton.jit
def rounded(w_ptr, scales_ptr, row, k, K, w_row, w_col, group, groups, LARGEST: tl.constexpr):
    w = tl.load(w_ptr + row * w_row + k.to(tl.int64) * w_col, mask=k < K, other=0.0).to(tl.float32)
    scale = tl.load(scales_ptr + row * groups + k // group, mask=k < K, other=0.0)
    x = tl.math.rint(w / tl.where(scale == 0.0, 1.0, scale))
    return tl.minimum(tl.maximum(x, -LARGEST), LARGEST).to(tl.int32)


@triton.jit
def pack_kernel(q_ptr, w_ptr, scales_ptr, K, w_row, w_col, group, groups, bytes, LARGEST: tl.constexpr,
                BITS: tl.constexpr, BLOCK: tl.constexpr):
    """Programs (rows * blocks of bytes of a row)."""
    blocks = tl.cdiv(bytes, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64)
    at = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    if BITS == 8:
        q = rounded(w_ptr, scales_ptr, row, at, K, w_row, w_col, group, groups, LARGEST)
    else:
        k = at // 32 * 64 + at % 32
        low = rounded(w_ptr, scales_ptr, row, k, K, w_row, w_col, group, groups, LARGEST)
        high = rounded(w_ptr, scales_ptr, row, k + 32, K, w_row, w_col, group, groups, LARGEST)
        q = (low & 15) | (high << 4)
    tl.store(q_ptr + row * bytes + at, q.to(tl.int8), mask=at < bytes)


@triton.jit
def unpack_kernel(w_ptr, q_ptr, scales_ptr, K, group, groups, bytes, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """w [rows, K] again. Programs (rows * blocks of K)."""
    blocks = tl.cdiv(K, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64)
    k = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    if BITS == 8:
        q = tl.load(q_ptr + row * bytes + k, mask=k < K, other=0).to(tl.int32)
    else:
        q = tl.load(q_ptr + row * bytes + k // 64 * 32 + k % 32, mask=k < K, other=0).to(tl.int32)
        q = tl.where(k % 64 < 32, (q << 28) >> 28, q >> 4)
    scale = tl.load(scales_ptr + row * groups + k // group, mask=k < K, other=0.0)
    tl.store(w_ptr + row * K + k, q.to(tl.float32) * scale, mask=k < K)


@triton.jit
def scaled(total, x, q, scales_ptr, cols, N, groups, k, group, GROUPED: tl.constexpr):
    """total + x @ q, q [K, N] of one group, times its scales; without GROUPED, those follow at the end."""
    if GROUPED:
        scale = tl.load(scales_ptr + cols * groups + k // group, mask=cols < N, other=0.0)
        total += tl.dot(x, q.to(x.dtype), input_precision="ieee") * scale[None, :]
    else:
        total = tl.dot(x, q.to(x.dtype), total, input_precision="ieee")
    return total


@triton.jit
def quantized_kernel(y_ptr, x_ptr, q_ptr, scales_ptr, bias_ptr, M, N, K, x_row, group, groups, bytes, BITS: tl.constexpr,
                     GROUPED: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """y [M, N] = x [M, K] @ w^T + bias. BLOCK_K elements of one group at once; of 4 bits BLOCK_K is 32, and two of them
    are read together."""
    blocks = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(0) // blocks * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    ks = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + rows.to(tl.int64)[:, None] * x_row + ks[None, :]
    q_ptrs = q_ptr + cols[None, :] * bytes + ks[:, None]
    exists = (rows < M)[:, None]
    inside = (cols < N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if BITS == 8:
        for k in range(0, K, BLOCK_K):
            x = tl.load(x_ptrs, mask=exists & (ks < K - k)[None, :], other=0.0)
            q = tl.load(q_ptrs, mask=inside & (ks < K - k)[:, None], other=0)
            total = scaled(total, x, q, scales_ptr, cols, N, groups, k, group, GROUPED)
            x_ptrs += BLOCK_K
            q_ptrs += BLOCK_K
    else:
        for k in range(0, K, 64):
            low = tl.load(x_ptrs, mask=exists & (ks < K - k)[None, :], other=0.0)
            high = tl.load(x_ptrs + 32, mask=exists & (ks < K - k - 32)[None, :], other=0.0)
            q = tl.load(q_ptrs, mask=inside, other=0).to(tl.int32)
            total = scaled(total, low, (q << 28) >> 28, scales_ptr, cols, N, groups, k, group, GROUPED)
            # After the last column there may be no group.
            total = scaled(total, high, q >> 4, scales_ptr, cols, N, groups, min(k + 32, K - 1), group, GROUPED)
            x_ptrs += 64
            q_ptrs += 32
    if not GROUPED:
        total *= tl.load(scales_ptr + cols, mask=cols < N, other=0.0)[None, :]
    if bias_ptr is not None:
        total += tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
    tl.store(y_ptr + rows.to(tl.int64)[:, None] * N + cols[None, :], total, mask=exists & inside)


@triton.jit
def quantized_backward_kernel(dx_ptr, dy_ptr, q_ptr, scales_ptr, M, N, K, dy_row, group, groups, bytes,
                              BITS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """dx [M, K] = dy [M, N] @ w, of BLOCK_K bytes of rows of q: dy takes the scales of their groups, and its type again."""
    blocks = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    first = tl.program_id(0) // blocks * BLOCK_K
    ks = tl.arange(0, BLOCK_K)
    cols = tl.arange(0, BLOCK_N)
    begin = first
    if BITS == 4:
        begin = first * 2
    k = begin + ks
    exists = (rows < M)[:, None]
    dy_ptrs = dy_ptr + rows.to(tl.int64)[:, None] * dy_row + cols[None, :]
    q_ptrs = q_ptr + cols.to(tl.int64)[:, None] * bytes + (first + ks)[None, :]
    scale_ptrs = scales_ptr + cols.to(tl.int64) * groups
    # Of the first element, and of 4 bits the 32nd: one group's.
    group_of = begin // group
    next_group = min(begin + 32, K - 1) // group
    total = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    behind = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    for n in range(0, N, BLOCK_N):
        inside = cols < N - n
        dy = tl.load(dy_ptrs, mask=exists & inside[None, :], other=0.0)
        q = tl.load(q_ptrs, mask=inside[:, None] & ((first + ks) < bytes)[None, :], other=0)
        scale = tl.load(scale_ptrs + group_of, mask=inside, other=0.0)
        of = (dy.to(tl.float32) * scale[None, :]).to(dy.dtype)
        if BITS == 8:
            total = tl.dot(of, q.to(dy.dtype), total, input_precision="ieee")
        else:
            q = q.to(tl.int32)
            total = tl.dot(of, ((q << 28) >> 28).to(dy.dtype), total, input_precision="ieee")
            scale = tl.load(scale_ptrs + next_group, mask=inside, other=0.0)
            of = (dy.to(tl.float32) * scale[None, :]).to(dy.dtype)
            behind = tl.dot(of, (q >> 4).to(dy.dtype), behind, input_precision="ieee")
        dy_ptrs += BLOCK_N
        q_ptrs += tl.full((), BLOCK_N, tl.int64) * bytes
        scale_ptrs += BLOCK_N * groups
    dx_ptrs = dx_ptr + rows.to(tl.int64)[:, None] * K + k[None, :]
    tl.store(dx_ptrs, total, mask=exists & (k < K)[None, :])
    if BITS == 4:
        tl.store(dx_ptrs + 32, behind, mask=exists & (k + 32 < K)[None, :])
