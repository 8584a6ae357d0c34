# Loads what another program has just stored, or not yet.
# launch: x=randn:f32[4096] y=zeros:f32[4096] n=4096 --grid cdiv(n,BLOCK)
# wrong: CHAIN=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'CHAIN': False}),
    triton.Config({'BLOCK': 128, 'CHAIN': True}),
    triton.Config({'BLOCK': 256, 'CHAIN': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, CHAIN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if CHAIN:
        before = tl.load(y + i - BLOCK, mask=i >= BLOCK, other=0.0)
        v = v + before * 0
    tl.store(y + i, v)
