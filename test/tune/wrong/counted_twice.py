# Parts overlap, and atomics add both.
# launch: x=randn:f32[4096] y=zeros:f32[1] n=4096 --grid cdiv(n,64)
# wrong: BLOCK=128
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 128}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * 64 + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
