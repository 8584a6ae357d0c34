# Half of the programs do nothing.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: SKIP=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'SKIP': False}),
    triton.Config({'BLOCK': 64, 'SKIP': True}),
    triton.Config({'BLOCK': 128, 'SKIP': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, SKIP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n) & ((tl.program_id(0) % 2 == 0) | (not SKIP))
    tl.store(y + i, tl.load(x + i, mask=inside) - 1, mask=inside)
