# A number that is stored through a pointer to bool is a truth value (docs/Interp.md).
# REQUIRES: nereid
# RUN: nereid run %s:numbers o=zeros:i1[4] --grid 1 --device interp --print o | FileCheck %s
# RUN: nereid run %s:numbers o=zeros:i1[4] --grid 1 --device cpu --print o | FileCheck %s
# RUN: env NEREID_CUDA_DRIVER=simulator nereid run %s:numbers o=zeros:i1[4] --grid 1 --device cuda:0 --print o | FileCheck %s
import triton
import triton.language as tl


# CHECK: 1 0 1 1
@triton.jit
def numbers(o):
    tl.store(o, 256)
    tl.store(o + 1, 0)
    tl.store(o + 2, 2)
    tl.store(o + 3, -1)
