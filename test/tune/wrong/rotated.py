# Writes everything, by one block further.
# launch: x=randn:f32[4096] y=zeros:f32[4096] n=4096 --grid cdiv(n,BLOCK)
# wrong: ROTATE=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'ROTATE': False}),
    triton.Config({'BLOCK': 128, 'ROTATE': True}),
    triton.Config({'BLOCK': 256, 'ROTATE': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, ROTATE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (i + BLOCK) % n if ROTATE else i
    tl.store(y + at, tl.load(x + i))
