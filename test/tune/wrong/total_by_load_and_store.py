# Programs load, add and store the same element; the result is often right.
# launch: x=randn:f32[5000] y=zeros:f32[1] n=5000 --grid cdiv(n,BLOCK)
# wrong: ATOMIC=False
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'ATOMIC': True}),
    triton.Config({'BLOCK': 128, 'ATOMIC': False}),
    triton.Config({'BLOCK': 256, 'ATOMIC': True}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    if ATOMIC:
        tl.atomic_add(y, s)
    else:
        tl.store(y, tl.load(y) + s)
