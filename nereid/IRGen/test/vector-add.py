# The first kernel, line for line.
# RUN: nereid compile %s:add_kernel --signature '*fp32:16, *fp32:16, *fp32:16, i32, 768' --emit tile | FileCheck %s
# REQUIRES: nereid
import torch
import triton
import triton.language as tl


# CHECK-LABEL: func.func @add_kernel
# CHECK-SAME: %[[X:arg0]]: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.dtype = "*fp32", tile.name = "x_ptr"}
# CHECK-SAME: %[[N:arg3]]: i32 {tile.dtype = "i32", tile.name = "n"}
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # CHECK: %[[PID:.+]] = tile.program_id 0
    # CHECK: %[[START:.+]] = arith.muli %[[PID]]
    # CHECK: %[[RANGE:.+]] = tile.range 0, 768 : tensor<768xi32>
    # CHECK: %[[SPLAT:.+]] = tile.splat %[[START]]
    # CHECK: %[[OFFSETS:.+]] = arith.addi %[[SPLAT]], %[[RANGE]]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # CHECK: %[[MASK:.+]] = arith.cmpi slt, %[[OFFSETS]]
    mask = offsets < n
    # CHECK: %[[A:.+]] = tile.load %{{.+}}, %[[MASK]]
    # CHECK: %[[B:.+]] = tile.load %{{.+}}, %[[MASK]]
    # CHECK: %[[SUM:.+]] = arith.addf %[[A]], %[[B]]
    # CHECK: tile.store %{{.+}}, %[[SUM]], %[[MASK]]
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


class NeverEvaluated(torch.nn.Module):
    pass
