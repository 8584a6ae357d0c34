"""Functions that PyTorch's generated kernels take from torch._inductor.runtime.triton_helpers."""
import triton
import triton.language as tl


@triton.jit
def promote_to_tensor(x):
    return tl.zeros((1, ), tl.int1) + x


@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def minimum(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def _product(a, b):
    return a * b


@triton.jit
def prod(a, axis):
    return tl.reduce(a, axis, _product)


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _or)


# Mean, sum of squared distances and count of two parts joined (Chan, Golub and LeVeque, 1983).
@triton.jit
def welford_combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    part = tl.where(count == 0.0, 0.0, count_b / count)
    distance = mean_b - mean_a
    return mean_a + distance * part, m2_a + m2_b + distance * distance * count_a * part, count


@triton.jit
def welford(mean, m2, count, dim):
    return tl.reduce((mean, m2, count), dim, welford_combine)


@triton.jit
def welford_reduce(value, mean, m2, count, first_iteration):
    more = count + 1
    moved = mean + (value - mean) / more
    spread = m2 + (value - mean) * (value - moved)
    return (tl.where(first_iteration, value, moved), tl.where(first_iteration, tl.zeros_like(m2), spread),
            tl.where(first_iteration, tl.full(count.shape, 1, count.dtype), more))
