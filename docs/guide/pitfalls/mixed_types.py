import triton
import triton.language as tl


@triton.jit
def product(c_ptr, a_ptr, b_ptr, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    a = tl.load(a_ptr + i)
    b = tl.load(b_ptr + i)
    tl.store(c_ptr + i, tl.dot(a, b))


@triton.jit
def low_bits(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x & 255, mask=i < n)


@triton.jit
def total(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    sum = 0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        sum += tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0))
    tl.store(y_ptr, sum)


@triton.jit
def chosen(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if n > 100:
        x = tl.load(x_ptr + i, mask=i < n)
    else:
        x = 0
    tl.store(y_ptr + i, x, mask=i < n)
