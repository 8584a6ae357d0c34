# What is stored depends on the data.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: SPARSE=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'SPARSE': False}),
    triton.Config({'BLOCK': 128, 'SPARSE': True}),
    triton.Config({'BLOCK': 256, 'SPARSE': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, SPARSE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    inside = (i < n) & ((v > 0) | (not SPARSE))
    tl.store(y + i, v * 2, mask=inside)
