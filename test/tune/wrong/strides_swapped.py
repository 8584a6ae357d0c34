# Takes columns for rows.
# launch: x=randn:f32[64,64] y=zeros:f32[64] n=64 --grid 64
# wrong: SWAP=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'SWAP': False}),
    triton.Config({'BLOCK': 64, 'SWAP': True}),
    triton.Config({'BLOCK': 128, 'SWAP': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, SWAP: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    at = c * n + row if SWAP else row * n + c
    tl.store(y + row, tl.sum(tl.load(x + at, mask=c < n, other=0.0)))
