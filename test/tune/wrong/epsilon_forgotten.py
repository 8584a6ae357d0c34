# Rows of equal numbers give a quotient of zeros.
# launch: x=full:3:f32[64,1000] y=zeros:f32[64] n=1000 --grid 64
# wrong: EPS=0
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 1024, 'EPS': 1}),
    triton.Config({'BLOCK': 1024, 'EPS': 0}),
    triton.Config({'BLOCK': 2048, 'EPS': 1}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, EPS: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    d = tl.where(c < n, v - tl.sum(v, axis=0) / n, 0.0)
    s = tl.sum(d * d, axis=0)
    tl.store(y + row, s / (s + EPS * 1e-5))
