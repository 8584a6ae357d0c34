# Stores the tile the other way round.
# launch: x=randn:f32[64,64] y=zeros:f32[64,64] n=64 --grid cdiv(n,B),cdiv(n,B)
# wrong: SWAP=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'B': 16, 'SWAP': False}),
    triton.Config({'B': 32, 'SWAP': True}),
    triton.Config({'B': 64, 'SWAP': False}),
], key=[])
@triton.jit
def kernel(x, y, n, B: tl.constexpr, SWAP: tl.constexpr):
    r = (tl.program_id(0) * B + tl.arange(0, B))[:, None]
    c = (tl.program_id(1) * B + tl.arange(0, B))[None, :]
    v = tl.load(x + r * n + c)
    if SWAP:
        tl.store(y + c * n + r, v)
    else:
        tl.store(y + r * n + c, v)
