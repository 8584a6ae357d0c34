# A row's address is a product and a sum in one instruction, which ptxas computes
# once for a warp.
# RUN: nereid compile %s:copy_rows --target sm_90a --emit ptx --signature '*fp32:16,*fp32:16,i32:16,i32:16,1024' | FileCheck %s
import triton
import triton.language as tl


# CHECK-LABEL: .entry copy_rows
# CHECK-COUNT-2: mad.wide.s32
# CHECK-NOT: mul.wide.s32
# CHECK: ret
@triton.jit
def copy_rows(y_ptr, x_ptr, y_stride, x_stride, N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, N)
    tl.store(y_ptr + row * y_stride + cols, tl.load(x_ptr + row * x_stride + cols))
