# Random numbers that depend on the block: no two agree.
# launch: y=zeros:f32[4096] n=4096 --grid cdiv(n,BLOCK)
# wrong: BLOCK=64 BLOCK=128 BLOCK=256
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
], key=[])
@triton.jit
def kernel(y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.rand(tl.program_id(0), tl.arange(0, BLOCK)))
