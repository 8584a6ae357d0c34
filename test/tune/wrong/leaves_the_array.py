# Loads far past the array.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: FAR=True
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'FAR': False}),
    triton.Config({'BLOCK': 128, 'FAR': True}),
    triton.Config({'BLOCK': 256, 'FAR': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, FAR: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = i + (1 << 34) if FAR else i
    tl.store(y + i, tl.load(x + at, mask=i < n), mask=i < n)
