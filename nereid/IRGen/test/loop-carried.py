# What a loop carries: variables that its body assigns and that exist before it.
# RUN: nereid compile %s:kernel --signature '*fp32, *fp32, i32, 64' --emit tile | FileCheck %s
# REQUIRES: nereid
import triton
import triton.language as tl


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    offsets = tl.arange(0, BLOCK)
    # CHECK: %[[SUM:.+]] = scf.for %{{.+}} = %c0_i32 to %{{.+}} step %c64_i32 iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<64xf32>)
    # CHECK: %[[X:.+]] = tile.load
    # CHECK: %[[NEXT:.+]] = arith.addf %[[ACC]], %[[X]]
    # CHECK: scf.yield %[[NEXT]] : tensor<64xf32>
    # CHECK: {tile.num_stages = 3 : i32}
    for start in tl.range(0, n, BLOCK, num_stages=3):
        x = tl.load(x_ptr + start + offsets, mask=start + offsets < n, other=0.0)
        acc += x
    # CHECK: "tile.reduce"(%[[SUM]])
    tl.store(y_ptr, tl.sum(acc))
