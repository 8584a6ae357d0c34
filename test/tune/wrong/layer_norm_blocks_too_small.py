# Most of the list is too small.
# launch: x=randn:f32[32,768] y=zeros:f32[32,768] n=768 --grid 32
# wrong: BLOCK=128 BLOCK=256 BLOCK=512
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
    triton.Config({'BLOCK': 512}),
    triton.Config({'BLOCK': 1024}),
    triton.Config({'BLOCK': 2048}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(c < n, v - mean, 0.0)
    s = tl.rsqrt(tl.sum(d * d, axis=0) / n + 1e-5)
    tl.store(y + row * n + c, d * s, mask=c < n)
