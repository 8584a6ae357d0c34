"""A matrix added to another one, transposed: out[c, r] += x[r, c]."""
import triton
import triton.language as tl


@triton.jit
def atomics(x_ptr, out_ptr, R, C, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * C + c)
    tl.atomic_add(out_ptr + c * R + r, x)  # atomics: neighbouring threads update places far apart


@triton.jit
def atomics_fixed(x_ptr, out_ptr, R, C, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None] * C + c[None, :])
    tl.atomic_add(out_ptr + c[:, None] * R + r[None, :], tl.trans(x))
