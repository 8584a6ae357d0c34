# Loops whose iterations use their products, as in attention: each product has a ring of what it reads. The last product runs
# in the next iteration, after the start of its first one; two groups of warps start the two in turns. What the loops do
# not change is copied in front of them. Both loops have one set of rings.
# RUN: nereid compile %s:attend --target sm_90a --num-warps 8 --num-stages 2 --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,*bf16:16,i32:16,i32' | FileCheck %s
# CHECK-LABEL: func.func @attend(
# CHECK-SAME: tilegpu.producer_warps = 4 : i32
# CHECK: %[[K:.*]] = tilegpu.alloc {{.*}}<2 x
# CHECK: %[[V:.*]] = tilegpu.alloc {{.*}}<2 x
# CHECK: %[[OFK:.*]] = tilegpu.alloc {{.*}}<2 x[2] x i64
# CHECK: %[[OFV:.*]] = tilegpu.alloc {{.*}}<2 x[2] x i64
# CHECK: %[[Q:.*]] = tilegpu.alloc {{.*}}<1 x[128, 64] x bf16
# CHECK: %[[OFQ:.*]] = tilegpu.alloc {{.*}}<1 x[2] x i64
# CHECK: tilegpu.init_slots %[[OFK]], %[[OFV]], %[[OFQ]]
# CHECK: tilegpu.fill_slot %[[OFQ]]
# CHECK: tilegpu.copy_tile {{.*}}%[[Q]]
# CHECK: scf.for
# CHECK: tilegpu.fill_slot %[[OFK]]{{.*}} bytes 16384
# CHECK: tilegpu.copy_tile {{.*}}%[[K]]
# CHECK: tilegpu.fill_slot %[[OFV]]{{.*}} bytes 16384
# CHECK: tilegpu.copy_tile {{.*}}%[[V]]
# CHECK: scf.for
# CHECK: tilegpu.fill_slot %[[OFK]]
# CHECK: } else {
# CHECK: tilegpu.give_turn first
# CHECK: tilegpu.wait_slot %[[OFQ]]
# The first iteration, up to its last product.
# CHECK: scf.if
# CHECK: tilegpu.wait_slot %[[OFK]]
# CHECK: tile.dot
# CHECK-NEXT: tilegpu.release_slot %[[OFK]]
# CHECK: math.exp2
# CHECK: tilegpu.wait_slot %[[OFV]]
# CHECK: scf.for
# CHECK: tilegpu.wait_slot %[[OFK]]
# CHECK: tilegpu.take_turn
# CHECK-NEXT: %[[S:.*]] = tile.dot {{.*}}tilegpu.in_flight
# CHECK: %[[O:.*]] = tile.dot {{.*}}tile.left_in_registers, tilegpu.in_flight
# CHECK-NEXT: tilegpu.give_turn
# CHECK-NEXT: tilegpu.wait_products %[[S]] younger 1
# CHECK-NEXT: tilegpu.release_slot %[[OFK]]
# CHECK: math.exp2
# A loop of the assembler's between the exponentials and the end of the product.
# CHECK: tilegpu.wait_slot %[[OFV]]
# CHECK: tilegpu.wait_products %[[O]]
# CHECK-NEXT: tilegpu.release_slot %[[OFV]]
# CHECK-NEXT: arith.mulf
# CHECK-NEXT: scf.yield
# The last product of the last iteration.
# CHECK: tile.dot
# CHECK-NEXT: tilegpu.release_slot %[[OFV]]
# CHECK: scf.if
# CHECK: tilegpu.release_slot %[[OFQ]]
#
# One group takes no turns.
# RUN: nereid compile %s:attend --target sm_90a --num-warps 4 --num-stages 2 --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,*bf16:16,i32:16,i32' | FileCheck %s --check-prefix=ONE
# ONE: tilegpu.is_producer
# ONE-NOT: _turn
#
# One product alone ends in its iteration.
# RUN: nereid compile %s:used --target sm_90a --emit tilegpu --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' \
# RUN:   | FileCheck %s --check-prefix=USED
# USED: } else {
# USED: tilegpu.wait_slot
# USED-NOT: in_flight
# USED: tile.dot
# USED-NEXT: tilegpu.release_slot
# USED-NEXT: arith.maxnumf
#
# What keeps loops from it.
# RUN: nereid compile %s:elsewhere --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
# ELSEWHERE: the kernel has products elsewhere, too
# RUN: nereid compile %s:unlike --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=UNLIKE
# UNLIKE: its tiles have other shapes than those of the loop in front of it
# RUN: nereid compile %s:constant --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=CONSTANT
# CONSTANT: no operand of a product is what the iteration loads
# RUN: nereid compile %s:full --target sm_90a -v --num-warps 8 --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=FULL
# FULL: shared memory has no room for two tiles of each operand beside what else it holds
import triton
import triton.language as tl


@triton.jit
def attend_keys(o, total, largest, q, k_ptr, v_ptr, row, first, last, end, MASKED: tl.constexpr):
    rows = tl.arange(0, 128)
    d = tl.arange(0, 64)
    for start in tl.range(first, last, 128, warp_specialize=True):
        keys = start + rows
        k = tl.load(k_ptr + keys[None, :] * row + d[:, None], mask=keys[None, :] < end, other=0.0)
        s = tl.dot(q, k)
        if MASKED:
            s = tl.where(keys[None, :] < end, s, -float("inf"))
        larger = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.exp2(s - larger[:, None])
        factor = tl.exp2(largest - larger)
        total = total * factor + tl.sum(p, axis=1)
        v = tl.load(v_ptr + keys[:, None] * row + d[None, :], mask=keys[:, None] < end, other=0.0)
        o = tl.dot(p.to(v.dtype), v, o * factor[:, None])
        largest = larger
    return o, total, largest


@triton.jit
def attend(o_ptr, q_ptr, k_ptr, v_ptr, row, keys):
    rows = tl.program_id(0) * 128 + tl.arange(0, 128)
    d = tl.arange(0, 64)
    q = tl.load(q_ptr + rows[:, None] * row + d[None, :])
    o = tl.zeros((128, 64), dtype=tl.float32)
    total = tl.zeros((128,), dtype=tl.float32)
    largest = tl.full((128,), -float("inf"), dtype=tl.float32)
    whole = tl.maximum(keys // 128 * 128, 0)
    o, total, largest = attend_keys(o, total, largest, q, k_ptr, v_ptr, row, 0, whole, keys, False)
    o, total, largest = attend_keys(o, total, largest, q, k_ptr, v_ptr, row, whole, keys, keys, True)
    tl.store(o_ptr + rows[:, None] * row + d[None, :], o / total[:, None])


@triton.jit
def used(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + i[:, None] * K + k + i[None, :])
        b = tl.load(b_ptr + (k + i[:, None]) * 64 + i[None, :])
        total = tl.maximum(total, tl.dot(a, b))
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def products(total, a_ptr, b_ptr, K, N: tl.constexpr):
    i = tl.arange(0, 64)
    n = tl.arange(0, N)
    sums = tl.zeros((64, N), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + i[:, None] * K + (k + i)[None, :])
        b = tl.load(b_ptr + (k + i[:, None]) * N + n[None, :])
        sums = tl.dot(a, b, sums)
    return total + tl.sum(sums, axis=1)


@triton.jit
def elsewhere(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 64)
    total = products(tl.zeros((64,), dtype=tl.float32), a_ptr, b_ptr, K, 64)
    a = tl.load(a_ptr + i[:, None] * 64 + i[None, :])
    total += tl.sum(tl.dot(a, a), axis=1)
    tl.store(y_ptr + i, total)


@triton.jit
def unlike(y_ptr, a_ptr, b_ptr, K):
    total = products(tl.zeros((64,), dtype=tl.float32), a_ptr, b_ptr, K, 64)
    total = products(total, a_ptr, b_ptr, K, 128)
    tl.store(y_ptr + tl.arange(0, 64), total)


@triton.jit
def constant(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 64)
    a = tl.load(a_ptr + i[:, None] * 64 + i[None, :])
    b = tl.load(b_ptr + i[:, None] * 64 + i[None, :])
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        total = tl.maximum(total, tl.dot(a, b + k.to(tl.bfloat16)))
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def full(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 256)
    n = tl.arange(0, 128)
    a = tl.load(a_ptr + i[:, None] * 256 + i[None, :])
    total = tl.zeros((256, 128), dtype=tl.float32)
    for k in tl.range(0, K, 256, warp_specialize=True):
        b = tl.load(b_ptr + (k + i[:, None]) * 128 + n[None, :])
        total = tl.maximum(total, tl.dot(a, b))
    tl.store(y_ptr + i[:, None] * 128 + n[None, :], total)
