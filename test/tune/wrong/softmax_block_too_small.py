# The rest of the row is neither read nor written.
# launch: x=randn:f32[64,1000] y=zeros:f32[64,1000] n=1000 --grid 64
# wrong: BLOCK=256
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 256}),
    triton.Config({'BLOCK': 1024}),
    triton.Config({'BLOCK': 2048}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + c, e / tl.sum(e, axis=0), mask=c < n)
