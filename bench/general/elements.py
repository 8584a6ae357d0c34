"""Element by element, and look-ups."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    """The tanh form, tanh by exponentials."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tanh = 1 - 2 / (tl.exp(2 * inner) + 1)
    tl.store(y_ptr + i, 0.5 * x * (1 + tanh), mask=i < n)


@triton.jit
def swiglu_backward_kernel(da_ptr, db_ptr, dy_ptr, a_ptr, b_ptr, N, stride, BLOCK: tl.constexpr):
    """y = silu(a) * b: a program takes BLOCK columns of a row."""
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < N
    at = row * stride + columns
    a = tl.load(a_ptr + at, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + at, mask=inside).to(tl.float32)
    dy = tl.load(dy_ptr + at, mask=inside).to(tl.float32)
    gate = tl.sigmoid(a)
    silu = a * gate
    tl.store(db_ptr + at, dy * silu, mask=inside)
    tl.store(da_ptr + at, dy * b * (gate + silu * (1 - gate)), mask=inside)


@triton.jit
def rotary_kernel(y_ptr, x_ptr, cos_ptr, sin_ptr, T, H, HALF: tl.constexpr, HEADS: tl.constexpr):
    """[B * T, H, 2 * HALF]: the two halves of a head turned by the position's angles."""
    token = tl.program_id(0)
    heads = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    at = tl.arange(0, HALF)
    angle = (token % T) * HALF + at
    cos = tl.load(cos_ptr + angle)[None, :]
    sin = tl.load(sin_ptr + angle)[None, :]
    place = (token * H + heads[:, None]) * (2 * HALF) + at[None, :]
    inside = (heads < H)[:, None]
    x1 = tl.load(x_ptr + place, mask=inside).to(tl.float32)
    x2 = tl.load(x_ptr + place + HALF, mask=inside).to(tl.float32)
    tl.store(y_ptr + place, x1 * cos - x2 * sin, mask=inside)
    tl.store(y_ptr + place + HALF, x2 * cos + x1 * sin, mask=inside)


@triton.jit
def adamw_kernel(p_ptr, m_ptr, v_ptr, g_ptr, new_p_ptr, new_m_ptr, new_v_ptr, n, rate, beta1, beta2, eps, decay,
                 correction1, correction2, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    p = tl.load(p_ptr + i, mask=inside)
    m = tl.load(m_ptr + i, mask=inside)
    v = tl.load(v_ptr + i, mask=inside)
    g = tl.load(g_ptr + i, mask=inside).to(tl.float32)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    step = (m / correction1) / (tl.sqrt(v / correction2) + eps)
    tl.store(new_p_ptr + i, p * (1 - rate * decay) - rate * step, mask=inside)
    tl.store(new_m_ptr + i, m, mask=inside)
    tl.store(new_v_ptr + i, v, mask=inside)


@triton.jit
def embedding_kernel(y_ptr, table_ptr, index_ptr, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(index_ptr + token).to(tl.int64)
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(table_ptr + row * D + columns, mask=columns < D)
        tl.store(y_ptr + token * D + columns, x, mask=columns < D)


@triton.jit
def histogram_kernel(count_ptr, x_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Counts of int32 values below BINS; count (zero before) grows by atomics."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    counts = tl.histogram(x, BINS, mask=i < n)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), counts)


@triton.jit
def max_pool_kernel(y_ptr, x_ptr, H, W, BLOCK: tl.constexpr):
    """[planes, H, W] to [planes, H / 2, W / 2], windows of 2 x 2."""
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = i < (H // 2) * (W // 2)
    row = i // (W // 2)
    column = i % (W // 2)
    base = plane * H * W + row * 2 * W + column * 2
    best = tl.load(x_ptr + base, mask=inside, other=0.0)
    for d in tl.static_range(1, 4):
        best = tl.maximum(best, tl.load(x_ptr + base + (d // 2) * W + d % 2, mask=inside, other=0.0))
    tl.store(y_ptr + plane * (H // 2) * (W // 2) + i, best, mask=inside)
