# Swish with a slope of its own for every column: y = x * sigmoid(beta * x), forward and backward.
import triton
import triton.language as tl


@triton.jit
def swish_forward(y_ptr, x_ptr, beta_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # 64 bits: a tensor may have more than 2^31 elements
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=inside).to(tl.float32)
    beta = tl.load(beta_ptr + cols, mask=inside)
    tl.store(y_ptr + row * N + cols, x * tl.sigmoid(beta * x), mask=inside)


# With s = sigmoid(beta * x):  dy/dx = s + beta * x * s * (1 - s),  dy/dbeta = x^2 * s * (1 - s).
# beta is shared by all rows, so its gradient is a sum over them. A program takes every PARTS-th row and keeps its part
# of the sum in registers; the second kernel adds the parts. An atomic addition would do with one kernel, but adds in
# another order in every run: training would not repeat itself.
@triton.jit
def swish_backward(dx_ptr, parts_ptr, dy_ptr, x_ptr, beta_ptr, M, N, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    beta = tl.load(beta_ptr + cols, mask=inside, other=0.0)
    part = tl.zeros((BLOCK,), dtype=tl.float32)
    for each in range(tl.program_id(0), M, tl.num_programs(0)):
        row = each.to(tl.int64)
        x = tl.load(x_ptr + row * N + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * N + cols, mask=inside, other=0.0).to(tl.float32)
        s = tl.sigmoid(beta * x)
        slope = x * s * (1 - s)
        tl.store(dx_ptr + row * N + cols, dy * (s + beta * slope), mask=inside)
        part += dy * x * slope
    tl.store(parts_ptr + tl.program_id(0) * N + cols, part, mask=inside)


@triton.jit
def add_parts(sum_ptr, parts_ptr, PARTS, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(PARTS):
        total += tl.load(parts_ptr + i * N + cols, mask=cols < N, other=0.0)
    tl.store(sum_ptr + cols, total, mask=cols < N)


# What the fused kernel is compared with: a library's separate operations, one kernel each.
@triton.jit
def multiply(z_ptr, x_ptr, y_ptr, n, SIZE, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(z_ptr + i, x * tl.load(y_ptr + i % SIZE, mask=i < n), mask=i < n)


@triton.jit
def sigmoid(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.sigmoid(tl.load(x_ptr + i, mask=i < n)), mask=i < n)
