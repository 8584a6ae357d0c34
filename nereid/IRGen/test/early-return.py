# A return under a run-time condition moves the rest into the other branch.
# RUN: nereid compile %s:kernel --signature '*i32, i32' --emit tile | FileCheck %s
# REQUIRES: nereid
import triton
import triton.language as tl


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p, n):
    # CHECK: scf.if %{{.+}} {
    # CHECK-NEXT: } else {
    if tl.program_id(0) >= n:
        return
    # CHECK: scf.if
    # CHECK: tile.store
    if n > 4:
        tl.store(p, 1)
        return
    # CHECK: } else {
    # CHECK: tile.store
    tl.store(p, 2)
    # CHECK-NOT: tile.store
