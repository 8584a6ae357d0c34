# Softmax of every row, twice: as the chain of small kernels that a library of
# separate operations runs, and as one kernel that keeps the row on the chip.
import triton
import triton.language as tl


# ---- The unfused chain ------------------------------------------------------
# Each of the five reads its inputs from memory and writes its result back, only
# for the next one to read it again.

@triton.jit
def row_max(m_ptr, x_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n_cols, other=-float("inf"))
    tl.store(m_ptr + row, tl.max(x, axis=0))


@triton.jit
def subtract_row(t_ptr, x_ptr, m_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask)
    tl.store(t_ptr + row * stride + cols, x - tl.load(m_ptr + row), mask=mask)


@triton.jit
def exponential(e_ptr, t_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    t = tl.load(t_ptr + row * stride + cols, mask=mask)
    tl.store(e_ptr + row * stride + cols, tl.exp(t), mask=mask)


@triton.jit
def row_sum(s_ptr, e_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    e = tl.load(e_ptr + row * stride + cols, mask=cols < n_cols, other=0.0)
    tl.store(s_ptr + row, tl.sum(e, axis=0))


@triton.jit
def divide_row(y_ptr, e_ptr, s_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    e = tl.load(e_ptr + row * stride + cols, mask=mask)
    tl.store(y_ptr + row * stride + cols, e / tl.load(s_ptr + row), mask=mask)


# ---- The fused kernel -------------------------------------------------------
# The same five steps, but between the load and the store nothing leaves the
# chip: a row of 4096 floats is 16 KiB, which fits the first-level cache twice.

@triton.jit
def softmax_kernel(y_ptr, x_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    # Lanes beyond the row hold -inf: the identity of max, and exp makes it 0,
    # the identity of the sum. No other line has to know about them.
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)
