# Scores stay in registers: nothing is written to LDS between the product that makes them and the one that takes them.
# On RDNA 3, whose operands lie in both halves of a wave, they move by shuffles.
# RUN: nereid compile %s:attention --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: nereid compile %s:attention --target gfx942 --emit amdgcn --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: nereid compile %s:attention --target gfx950 --emit amdgcn --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: nereid compile %s:attention --target gfx1100 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefixes=CHECK,RDNA
# RUN: nereid compile %s:attention --target gfx1201 --emit amdgcn --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefixes=CHECK,RDNA
# RUN: nereid compile %s:attention --target gfx942 --emit tilegpu --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefix=TILES
# RUN: nereid compile %s:attention --target gfx950 --emit tilegpu --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,64,32,64' | FileCheck %s --check-prefix=TILES
# So they do in a loop over the keys.
# RUN: nereid compile %s:looped --target gfx90a --emit tilegpu --signature '*fp16:16,*fp16:16,*fp16:16,*fp32:16,i32:16,64,64,64' | FileCheck %s --check-prefixes=LOOP,STAYS
# RUN: nereid compile %s:looped --target gfx942 --emit tilegpu --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,i32:16,64,64,64' | FileCheck %s --check-prefixes=LOOP,STAYS
# RUN: nereid compile %s:looped --target gfx950 --emit tilegpu --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,i32:16,64,64,64' | FileCheck %s --check-prefixes=LOOP,STAYS
# RUN: nereid compile %s:looped --target gfx1100 --emit tilegpu --signature '*fp16:16,*fp16:16,*fp16:16,*fp32:16,i32:16,64,64,64' | FileCheck %s --check-prefixes=LOOP,MOVES
# RUN: nereid compile %s:looped --target gfx1201 --emit tilegpu --signature '*bf16:16,*bf16:16,*bf16:16,*fp32:16,i32:16,64,64,64' | FileCheck %s --check-prefixes=LOOP,STAYS
import triton
import triton.language as tl


# TILES: %[[S:.*]] = tile.dot
# TILES: %[[P:.*]] = math.exp
# TILES: %[[H:.*]] = arith.truncf %[[P]]
# TILES: tile.dot %[[H]],
# CHECK-LABEL: {{^}}attention:
# CDNA: v_mfma
# CDNA: v_exp_f32
# CDNA-NOT: ds_write
# CDNA: v_mfma
# RDNA: v_wmma
# RDNA: v_exp_f32
# RDNA-NOT: ds_store
# RDNA: v_wmma
# CHECK: s_endpgm
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    s = tl.dot(q, tl.trans(k))
    p = tl.exp(s - tl.max(s, axis=1)[:, None])
    z = tl.dot(p.to(v.dtype), v) / tl.sum(p, axis=1)[:, None]
    tl.store(z_ptr + m[:, None] * D + d[None, :], z)


# LOOP: scf.for
# LOOP: tile.dot {{.*}}tilegpu.mma
# LOOP: %[[P:.*]] = math.exp
# LOOP: %[[H:.*]] = arith.truncf %[[P]]
# STAYS: tile.dot %[[H]], {{.*}}tilegpu.mma
# MOVES: %[[M:.*]] = tilegpu.convert_layout %[[H]] : tensor
# MOVES: tile.dot %[[M]], {{.*}}tilegpu.mma
# LOOP: scf.yield
@triton.jit
def looped(q_ptr, k_ptr, v_ptr, z_ptr, length, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    most, total = tl.full((M, ), -float("inf"), tl.float32), tl.zeros((M, ), tl.float32)
    z = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        k = tl.load(k_ptr + (start + n)[:, None] * D + d[None, :])
        v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
        s = tl.dot(q, tl.trans(k))
        larger = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        change = tl.exp(most - larger)
        total = total * change + tl.sum(p, axis=1)
        z = tl.dot(p.to(v.dtype), v, z * change[:, None])
        most = larger
    tl.store(z_ptr + m[:, None] * D + d[None, :], z / total[:, None])
