# Atomics add to what the last run left; trials put it back.
# launch: x=randn:f32[5000] y=zeros:f32[8] n=5000 --grid cdiv(n,BLOCK)
# wrong: 
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}),
    triton.Config({'BLOCK': 128}),
    triton.Config({'BLOCK': 256}),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + i % 8, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)
