# An order by groups that forgets the rest of them.
# launch: x=randn:f32[5,1024] y=zeros:f32[5,1024] n=1024 --grid 5,4
# wrong: GROUP=2 GROUP=4
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'GROUP': 1, 'BLOCK': 256}),
    triton.Config({'GROUP': 2, 'BLOCK': 256}),
    triton.Config({'GROUP': 4, 'BLOCK': 256}),
    triton.Config({'GROUP': 5, 'BLOCK': 256}),
], key=[])
@triton.jit
def kernel(x, y, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    row = (p // GROUP) * GROUP + (p * 3) % GROUP
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.minimum(row, 5 // GROUP * GROUP - 1)
    tl.store(y + row * n + c, tl.load(x + row * n + c) * 2)
