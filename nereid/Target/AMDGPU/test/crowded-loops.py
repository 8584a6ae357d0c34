# 512 sums a lane on RDNA, which has 256 registers: the basic allocator spills all the sums at once, the greedy one would
# take the square of the block's length.
# RUN: nereid compile %s:sums --target gfx1100 --num-warps 1 --signature '*fp16:16,*fp16:16,*fp32:16,i32,64,256,16' --emit amdgcn | FileCheck %s
#
# CHECK-LABEL: {{^}}sums:
# CHECK-COUNT-3000: scratch_{{load|store}}

import triton
import triton.language as tl


@triton.jit
def sums(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    t = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    m = tl.zeros((M,), tl.float32)
    for s in range(0, n, K):
        x = tl.load(a + i[:, None] * n + s + t[None, :])
        y = tl.load(b + (s + t)[:, None] * N + j[None, :])
        acc = tl.dot(x, y, acc)
        m = tl.maximum(m, tl.max(acc, 1))
    tl.store(c + i[:, None] * N + j[None, :], acc + m[:, None])
