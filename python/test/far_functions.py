"""Functions that test_functions.py imports: with a global of the same name as one of its own."""
import triton
import triton.language as tl

SCALE = tl.constexpr(100)


@triton.jit
def scaled(x):
    return x * SCALE


@triton.jit
def broken(x):
    return x * missing  # noqa: F821
