# The engine's tensor has a dimension for batches, whose stride the launch gives in units.
# RUN: nereid compile %s:sums --target sm_90a --emit tilegpu \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32,i32:16,i32,i32' | FileCheck %s
# CHECK-DAG: tensor_map_source<1 : bf16, swizzle = 128, box = [64, 64, 1], numbers = [1, 1, 0, 1, 1, 1, 3, 1, 8, 1, 5, 1, 1, 1, 6, 1, 8, 1, 4, -1]>
# CHECK-DAG: tensor_map_source<2 : bf16
# CHECK: tilegpu.copy_tile
import triton
import triton.language as tl


@triton.jit
def sums(y_ptr, a_ptr, b_ptr, K, batch_units, row_units, stop):
    batch = tl.program_id(0)
    rows = tl.arange(0, 64)
    ks = tl.arange(0, 64)
    a_ptrs = a_ptr + batch.to(tl.int64) * batch_units * 8 + rows[:, None] * row_units * 8 + ks[None, :]
    b_ptrs = b_ptr + rows[None, :] * row_units * 8 + ks[:, None]
    total = tl.zeros((64, 64), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptrs + k, mask=(rows[:, None] < stop) & (ks[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs + k, mask=(ks[:, None] < K - k) & (rows[None, :] < stop), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(y_ptr + batch * 4096 + rows[:, None] * 64 + rows[None, :], total)
