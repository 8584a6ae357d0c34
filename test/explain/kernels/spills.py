"""Softmax of long rows, which a program holds in registers."""
import triton
import triton.language as tl


@triton.jit
def spills(x_ptr, y_ptr, N: tl.constexpr):  # spills: spilled
    i = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + i)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + tl.program_id(0) * N + i, e / tl.sum(e, axis=0))


@triton.jit
def spills_fixed(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + i)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + tl.program_id(0) * N + i, e / tl.sum(e, axis=0))
