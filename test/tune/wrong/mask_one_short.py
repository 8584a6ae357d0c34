# The last element is left out.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: LAST=1
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'LAST': 0}),
    triton.Config({'BLOCK': 128, 'LAST': 1}),
    triton.Config({'BLOCK': 256, 'LAST': 0}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, LAST: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 3, mask=i < n - LAST)
