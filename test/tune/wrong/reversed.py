# Writes the elements from the end.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: FLIP=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'FLIP': False}),
    triton.Config({'BLOCK': 128, 'FLIP': True}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, FLIP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if FLIP:
        tl.store(y + n - 1 - i, v, mask=i < n)
    else:
        tl.store(y + i, v, mask=i < n)
