"""Records of C numbers, taken apart: y[c, i] = x[i, c]."""
import triton
import triton.language as tl


@triton.jit
def strided(x_ptr, y_ptr, n, C: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for c in range(C):
        x = tl.load(x_ptr + i * C + c, mask=i < n)  # strided: neighbouring threads are not neighbours in memory
        tl.store(y_ptr + c * n + i, x, mask=i < n)


@triton.jit
def strided_fixed(x_ptr, y_ptr, n, C: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + i[:, None] * C + c[None, :], mask=i[:, None] < n)
    tl.store(y_ptr + c[:, None] * n + i[None, :], tl.trans(x), mask=i[None, :] < n)
