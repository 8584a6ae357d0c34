"""Blocks of R x C numbers, each transposed in its place: by single elements, and as a tile."""
import triton
import triton.language as tl


@triton.jit
def conflicts(x_ptr, y_ptr, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R * C)
    base = tl.program_id(0) * R * C
    x = tl.load(x_ptr + base + i)
    turned = tl.gather(x, i % R * C + i // R, axis=0)  # conflicts: bank conflicts
    tl.store(y_ptr + base + i, turned)


@triton.jit
def conflicts_fixed(x_ptr, y_ptr, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R * C)
    base = tl.program_id(0) * R * C
    x = tl.load(x_ptr + base + i)
    turned = tl.reshape(tl.trans(tl.reshape(x, [R, C])), [R * C])
    tl.store(y_ptr + base + i, turned)
