# Rows of odd sizes, loaded element by element for a product that fills half of the registers: their addresses are
# computed in the loop, from the row's number on, and ptxas spills nothing.
# RUN: nereid compile %s:product --signature '*bf16:16, *bf16:16, *bf16:16, i32:16, i32, i32, 128, 256, 64' --num-warps 8 --target sm_90a --emit ptx | FileCheck %s --check-prefixes=CHECK,INSIDE
# RUN: env NEREID_DISABLE=recomputed-invariants nereid compile %s:product --signature '*bf16:16, *bf16:16, *bf16:16, i32:16, i32, i32, 128, 256, 64' --num-warps 8 --target sm_90a --emit ptx | FileCheck %s --check-prefixes=CHECK,OUTSIDE
# RUN: nereid compile %s:product --signature '*bf16:16, *bf16:16, *bf16:16, i32:16, i32, i32, 64, 128, 32' --target sm_90a --emit ptx | FileCheck %s --check-prefixes=CHECK,OUTSIDE
import triton
import triton.language as tl


# CHECK-LABEL: .entry product
# CHECK: $L__BB0_1:
# INSIDE-COUNT-31: mul.lo.s32
# INSIDE: ld.global.b16
# OUTSIDE-NOT: mul.lo.s32
# CHECK: wgmma.mma_async
@triton.jit
def product(c_ptr, a_ptr, b_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows < M)[:, None] & (k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + columns[None, :], mask=(k < K)[:, None] & (columns < N)[None, :], other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16),
             mask=(rows < M)[:, None] & (columns < N)[None, :])
