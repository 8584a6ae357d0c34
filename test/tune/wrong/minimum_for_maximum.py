# Another reduction.
# launch: x=randn:f32[64,1000] y=zeros:f32[64] n=1000 --grid 64
# wrong: LEAST=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 1024, 'LEAST': False}),
    triton.Config({'BLOCK': 1024, 'LEAST': True}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, LEAST: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    tl.store(y + row, tl.min(v, axis=0) if LEAST else tl.max(v, axis=0))
