# The place of the maximum counts from the last part on.
# launch: x=randn:f32[64,1024] y=zeros:i32[64] n=1024 --grid 64
# wrong: B=256 B=512
import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({'B': 256}),
    triton.Config({'B': 512}),
    triton.Config({'B': 1024}),
    triton.Config({'B': 2048}),
], key=[])
@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    at = 0
    for k in range(0, n, B):
        c = k + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
        m = tl.max(v, axis=0)
        at = tl.where(m > best, tl.argmax(v, axis=0), at)
        best = tl.maximum(best, m)
    tl.store(y + row, at)
