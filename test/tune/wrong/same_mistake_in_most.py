# Two of three share one mistake.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: FAST=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'FAST': True}),
    triton.Config({'BLOCK': 128, 'FAST': True}),
    triton.Config({'BLOCK': 256, 'FAST': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, FAST: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, (v * 0.5 + 0.5) if FAST else tl.sigmoid(v), mask=i < n)
