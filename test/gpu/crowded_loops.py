"""Loops whose tiles, brought ahead, and whose trips through shared memory
compete for its bytes. Compiled by shared_limits.py."""

import triton
import triton.language as tl


@triton.jit
def crowded(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    depth = tl.arange(0, K)
    sums = tl.zeros([M, N], tl.float32)
    held = tl.zeros([M], tl.float32)
    for k in range(0, n, K):
        x = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * N + columns[None, :])
        if KIND == "sum":  # partial sums of warps
            held += tl.sum(x.to(tl.float32), 1)
        elif KIND == "columns":
            held += tl.sum(tl.sum(y.to(tl.float32), 1))
        elif KIND == "twice":  # the result of a product is an operand of the next
            s = tl.dot(x, y)
            t = tl.dot(tl.trans(x), s.to(x.dtype))
            held += tl.sum(tl.sum(t, 1))
        elif KIND == "scan":
            held += tl.sum(tl.cumsum(x.to(tl.float32), 1), 1)
        elif KIND == "gather":
            taken = tl.gather(x, tl.broadcast_to(((depth + k) % K)[None, :], [M, K]), 1)
            held += tl.sum(taken.to(tl.float32), 1)
        elif KIND == "scaled":  # computed on before the product
            x = (x.to(tl.float32) * 2).to(x.dtype)
            y = (y.to(tl.float32) * 2).to(y.dtype)
        elif KIND == "stored":  # a result that changes its layout on its way out
            tl.store(c + (k + rows[:, None]) * N + columns[None, :], tl.dot(x, y).to(c.dtype.element_ty))
        sums = tl.dot(x, y, sums)
    out = c + rows[:, None] * N + columns[None, :]
    tl.store(out, (sums + held[:, None]).to(c.dtype.element_ty))
