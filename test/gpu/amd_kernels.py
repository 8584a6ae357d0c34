"""Small kernels whose code objects amd_emulator.py runs."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(z_ptr + row * n + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + 1e-5)
    tl.store(z_ptr + row * n + at, centred * scale, mask=mask)


@triton.jit
def transpose(x_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(z_ptr + columns[:, None] * M + rows[None, :], tl.trans(x))


@triton.jit
def rows_summed(x_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(z_ptr + rows, tl.sum(x, axis=1))


@triton.jit
def product(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + k[:, None] * N + n[None, :])
    tl.store(z_ptr + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))


@triton.jit
def loop_of_programs(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(z_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def counted(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(z_ptr + x, 1, mask=at < n, sem="relaxed")


@triton.jit
def largest(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(z_ptr + at % 8, tl.load(x_ptr + at, mask=at < n, other=0), mask=at < n, sem="relaxed")


@triton.jit
def histogram(x_ptr, z_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(z_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))


@triton.jit
def to_integers(x_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z_ptr + at, (tl.load(x_ptr + at) * 1000).to(tl.int32))


@triton.jit
def halves(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z_ptr + at, (tl.load(x_ptr + at, mask=mask).to(tl.float32) * 1.5).to(tl.float16), mask=mask)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, d, j = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    total, most = tl.zeros((M,), tl.float32), tl.full((M,), -float("inf"), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = start + j
        k = tl.load(k_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * 0.25
        scores = tl.where(at[None, :] < n, scores, -float("inf"))
        larger = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - larger[:, None])
        change = tl.exp(most - larger)
        total = total * change + tl.sum(weights, axis=1)
        sums = sums * change[:, None] + tl.dot(weights, v, input_precision="ieee")
        most = larger
    tl.store(z_ptr + m[:, None] * D + d[None, :], sums / total[:, None])


@triton.jit
def summed_up(x_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=0))


@triton.jit
def released(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(z_ptr + at % 16, tl.load(x_ptr + at, mask=at < n, other=0), mask=at < n)


@triton.jit
def sorted_up(x_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def divided(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x, y = tl.load(x_ptr + at, mask=mask, other=1), tl.load(y_ptr + at, mask=mask, other=1)
    tl.store(z_ptr + at, x // y + x % y, mask=mask)


@triton.jit
def product_of(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr):
    """TYPE is the number of an element's bits; of 16 those of fp16, of 17 bf16, of 8 fp8e5, of 9 int8, of 10 fp8e4nv."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + k[:, None] * N + n[None, :])
    if TYPE == 32:
        z = tl.dot(x, y, input_precision="ieee")
    elif TYPE == 16:
        z = tl.dot(x.to(tl.float16), y.to(tl.float16))
    elif TYPE == 17:
        z = tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16))
    elif TYPE == 8:
        z = tl.dot(x.to(tl.float8e5), y.to(tl.float8e5))
    elif TYPE == 10:
        z = tl.dot(x.to(tl.float8e4nv), y.to(tl.float8e5))
    else:
        z = tl.dot(x.to(tl.int8), y.to(tl.int8)).to(tl.float32)
    tl.store(z_ptr + m[:, None] * N + n[None, :], z)


@triton.jit
def products_of_batches(x_ptr, y_ptr, z_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + i * M * K + (m[:, None] * K + k[None, :])[None, :, :])
    y = tl.load(y_ptr + i * K * N + (k[:, None] * N + n[None, :])[None, :, :])
    tl.store(z_ptr + i * M * N + (m[:, None] * N + n[None, :])[None, :, :], tl.dot(x, y))


@triton.jit
def attention_of_halves(q_ptr, k_ptr, v_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    s = tl.dot(q, tl.trans(k))
    p = tl.exp(s - tl.max(s, axis=1)[:, None])
    z = tl.dot(p.to(tl.float16), v) / tl.sum(p, axis=1)[:, None]
    tl.store(z_ptr + m[:, None] * D + d[None, :], z)


@triton.jit
def scanned(x_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=0))
