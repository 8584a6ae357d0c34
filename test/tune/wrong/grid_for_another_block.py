# The grid counts blocks of 256, whatever the block is.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,256)
# wrong: BLOCK=64 BLOCK=128
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
    triton.Config({'BLOCK': 512}),
    triton.Config({'BLOCK': 1024}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
