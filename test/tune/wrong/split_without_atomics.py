# Several programs store their part over one another.
# launch: x=randn:f32[64,1000] y=zeros:f32[64] n=1000 --grid 64,SPLIT
# wrong: SPLIT=2 SPLIT=4
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'SPLIT': 1, 'BLOCK': 1024}),
    triton.Config({'SPLIT': 2, 'BLOCK': 512}),
    triton.Config({'SPLIT': 4, 'BLOCK': 256}),
], key=[])
@triton.jit
def kernel(x, y, n, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + row, tl.sum(tl.load(x + row * n + c, mask=c < n, other=0.0)))
