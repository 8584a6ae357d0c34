"""The kernels of python_compile.py, as scripts write them: each by itself, blocks of powers of two."""
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def gelu(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(y_ptr + offsets, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)), mask=mask)


@triton.jit
def dropout(y_ptr, x_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(tl.rand(seed, offsets) > p, x / (1 - p), 0.0), mask=mask)


@triton.jit
def softmax(y_ptr, x_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + offsets, e / tl.sum(e, axis=0), mask=offsets < columns)


@triton.jit
def rms_norm(y_ptr, x_ptr, w_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(y_ptr + row * stride + offsets, x * rstd * tl.load(w_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK, ), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK, ), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        x = tl.where(offsets < columns, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
        tl.store(y_ptr + row * stride + offsets, y, mask=mask)


@triton.jit
def layer_norm_backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    wdy = tl.load(w_ptr + offsets, mask=mask, other=0).to(tl.float32) * dy
    c1 = tl.sum(normal * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * stride + offsets, (wdy - (normal * c1 + c2)) * rstd, mask=mask)
    tl.atomic_add(dw_ptr + offsets, dy * normal, mask=mask)
    tl.atomic_add(db_ptr + offsets, dy, mask=mask)


@triton.jit
def cross_entropy(loss_ptr, dx_ptr, x_ptr, target_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(target_ptr + row)
    most, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
        block_most = tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(most - block_most) + tl.sum(tl.exp(x - block_most), axis=0)
        most = block_most
    lse = most + tl.log(total)
    tl.store(loss_ptr + row, lse - tl.load(x_ptr + row * stride + target).to(tl.float32))
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
        gradient = tl.exp(x - lse) - tl.where(offsets == target, 1.0, 0.0)
        tl.store(dx_ptr + row * stride + offsets, gradient, mask=offsets < columns)


@triton.jit
def cumsum(y_ptr, x_ptr, stride, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offsets = tl.arange(0, BLOCK)
    at = rows[:, None] * stride + offsets[None, :]
    x = tl.load(x_ptr + at, mask=offsets[None, :] < columns, other=0.0)
    tl.store(y_ptr + at, tl.cumsum(x, axis=1), mask=offsets[None, :] < columns)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    tall, wide = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = program // (GROUP * wide)
    height = tl.minimum(tall - group * GROUP, GROUP)
    row = group * GROUP + program % (GROUP * wide) % height
    column = program % (GROUP * wide) // height
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        sums = tl.dot(a, b, sums)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_ptrs, sums.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, stride_h, stride_m, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    start, head = tl.program_id(0) * BM, tl.program_id(1)
    rows, columns, inner = start + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    base = head * stride_h
    q = tl.load(q_ptr + base + rows[:, None] * stride_m + inner[None, :], mask=rows[:, None] < T, other=0.0)
    most = tl.full((BM, ), -float("inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for n in range(0, start + BM, BN):
        keys = n + columns
        k = tl.load(k_ptr + base + keys[None, :] * stride_m + inner[:, None], mask=keys[None, :] < T, other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where(rows[:, None] >= keys[None, :], s, -float("inf"))
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - now[:, None])
        factor = tl.exp2(most - now)
        v = tl.load(v_ptr + base + keys[:, None] * stride_m + inner[None, :], mask=keys[:, None] < T, other=0.0)
        out = tl.dot(p.to(v.dtype), v, out * factor[:, None])
        total = total * factor + tl.sum(p, 1)
        most = now
    tl.store(o_ptr + base + rows[:, None] * stride_m + inner[None, :], (out / total[:, None]).to(tl.float16), mask=rows[:, None] < T)
    tl.store(lse_ptr + head * T + rows, most + tl.log2(total), mask=rows < T)
