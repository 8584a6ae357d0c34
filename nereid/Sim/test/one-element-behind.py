# Memory of the simulated GPU ends with its array: one element after it is a fault, for arrays of any size and for accesses
# of one byte and of sixteen. The element itself is no fault.
# REQUIRES: nereid
# RUN: env NEREID_CUDA_DRIVER=simulator nereid run %s:put o=zeros:i32[1] n=0 --grid 1 --device cuda:0
# RUN: not env NEREID_CUDA_DRIVER=simulator nereid run %s:put o=zeros:i32[1] n=1 --grid 1 --device cuda:0 2>&1 | FileCheck %s --check-prefix=FOUR
# RUN: not env NEREID_CUDA_DRIVER=simulator nereid run %s:put o=zeros:i8[513] n=513 --grid 1 --device cuda:0 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: not env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=sm_121 nereid run %s:copy x=zeros:f32[127] o=zeros:f32[128] num_warps=1 --grid 1 --device cuda:0 2>&1 | FileCheck %s --check-prefix=SIXTEEN
import triton
import triton.language as tl


# FOUR: put: illegal memory access: {{.*}}one-element-behind.py:{{[0-9]+}}: {{.*}} a write of 4 bytes
# ONE: put: illegal memory access: {{.*}}one-element-behind.py:{{[0-9]+}}: {{.*}} a write of 1 byte at
@triton.jit
def put(o, n):
    tl.store(o + n, 5)


# SIXTEEN: copy: illegal memory access: {{.*}}one-element-behind.py:{{[0-9]+}}: {{.*}} a read of 16 bytes
@triton.jit
def copy(x, o):
    i = tl.arange(0, 128)
    tl.store(o + i, tl.load(x + i))
