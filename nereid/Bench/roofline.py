"""What a machine can do at most, one kernel for each rate (docs/Bench.md)."""
import triton
import triton.language as tl


@triton.jit
def copy(y_ptr, x_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def read_again(y_ptr, x_ptr, blocks, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """STEPS blocks of x a program, which stay in the last-level cache and come past the one before it."""
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(STEPS):
        at = (tl.program_id(0) + step * 37) % blocks
        total += tl.load(x_ptr + at * BLOCK + cols, cache_modifier=".cg")
    tl.store(y_ptr + tl.program_id(0) * BLOCK + cols, total)


@triton.jit
def multiply_add(y_ptr, a, b, TIMES: tl.constexpr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """16 * TIMES * STEPS * BLOCK operations a program: eight chains an element, so that none waits for itself."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x0 = at.to(tl.float32)
    x1, x2, x3, x4, x5, x6, x7 = x0 + 1, x0 + 2, x0 + 3, x0 + 4, x0 + 5, x0 + 6, x0 + 7
    for times in range(TIMES):
        for step in tl.static_range(STEPS):
            x0, x1, x2, x3 = x0 * a + b, x1 * a + b, x2 * a + b, x3 * a + b
            x4, x5, x6, x7 = x4 * a + b, x5 * a + b, x6 * a + b, x7 * a + b
    tl.store(y_ptr + at, ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)))


@triton.jit
def multiply_matrices(c_ptr, a_ptr, b_ptr, STEPS: tl.constexpr, SETS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                      K: tl.constexpr):
    """2 * STEPS * M * N * K operations a program, of SETS operands in turn, which stay in the cache. Both run along K in memory."""
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), dtype=c_ptr.dtype.element_ty)
    for step in range(STEPS):
        one = step % SETS
        a = tl.load(a_ptr + (one * M + rows)[:, None] * K + ks[None, :])
        b = tl.load(b_ptr + (one * N + cols)[None, :] * K + ks[:, None])
        total = tl.dot(a, b, total, out_dtype=c_ptr.dtype.element_ty)
    at = tl.program_id(0) * M * N + rows[:, None] * N + cols[None, :]
    tl.store(c_ptr + at, total)
