# Reads one element further.
# launch: x=randn:f32[5001] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: OFF=1
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'OFF': 0}),
    triton.Config({'BLOCK': 128, 'OFF': 1}),
    triton.Config({'BLOCK': 256, 'OFF': 0}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, OFF: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i + OFF, mask=i < n), mask=i < n)
