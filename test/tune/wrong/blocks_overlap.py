# Each program also writes the first element of the next one.
# launch: x=randn:f32[5000] y=zeros:f32[8192] n=5000 --grid cdiv(n,BLOCK)
# wrong: MORE=1
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'MORE': 0}),
    triton.Config({'BLOCK': 128, 'MORE': 1}),
    triton.Config({'BLOCK': 256, 'MORE': 0}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, MORE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, v + 1, mask=i < n)
    if MORE:
        tl.store(y + tl.program_id(0) * BLOCK + BLOCK, 7.0)
