# Where there are bulk prefetches, and num_stages does not say that nothing runs ahead, a program asks for the row of a
# later one.
# RUN: nereid compile %s:shift_rows --target sm_90 --emit ptx --signature '*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,ASKS
# RUN: nereid compile %s:shift_rows --target sm_120a --emit ptx --signature '*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,ASKS
# RUN: nereid compile %s:shift_rows --target sm_89 --emit ptx --signature '*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,NEVER
# RUN: nereid compile %s:shift_rows --target sm_90 --emit ptx --signature '*fp32:16,*fp32:16,i32:16,1024,num_stages=1' | FileCheck %s --check-prefixes=CHECK,NEVER
import triton
import triton.language as tl


# CHECK-LABEL: .entry shift_rows
# ASKS: ld.global
# ASKS: cp.async.bulk.prefetch.L2.global
# NEVER-NOT: prefetch
# CHECK: st.global
@triton.jit
def shift_rows(y_ptr, x_ptr, stride, N: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x - tl.max(x, axis=0))
