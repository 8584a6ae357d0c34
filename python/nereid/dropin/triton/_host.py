"""Arithmetic that hosts and kernels share: in a kernel the compiler has these of its own."""


def cdiv(x, y):
    """ceil(x / y) of integers, for y > 0."""
    return (x + y - 1) // y


def next_power_of_2(n):
    """The smallest power of two that is at least n; 1 for n = 1, 0 for n = 0."""
    n -= 1
    n |= n >> 1
    n |= n >> 2
    n |= n >> 4
    n |= n >> 8
    n |= n >> 16
    n |= n >> 32
    return n + 1


cdiv.__module__ = next_power_of_2.__module__ = "triton"
