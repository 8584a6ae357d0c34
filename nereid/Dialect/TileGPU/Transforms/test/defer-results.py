# A tile's rounded sums go into the next tile's iteration, and are stored beside its first products: a piece a step, as far
# as tl.assume says that there are steps. Each warp exchanges elements in a part of a buffer of its own.
# RUN: nereid compile %s:product --target sm_90a --num-stages 4 --emit tilegpu \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32,64,2' | FileCheck %s
#
# CHECK: %[[OWN:.*]] = tilegpu.alloc at {{.*}} : <1 x[{{[0-9]*}}] x i8
# CHECK: } else {
# CHECK: scf.for {{.*}} iter_args({{.*}} = {{.*}}) -> (i32, i32, i32, tensor<64x128xbf16
# CHECK: tilegpu.wait_slot
# CHECK: tile.dot {{.*}}tilegpu.in_flight
# CHECK-NOT: tilegpu.wait_older_products
# CHECK: scf.if
# CHECK: tilegpu.convert_layout {{.*}} through %[[OWN]]
# CHECK-COUNT-1: tile.store
# CHECK: tilegpu.wait_slot
# CHECK: tile.dot {{.*}}tilegpu.in_flight
# CHECK: tilegpu.wait_older_products 1
# CHECK: tilegpu.release_slot
# CHECK: scf.if
# CHECK-COUNT-1: tile.store
# CHECK: scf.for
# CHECK: tile.dot
# CHECK: %[[DONE:.*]] = tilegpu.wait_products
# CHECK: arith.truncf %[[DONE]]
# CHECK-NOT: tile.store
# CHECK: scf.yield
# The last tile.
# CHECK: scf.if
# CHECK-COUNT-2: tile.store
# CHECK-NOT: tile.store
#
# Sums that are stored as they are stay: nothing is left to be carried in fewer registers.
# RUN: nereid compile %s:product --target sm_90a --emit tilegpu \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,i32:16,i32,64,1' | FileCheck %s --check-prefix=WIDE
# WIDE: } else {
# WIDE: scf.for {{.*}} -> (i32, i32, i32)
#
# A loop that may have no iteration.
# RUN: nereid compile %s:product --target sm_90a -v --emit tilegpu -o /dev/null \
# RUN:   --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,i32,-1,1' 2>&1 | FileCheck %s --check-prefix=EMPTY
# EMPTY: the loop may have no iteration
# EMPTY: tl.assume(...) that it has one
import triton
import triton.language as tl


@triton.jit
def product(y_ptr, a_ptr, b_ptr, K, N, blocks, BEYOND: tl.constexpr, PIECES: tl.constexpr):
    i = tl.arange(0, 64)
    cols = tl.arange(0, 128)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        rows = block * 64 + i
        total = tl.zeros((64, 128), dtype=tl.float32)
        if BEYOND >= 0:
            tl.assume(K > BEYOND)
        for k in tl.range(0, K, 64, warp_specialize=True):
            a = tl.load(a_ptr + rows[:, None] * K + (k + i)[None, :])
            b = tl.load(b_ptr + (k + i)[:, None] * N + cols[None, :])
            total = tl.dot(a, b, total)
        y = total.to(y_ptr.dtype.element_ty)
        if PIECES == 1:
            tl.store(y_ptr + rows[:, None] * N + cols[None, :], y)
        else:
            left, right = tl.split(tl.permute(tl.reshape(y, (64, 2, 64)), (0, 2, 1)))
            tl.store(y_ptr + rows[:, None] * N + i[None, :], left)
            tl.store(y_ptr + rows[:, None] * N + 64 + i[None, :], right)
