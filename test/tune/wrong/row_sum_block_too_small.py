# A block that holds only the beginning of a row.
# launch: x=randn:f32[64,1000] y=zeros:f32[64] n=1000 --grid 64
# wrong: BLOCK=64
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 1024}),
    triton.Config({'BLOCK': 2048}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(y + row, tl.sum(tl.load(x + row * n + c, mask=c < n, other=0.0)))
