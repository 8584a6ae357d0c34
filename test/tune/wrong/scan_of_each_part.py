# A running sum that begins again with every block.
# launch: x=randn:f32[16,512] y=zeros:f32[16,512] n=512 --grid 16,cdiv(n,BLOCK)
# wrong: BLOCK=128 BLOCK=256
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
    triton.Config({'BLOCK': 512}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.cumsum(tl.load(x + at), 0))
