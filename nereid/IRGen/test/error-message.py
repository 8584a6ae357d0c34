# A user's mistake: position, caret, hint, and where it was called from.
# RUN: not nereid compile %s:kernel --signature '*fp32, i32' --emit tile 2>&1 | FileCheck %s
# REQUIRES: nereid
import triton
import triton.language as tl


@triton.jit
def block(n):
    return tl.arange(0, n)


@triton.jit
def kernel(p, n):
    tl.store(p + block(n), 1.0)


# CHECK: error-message.py:10:25: error: tl.arange: argument 'end': expected an integer known while compiling, got a run-time int32
# CHECK-NEXT: return tl.arange(0, n)
# CHECK-NEXT: {{^ +\^$}}
# CHECK-NEXT: hint: declare the parameter 'n: tl.constexpr' of 'block'
# CHECK: error-message.py:15:18: note: called from 'kernel'
