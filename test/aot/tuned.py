"""A kernel that says which configuration it was compiled with."""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (16, 64, 256)], key=["n"])
@triton.jit
def block_of(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, BLOCK, mask=i < n)
