# Products of fp8 by four warps together, whose instructions read rows of 64 and of 128 bytes as the engine swizzles them,
# and sum up in 14 bits: with max_num_imprecise_acc a block's sum is added outside, in 32.
# RUN: nereid compile %s:product --target sm_90a --num-stages 3 --emit ptx \
# RUN:   --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,i32:16,64,64,128,None' | FileCheck %s --check-prefix=WITHIN
# WITHIN: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2
# WITHIN-NOT: add.{{(rn.)?}}f32
# RUN: nereid compile %s:product --target sm_90a --num-stages 3 --emit ptx \
# RUN:   --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,i32:16,64,64,128,128' | FileCheck %s --check-prefix=OUTSIDE
# OUTSIDE: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3
# OUTSIDE-COUNT-32: add.{{(rn.)?}}f32
# Parts of a block, whose sums are added outside.
# RUN: nereid compile %s:product --target sm_90a --num-stages 3 --emit ptx \
# RUN:   --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,i32:16,64,64,128,64' | FileCheck %s --check-prefix=PARTS
# PARTS: wgmma.wait_group.sync.aligned 1
# PARTS-COUNT-64: add.{{(rn.)?}}f32
# No whole number of instructions.
# RUN: nereid compile %s:product --target sm_90a --num-stages 3 -v --emit ptx -o %t.ptx \
# RUN:   --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,i32:16,64,64,128,16' 2>&1 | FileCheck %s --check-prefix=FEWER
# RUN: FileCheck %s --check-prefix=ONE --input-file %t.ptx
# FEWER: dot: matrix instructions of one warp {{.*}} they add up 128 products of fp8e4nv in 14 bits, and max_num_imprecise_acc allows 16
# FEWER-SAME: hint: a max_num_imprecise_acc of at least K, or a multiple of 32 that divides K
# ONE-NOT: wgmma
# ONE: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
#
# DEFINE: %{block} = 64
# DEFINE: %{most} = none
# DEFINE: %{right} = env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=late,races nereid run %s:product --grid 1 --device cuda:0 --check \
# DEFINE:   a_ptr=randn:fp8e4nv[128,256] b_ptr=randn:fp8e5[128,256] y_ptr=zeros:f32[128,128] K=256 M=128 N=128 \
# DEFINE:   num_warps=8 num_stages=3 BLOCK_K=%{block} MOST=%{most} | FileCheck %s --check-prefix=RIGHT
# RUN: %{right}
# REDEFINE: %{block} = 128
# RUN: %{right}
# REDEFINE: %{most} = 128
# RUN: %{right}
# REDEFINE: %{most} = 32
# RUN: %{right}
# RIGHT: check y_ptr on cuda:0: {{.*}} right
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, y_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr, MOST: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0)
        b = tl.load(b_ptr + n[None, :] * K + k[:, None], mask=k[:, None] < K, other=0)
        total = tl.dot(a, b, total, max_num_imprecise_acc=MOST)
    tl.store(y_ptr + m[:, None] * N + n[None, :], total)
