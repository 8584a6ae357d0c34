"""c = a @ b, of square matrices of N x N. Slow in two ways: fp32 by single multiplications, and a loop without stages."""
import triton
import triton.language as tl


@triton.jit
def multiply(a_ptr, b_ptr, c_ptr, N, precision: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for first in range(0, N, BK):  # unstaged: num_stages
        a = tl.load(a_ptr + m[:, None] * N + first + k[None, :])
        b = tl.load(b_ptr + (first + k)[:, None] * N + n[None, :])
        total = tl.dot(a, b, total, input_precision=precision)  # ieee: input_precision
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(c_ptr.dtype.element_ty))


@triton.jit
def ieee(a_ptr, b_ptr, c_ptr, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    multiply(a_ptr, b_ptr, c_ptr, N, "ieee", BM, BN, BK)


@triton.jit
def ieee_fixed(a_ptr, b_ptr, c_ptr, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    multiply(a_ptr, b_ptr, c_ptr, N, "tf32", BM, BN, BK)


@triton.jit
def unstaged(a_ptr, b_ptr, c_ptr, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    multiply(a_ptr, b_ptr, c_ptr, N, "tf32", BM, BN, BK)


@triton.jit
def unstaged_fixed(a_ptr, b_ptr, c_ptr, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    multiply(a_ptr, b_ptr, c_ptr, N, "tf32", BM, BN, BK)
