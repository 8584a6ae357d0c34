# A sum of ones in float16 stops at 2048.
# launch: x=full:1:f32[16,8192] y=zeros:f32[16] n=8192 --grid 16
# wrong: HALF=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'B': 64, 'HALF': False}),
    triton.Config({'B': 64, 'HALF': True}),
    triton.Config({'B': 128, 'HALF': False}),
], key=[])
@triton.jit
def kernel(x, y, n, B: tl.constexpr, HALF: tl.constexpr):
    row = tl.program_id(0)
    dtype: tl.constexpr = tl.float16 if HALF else tl.float32
    s = tl.zeros((B,), dtype)
    for k in range(0, n, B):
        s += tl.sum(tl.load(x + row * n + k + tl.arange(0, B)).to(dtype), axis=0) / B * B
    tl.store(y + row, tl.max(s.to(tl.float32), axis=0))
