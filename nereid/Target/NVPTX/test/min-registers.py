# minnreg: registers that are taken and not used, in a branch that no program takes.
# RUN: nereid compile %s:kernel --signature '*fp32, i32, minnreg=8' --target sm_90a --emit ptx | FileCheck %s
# RUN: nereid compile %s:kernel --signature '*fp32, i32' --target sm_90a --emit ptx | FileCheck %s --check-prefix=NONE
# RUN: not nereid compile %s:kernel --signature '*fp32, i32, minnreg=80, maxnreg=64' --target sm_90a --emit ptx 2>&1 | FileCheck %s --check-prefix=BOTH
import triton
import triton.language as tl


# CHECK: .visible .entry kernel
# CHECK: .reg .b32 %programs, %nowhere, %held<5>;
# CHECK: mov.u32 %programs, %nctaid.z;
# CHECK-NEXT: setp.ne.u32 %always, %programs, 0;
# CHECK-NEXT: @%always bra reserved;
# CHECK-COUNT-5: ld.volatile.shared.b32 %held
# CHECK-COUNT-5: st.volatile.shared.b32
# CHECK-NEXT: exit;
# CHECK-NEXT: reserved:
# NONE-NOT: reserved
# BOTH: error: kernel 'kernel': minnreg=80 is more than maxnreg=64
@triton.jit
def kernel(y_ptr, n):
    tl.store(y_ptr + tl.arange(0, 64), n)
