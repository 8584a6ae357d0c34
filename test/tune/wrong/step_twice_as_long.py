# Every second part of the row is passed over.
# launch: x=randn:f32[64,1024] y=zeros:f32[64] n=1024 --grid 64
# wrong: STEP=2
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'B': 64, 'STEP': 1}),
    triton.Config({'B': 128, 'STEP': 2}),
    triton.Config({'B': 256, 'STEP': 1}),
], key=[])
@triton.jit
def kernel(x, y, n, B: tl.constexpr, STEP: tl.constexpr):
    row = tl.program_id(0)
    s = 0.0
    for k in range(0, n, B * STEP):
        s += tl.sum(tl.load(x + row * n + k + tl.arange(0, B)))
    tl.store(y + row, s)
