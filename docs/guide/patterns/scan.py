"""Scans: each element gets what all before it add up to."""
import triton
import triton.language as tl


@triton.jit
def cumulative_sums(y_ptr, x_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    before = 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
        tl.store(y_ptr + row * columns + i, before + tl.cumsum(x, axis=0), mask=i < columns)
        before += tl.sum(x, axis=0)


@triton.jit
def affine_after(scale_a, shift_a, scale_b, shift_b):
    """First x -> scale_a x + shift_a, then the other one."""
    return scale_a * scale_b, shift_a * scale_b + shift_b


@triton.jit
def linear_recurrence(h_ptr, a_ptr, b_ptr, columns, BLOCK: tl.constexpr):
    """h[t] = a[t] h[t - 1] + b[t], h[-1] = 0: a recurrent layer, all steps at once."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row * columns + i, mask=i < columns, other=1.0)
    b = tl.load(b_ptr + row * columns + i, mask=i < columns, other=0.0)
    scale, shift = tl.associative_scan((a, b), 0, affine_after)
    tl.store(h_ptr + row * columns + i, shift, mask=i < columns)


@triton.jit
def keep_positive(y_ptr, count_ptr, x_ptr, n, BLOCK: tl.constexpr):
    """The positive elements of x, close together. Each block finds its place with one atomic, so blocks come in any
    order; within a block the order stays."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    keep = x > 0
    place = tl.cumsum(keep.to(tl.int32), axis=0) - 1
    first = tl.atomic_add(count_ptr, tl.sum(keep.to(tl.int32), axis=0))
    tl.store(y_ptr + first + place, x, mask=keep)
