"""Kernels whose signatures differ in every way that they may."""
import triton
import triton.language as tl


@triton.jit
def affine(x_ptr, bias_ptr, y_ptr, n, scale, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    y = tl.load(x_ptr + i, mask=mask) * scale
    if bias_ptr is not None:
        y += tl.load(bias_ptr + i, mask=mask)
    if MODE == "relu":
        y = tl.maximum(y, 0.0)
    tl.store(y_ptr + i, y, mask=mask)
