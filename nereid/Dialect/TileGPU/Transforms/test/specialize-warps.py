# A loop of products that says warp_specialize: one thread of warps of their own has the engine copy boxes into a ring,
# whose place and phase go through both loops; the others wait, multiply and release a slot when the next product runs.
# RUN: nereid compile %s:product --target sm_90a --num-stages 4 --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32:16,i32:16,i32' | FileCheck %s
#
# Strides and sizes of a tensor, innermost dimension first, as sums of products of parameters: K (4) of stride 1, M (3)
# rows of stride a_row (5); of b no end is known along its columns.
# CHECK-LABEL: func.func @product(
# CHECK-SAME: !tilegpu.tensor_map {tilegpu.tensor_map = #tilegpu.tensor_map_source<1 : bf16, swizzle = 128, box = [64, 64], numbers = [1, 1, 0, 1, 1, 1, 4, 1, 1, 1, 5, 1, 1, 1, 3]>}
# CHECK-SAME: #tilegpu.tensor_map_source<2 : bf16, swizzle = 128, box = [64, 64], numbers = [1, 1, 0, -1, 1, 1, 1, 6, 1, 1, 1, 4]>
# CHECK-SAME: tilegpu.producer_warps = 4 : i32
# CHECK: %[[A:.*]] = tilegpu.alloc at 0
# CHECK-NEXT: %[[B:.*]] = tilegpu.alloc at 32768
# CHECK-NEXT: tilegpu.alloc at 65536 : <1 x[{{[0-9]*}}] x i8
# CHECK-NEXT: %[[RING:.*]] = tilegpu.alloc at
# CHECK: tilegpu.init_slots %[[RING]]
# CHECK-NEXT: %[[COPIES:.*]] = tilegpu.is_producer
# CHECK-NEXT: scf.if %[[COPIES]]
# CHECK: scf.if
# CHECK: scf.for %[[BLOCK:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
# CHECK: scf.for %[[K:[a-z0-9]*]] = {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) -> (i32, i32)
# CHECK-NEXT: tilegpu.fill_slot %[[RING]][%[[SLOT]]] phase %[[PHASE]] bytes 16384
# CHECK: tilegpu.copy_tile %{{.*}}[%[[K]], %{{.*}}], %[[A]][%[[SLOT]]] full %[[RING]]
# CHECK: tilegpu.copy_tile %{{.*}}[%{{.*}}, %[[K]]], %[[B]][%[[SLOT]]] full %[[RING]]
# CHECK-NOT: tile.dot
# CHECK-NOT: tile.store
# CHECK: } else {
# CHECK: scf.for
# CHECK: scf.for
# CHECK: tilegpu.wait_slot %[[RING]][%[[NOW:.*]]] phase
# CHECK: tile.dot {{.*}}tilegpu.in_flight
# CHECK: tilegpu.wait_older_products 1
# CHECK: tilegpu.release_slot %[[RING]]
# CHECK: tilegpu.wait_products
# CHECK: tilegpu.release_slot %[[RING]]
# CHECK: tile.store
#
# Without tensor maps, with checks, and on other GPUs the loop is as it was.
# RUN: nereid compile %s:product --target sm_80 --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32:16,i32:16,i32' | FileCheck %s --check-prefix=PLAIN
# RUN: nereid compile %s:product --target sm_90a --instrument oob --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32:16,i32:16,i32' | FileCheck %s --check-prefix=PLAIN
# PLAIN-NOT: tilegpu.is_producer
#
# What keeps a loop from it.
# RUN: nereid compile %s:product --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32,i32:16,i32' 2>&1 | FileCheck %s --check-prefix=ODD
# ODD: its address or strides may be no multiples of 16 bytes
# RUN: nereid compile %s:looked_up --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,*i32:16,i32:16' 2>&1 | FileCheck %s --check-prefix=LOOKED
# LOOKED: the loop does more than multiply what it loads
# RUN: nereid compile %s:in_front --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,i32' 2>&1 | FileCheck %s --check-prefix=FRONT
# FRONT: an index may be negative
# RUN: nereid compile %s:waits_late --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=WAITS
# WAITS: the kernel may wait for another program here, and the warps that copy would not
# RUN: nereid compile %s:spins --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,*i32:16,i32:16' 2>&1 | FileCheck %s --check-prefix=WAITS
# RUN: nereid compile %s:product --target sm_90a -v --num-stages 1 --emit tilegpu -o /dev/null \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32:16,i32:16,i32' 2>&1 | FileCheck %s --check-prefix=ONE
# ONE: it has num_stages=1, or shared memory has no room for two tiles of each operand
# RUN: nereid compile %s:wide --target sm_90a -v --num-warps 32 --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: a block has no room for more warps
# RUN: nereid compile %s:far --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,i32' 2>&1 | FileCheck %s --check-prefix=FAR
# FAR: an index may have more than 32 bits
#
# What waits for the launches in front before anything else does so in both roles.
# RUN: nereid compile %s:waits --target sm_90a --emit tilegpu --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' \
# RUN:   | FileCheck %s --check-prefix=BOTH
# BOTH: tilegpu.init_slots
# BOTH: tilegpu.is_producer
# BOTH: tile.grid_dependency wait
# BOTH: tilegpu.fill_slot
# BOTH: } else {
# BOTH: tile.grid_dependency wait
# BOTH: tilegpu.wait_slot
#
# What an address comes from in the iteration itself; the loop's own num_stages.
# RUN: nereid compile %s:hinted --target sm_90a --emit tilegpu --signature '*fp32:16,*bf16:16,*bf16:16,i32:16' \
# RUN:   | FileCheck %s --check-prefix=HINTED
# HINTED: tilegpu.alloc at 0 : <2 x
# HINTED: scf.for
# HINTED: tilegpu.fill_slot
# HINTED: %[[HALF:.*]] = arith.divsi
# HINTED: tilegpu.copy_tile %{{.*}}[%{{.*}}, %{{.*}}]
# HINTED: } else {
import triton
import triton.language as tl


@triton.jit
def product(y_ptr, a_ptr, b_ptr, M, K, a_row, b_row, blocks):
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        rows = block * 64 + tl.arange(0, 64)
        ks = tl.arange(0, 64)
        cols = tl.arange(0, 64)
        a_ptrs = a_ptr + rows[:, None] * a_row + ks[None, :]
        b_ptrs = b_ptr + ks[:, None] * b_row + cols[None, :]
        total = tl.zeros((64, 64), dtype=tl.float32)
        for k in tl.range(0, K, 64, warp_specialize=True):
            a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < K - k), other=0.0)
            b = tl.load(b_ptrs, mask=ks[:, None] < K - k, other=0.0)
            total = tl.dot(a, b, total)
            a_ptrs += 64
            b_ptrs += 64 * b_row
        tl.store(y_ptr + rows[:, None] * 64 + cols[None, :], total, mask=rows[:, None] < M)


@triton.jit
def looked_up(y_ptr, a_ptr, b_ptr, at_ptr, K):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        at = tl.load(at_ptr + k) * 64
        a = tl.load(a_ptr + i[:, None] * K + at + i[None, :])
        b = tl.load(b_ptr + (at + i[:, None]) * 64 + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def in_front(y_ptr, a_ptr, b_ptr, K, first):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + i[:, None] * K + (k + first * 8 + i)[None, :])
        b = tl.load(b_ptr + (k + i[:, None]) * 64 + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def multiply(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + i[:, None] * K + (k + i)[None, :])
        b = tl.load(b_ptr + (k + i[:, None]) * 64 + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def waits(y_ptr, a_ptr, b_ptr, K):
    tl.extra.cuda.gdc_wait()
    multiply(y_ptr, a_ptr, b_ptr, K)


@triton.jit
def waits_late(y_ptr, a_ptr, b_ptr, K):
    tl.store(y_ptr, tl.load(y_ptr) + 1)
    tl.extra.cuda.gdc_wait()
    multiply(y_ptr, a_ptr, b_ptr, K)


@triton.jit
def far(y_ptr, a_ptr, b_ptr, K, at):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    start = tl.program_id(0).to(tl.int64) * 1000003
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + start * 16 + i[:, None] * K + (k + i)[None, :])
        b = tl.load(b_ptr + (k + i[:, None]) * 64 + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)


@triton.jit
def spins(y_ptr, a_ptr, b_ptr, flag_ptr, K):
    while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
        pass
    multiply(y_ptr, a_ptr, b_ptr, K)


@triton.jit
def wide(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 512)
    j = tl.arange(0, 256)
    ks = tl.arange(0, 64)
    total = tl.zeros((512, 256), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + i[:, None] * K + (k + ks)[None, :])
        b = tl.load(b_ptr + (k + ks[:, None]) * 256 + j[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 256 + j[None, :], total)


@triton.jit
def hinted(y_ptr, a_ptr, b_ptr, K):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, num_stages=2, warp_specialize=True):
        k = tl.multiple_of(k, 64)
        half = k // 128 * 64
        a = tl.load(a_ptr + i[:, None] * K + (k + i)[None, :], mask=(k + i)[None, :] < K, other=0.0)
        b = tl.load(b_ptr + (half + i[:, None]) * 64 + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], total)
