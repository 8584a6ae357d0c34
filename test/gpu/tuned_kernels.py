"""Eight kernels with lists of configurations as a person writes them; test/gpu/tuning.py compares nereid tune --search."""
import triton
import triton.language as tl


def rows(blocks):
    return [triton.Config({"BLOCK": b}, num_warps=w) for b in blocks for w in (4, 8, 16)]


@triton.autotune(configs=rows([4096, 8192]), key=["n"])
@triton.jit
def softmax(y, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + c, e / tl.sum(e, axis=0), mask=c < n)


@triton.autotune(configs=rows([1024, 2048, 4096]), key=["n"])
@triton.jit
def layer_norm(y, x, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, axis=0) / n
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n - mean * mean + eps)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        scaled = (v - mean) * rstd * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n)
        tl.store(y + row * n + c, scaled, mask=c < n)


@triton.autotune(configs=rows([4096, 8192]), key=["n"])
@triton.jit
def layer_norm_backward(dx, dy, x, w, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < n
    v = tl.load(x + row * n + c, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(dy + row * n + c, mask=mask, other=0.0).to(tl.float32) * tl.load(w + c, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(mask, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    normed = centred * rstd
    slope = tl.sum(g, axis=0) / n
    curve = tl.sum(g * normed, axis=0) / n
    tl.store(dx + row * n + c, (g - slope - normed * curve) * rstd, mask=mask)


def products(types):
    shapes = [(128, 256, 64, 8, 3), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4),
              (128, 128, 64, 4, 4), (128, 128, 64, 8, 3), (256, 128, 64, 8, 3)]
    return [triton.Config({"BM": m, "BN": n, "BK": k * types, "GROUP": 8}, num_warps=w, num_stages=s) for m, n, k, w, s in shapes]


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACC: tl.constexpr):
    program = tl.program_id(0)
    rows_of_blocks = tl.cdiv(M, BM)
    in_group = GROUP * tl.cdiv(N, BN)
    first = program // in_group * GROUP
    size = min(rows_of_blocks - first, GROUP)
    pm = first + program % in_group % size
    pn = program % in_group // size
    m = (pm * BM + tl.arange(0, BM)) % M
    n = (pn * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), ACC)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + start + k[None, :], mask=k[None, :] < K - start, other=0)
        y = tl.load(b + (start + k[:, None]) * N + n[None, :], mask=k[:, None] < K - start, other=0)
        sums = tl.dot(x, y, sums, out_dtype=ACC)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    tl.store(c + rm[:, None] * N + rn[None, :], sums.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.autotune(configs=products(1), key=["M", "N", "K"])
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    product(a, b, c, M, N, K, BM, BN, BK, GROUP, tl.float32)


@triton.autotune(configs=products(2), key=["M", "N", "K"])
@triton.jit
def int8_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    product(a, b, c, M, N, K, BM, BN, BK, GROUP, tl.int32)


@triton.autotune(configs=[triton.Config({"BM": m, "BN": n}, num_warps=w, num_stages=s)
                          for m in (64, 128) for n in (32, 64, 128) for w, s in ((4, 3), (8, 3))], key=["L"])
@triton.jit
def attention(out, q, k, v, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    base = tl.program_id(1) * L * D
    rows_ = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    d = tl.arange(0, D)
    query = tl.load(q + base + rows_[:, None] * D + d[None, :], mask=rows_[:, None] < L, other=0.0)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, L, BN):
        n = start + cols
        key = tl.load(k + base + n[:, None] * D + d[None, :], mask=n[:, None] < L, other=0.0)
        score = tl.dot(query, tl.trans(key)) * scale * 1.44269504
        score = tl.where(n[None, :] < L, score, -float("inf"))
        new = tl.maximum(most, tl.max(score, axis=1))
        p = tl.exp2(score - new[:, None])
        fade = tl.exp2(most - new)
        value = tl.load(v + base + n[:, None] * D + d[None, :], mask=n[:, None] < L, other=0.0)
        total = total * fade + tl.sum(p, axis=1)
        acc = tl.dot(p.to(value.dtype), value, acc * fade[:, None])
        most = new
    tl.store(out + base + rows_[:, None] * D + d[None, :], (acc / total[:, None]).to(query.dtype), mask=rows_[:, None] < L)


@triton.autotune(configs=rows([1024, 4096, 8192]), key=["n"])
@triton.jit
def cross_entropy(loss, x, target, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + c, mask=c < n, other=-1e30).to(tl.float32)
        new = tl.maximum(most, v)
        total = total * tl.exp(most - new) + tl.exp(v - new)
        most = new
    top = tl.max(most, axis=0)
    sums = tl.sum(total * tl.exp(most - top), axis=0)
    own = tl.load(x + row * n + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(sums) + top - own)


@triton.autotune(configs=[triton.Config({"BM": m, "BN": n}, num_warps=w) for m in (32, 64, 128) for n in (32, 64, 128) for w in (4, 8)],
                 key=["M", "N"])
@triton.jit
def transpose(y, x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tile = tl.load(x + m[:, None] * N + n[None, :], mask=mask)
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(tile), mask=tl.trans(mask))
