# Every run doubles what the last one left; trials put it back.
# launch: x=randn:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: 
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
], key=[])
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
