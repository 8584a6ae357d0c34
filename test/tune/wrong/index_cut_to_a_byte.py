# An index of eight bits begins again after 127.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: NARROW=True
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64, 'NARROW': False}),
    triton.Config({'BLOCK': 128, 'NARROW': True}),
    triton.Config({'BLOCK': 256, 'NARROW': False}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, NARROW: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (i.to(tl.int8).to(tl.int32) & 127) if NARROW else i
    tl.store(y + i, tl.load(x + at, mask=i < n), mask=i < n)
