# Programs after the fourth return.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: LIMIT=4
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'LIMIT': 1000}),
    triton.Config({'BLOCK': 128, 'LIMIT': 4}),
    triton.Config({'BLOCK': 256, 'LIMIT': 1000}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, LIMIT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) >= LIMIT:
        return
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
