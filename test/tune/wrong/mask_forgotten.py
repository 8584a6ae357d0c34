# After the elements that are meant, the array goes on.
# launch: x=randn:f32[8192] y=zeros:f32[8192] n=5000 --grid cdiv(n,BLOCK)
# wrong: MASKED=False
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'MASKED': True}),
    triton.Config({'BLOCK': 128, 'MASKED': False}),
    triton.Config({'BLOCK': 256, 'MASKED': True}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    if MASKED:
        tl.store(y + i, tl.load(x + i, mask=inside) * 3, mask=inside)
    else:
        tl.store(y + i, tl.load(x + i) * 3)
