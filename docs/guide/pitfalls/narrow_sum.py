import triton
import triton.language as tl


@triton.jit
def row_sum(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float16)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0))


@triton.jit
def product(c_ptr, a_ptr, b_ptr, K, B: tl.constexpr):
    m = tl.arange(0, B)
    total = tl.zeros([B, B], tl.float16)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * B + m[None, :])
        total += tl.dot(a, b, out_dtype=tl.float16)
    tl.store(c_ptr + m[:, None] * B + m[None, :], total)
