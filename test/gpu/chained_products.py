"""Products that hand their result to another, in the shapes in which the
assembler may lose a left operand in registers: what lies between the products,
and where the left operand comes from. Compiled by assemble.py."""

import triton
import triton.language as tl


@triton.jit
def tile(p, R: tl.constexpr, C: tl.constexpr):
    return tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])


@triton.jit
def put(p, x, R: tl.constexpr, C: tl.constexpr):
    tl.store(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :], x)


@triton.jit
def left_in_front(q, k, v, c, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, BETWEEN: tl.constexpr):
    """The first product's left operand is loaded in front of the loop."""
    acc = tl.zeros([M, D], tl.float32)
    x = tile(q, M, D)
    for i in range(n):
        s = tl.dot(x, tl.trans(tile(k + i * N * D, N, D)))
        if BETWEEN == "mask":
            if i == n - 1:
                s += tl.where(tl.arange(0, M)[:, None] >= tl.arange(0, N)[None, :], 0.0, -8.0)
        elif BETWEEN == "scale":
            if i == n - 1:
                s = s * 2.0
        elif BETWEEN == "call":
            s = tl.div_rn(s, 3.0 + i)
        elif BETWEEN == "loop":
            for j in range(i):
                s = s * 0.5
        acc += tl.dot(s.to(x.dtype), tile(v + i * N * D, N, D))
    put(c, acc, M, D)


@triton.jit
def left_of_outer_loop(q, k, v, c, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """It is computed in the outer loop and multiplied in the inner one."""
    acc = tl.zeros([M, D], tl.float32)
    for j in range(n):
        x = (tile(q + j * M * D, M, D) * 2).to(k.dtype.element_ty)
        for i in range(n):
            s = tl.dot(x, tl.trans(tile(k + i * N * D, N, D)))
            if i == n - 1:
                s = s * 2.0
            acc += tl.dot(s.to(x.dtype), tile(v + i * N * D, N, D))
    put(c, acc, M, D)


@triton.jit
def left_carried(q, k, v, c, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """An iteration hands it to the next."""
    acc = tl.zeros([M, D], tl.float32)
    x = tile(q, M, D)
    for i in range(n):
        s = tl.dot(x, tl.trans(tile(k + i * N * D, N, D)))
        if i == n - 1:
            s = s * 2.0
        acc += tl.dot(s.to(x.dtype), tile(v + i * N * D, N, D))
        x = acc.to(x.dtype)
    put(c, acc, M, D)


@triton.jit
def left_of_two(q, k, v, c, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Two products have it, with a branch between."""
    acc = tl.zeros([M, D], tl.float32)
    more = tl.zeros([M, D], tl.float32)
    for i in range(n):
        s = tl.dot(tile(q + i * M * D, M, D), tl.trans(tile(k + i * N * D, N, D)))
        p = s.to(q.dtype.element_ty)
        acc += tl.dot(p, tile(v + i * N * D, N, D))
        if i == n - 1:
            acc = acc * 2.0
        more += tl.dot(p, tile(k + i * N * D, N, D))
    put(c, acc + more, M, D)


@triton.jit
def left_of_a_branch(q, k, v, c, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Outside of loops, on either side of branches."""
    x = tile(q, M, D)
    if n > 3:
        x = x * 2
    s = tl.dot(x, tl.trans(tile(k, N, D)))
    if n > 2:
        s = s * 2.0
    t = tl.dot(s.to(x.dtype), tile(v, N, D))
    if n > 1:
        t = t + tl.dot(x, tile(v + N * D, D, D))
    put(c, t, M, D)


@triton.jit
def of_few_iterations(q, k, c, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, COUNT: tl.constexpr):
    """So few iterations that the assembler unrolls them, with a branch after the product."""
    acc = tl.zeros([M, N], tl.float32)
    x = tile(q, M, D)
    for i in range(COUNT):
        s = tl.dot(x, tl.trans(tile(k + i * N * D, N, D)))
        if i == COUNT - 1:
            s += tl.where(tl.arange(0, M)[:, None] >= tl.arange(0, N)[None, :], 0.0, -8.0)
        acc += s
    put(c, acc, M, N)
