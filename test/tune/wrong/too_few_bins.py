# Elements beyond the bins are not counted.
# launch: x=randint:0:64:i32[4096] y=zeros:i32[64] n=4096 --grid 1
# wrong: BINS=16 BINS=32
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BINS': 16, 'BLOCK': 4096}),
    triton.Config({'BINS': 32, 'BLOCK': 4096}),
    triton.Config({'BINS': 64, 'BLOCK': 4096}),
], key=[])
@triton.jit
def kernel(x, y, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    b = tl.arange(0, BINS)
    tl.store(y + b, tl.histogram(tl.minimum(v, BINS - 1), BINS))
