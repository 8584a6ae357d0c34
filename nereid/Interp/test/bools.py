"""A number that is stored through a pointer to bool is a truth value: 256 is 1, where upstream keeps the low byte, which is 0.

REQUIRES: nereid
RUN: nereid run %s:stores o=zeros:bool[8] n=256 --grid 1 --device cpu --print o | FileCheck %s
RUN: nereid run %s:stores o=zeros:bool[8] n=256 --grid 1 --device interp --print o | FileCheck %s
RUN: env NEREID_CUDA_DRIVER=simulator nereid run %s:stores o=zeros:bool[8] n=256 --grid 1 --device cuda:0 --print o | FileCheck %s

CHECK: o: i1[8] 0 1 0 ... 1 0 1
"""
import triton
import triton.language as tl


@triton.jit
def stores(o, n):
    i = tl.arange(0, 8)
    tl.store(o + i, (i % 2) * n)
