# erf of float32 takes the special-function unit's power of two: two polynomials and one selection, no clamp. Others are left
# to expandMath.
# RUN: nereid compile %s:errors --target sm_90a --num-warps 1 --emit gpu --signature '*fp32:16,*fp32:16' | FileCheck %s
# CHECK-LABEL: func @errors
# CHECK: arith.mulf
# CHECK-COUNT-6: math.fma
# CHECK: math.absf
# CHECK-COUNT-5: math.fma
# CHECK: nv.approximate ex2
# CHECK: arith.subf
# CHECK: math.copysign
# CHECK: arith.cmpf olt
# CHECK: arith.select
# CHECK-NOT: math.erf %
# CHECK: math.erfc
import triton
import triton.language as tl


@triton.jit
def errors(y_ptr, x_ptr):
    i = tl.arange(0, 32)
    tl.store(y_ptr + i, tl.extra.libdevice.erfc(tl.erf(tl.load(x_ptr + i))))
