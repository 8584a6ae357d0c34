# Each writes another half: neither is right.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: HALF=0 HALF=1
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'HALF': 0}),
    triton.Config({'BLOCK': 128, 'HALF': 1}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, HALF: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n) & ((i >= n // 2) == (HALF == 1))
    tl.store(y + i, tl.load(x + i, mask=inside), mask=inside)
