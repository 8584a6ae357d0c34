# All compute the same.
# launch: x=randn:f32[5000] y=zeros:f32[5000] n=5000 --grid cdiv(n,BLOCK)
# wrong: 
# decided
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'BLOCK': 64}, num_warps=1),
    triton.Config({'BLOCK': 64}, num_warps=8),
    triton.Config({'BLOCK': 512}, num_warps=4),
], key=[])
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)
