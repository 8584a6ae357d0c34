# Negative numbers are rounded another way.
# launch: x=randint:-100:100:i32[5000] y=zeros:i32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: SHIFT=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'SHIFT': False}),
    triton.Config({'BLOCK': 128, 'SHIFT': True}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, SHIFT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(y + i, (v >> 2) if SHIFT else v // 4, mask=i < n)
