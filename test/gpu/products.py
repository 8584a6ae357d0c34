import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, n, held, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c[program] = the sum of n products [M, K] x [K, N], of `held` pairs of operands in turn."""
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros([M, N], c_ptr.dtype.element_ty)
    for step in range(n):
        i = step % held
        a = tl.load(a_ptr + i * M * K + rm[:, None] * K + rk[None, :])
        b = tl.load(b_ptr + i * K * N + rk[:, None] * N + rn[None, :])
        total = tl.dot(a, b, total, out_dtype=c_ptr.dtype.element_ty)
    tl.store(c_ptr + tl.program_id(0) * M * N + rm[:, None] * N + rn[None, :], total)


@triton.jit
def batch(a_ptr, b_ptr, c_ptr, n, held, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The same of B products side by side."""
    rb, rm, rn, rk = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    rb = rb[:, None, None]
    total = tl.zeros([B, M, N], c_ptr.dtype.element_ty)
    for step in range(n):
        i = step % held
        a = tl.load(a_ptr + i * B * M * K + rb * M * K + rm[None, :, None] * K + rk[None, None, :])
        b = tl.load(b_ptr + i * B * K * N + rb * K * N + rk[None, :, None] * N + rn[None, None, :])
        total = tl.dot(a, b, total, out_dtype=c_ptr.dtype.element_ty)
    out = tl.program_id(0) * B * M * N + rb * M * N + rm[None, :, None] * N + rn[None, None, :]
    tl.store(c_ptr + out, total)
