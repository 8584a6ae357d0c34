# The grid has rows of tiles only.
# launch: x=randn:f32[64,100] y=zeros:f32[64,100] m=64 n=100 --grid cdiv(m,BM)
# wrong: BN=32 BN=64
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BM': 16, 'BN': 32}),
    triton.Config({'BM': 32, 'BN': 64}),
    triton.Config({'BM': 16, 'BN': 128}),
    triton.Config({'BM': 32, 'BN': 256}),
], key=[])
@triton.jit
def kernel(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    r = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    c = tl.arange(0, BN)[None, :]
    tl.store(y + r * n + c, tl.load(x + r * n + c, mask=c < n) + 1, mask=c < n)
