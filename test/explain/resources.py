"""What of the grid is resident, what is spilled, who copies ahead, and what is read again by the programs that follow.

REQUIRES: nereid, ptxas
RUN: nereid explain %s:sums x_ptr=zeros:f32[8388608] out_ptr=zeros:f32[8] part=1024 --grid 8 --chip h200 | FileCheck %s --check-prefix=FEW
RUN: nereid explain %s:spilling x_ptr=zeros:f32[32768] y_ptr=zeros:f32[32768] N=32768 --grid 1 --chip h200 | FileCheck %s --check-prefix=SPILLS
RUN: nereid explain %s:ahead x_ptr=zeros:f16[128,256] y_ptr=zeros:f16[256,128] z_ptr=zeros:f32[128,128] K=256 --grid 1 --chip h200 | FileCheck %s --check-prefix=AHEAD
RUN: nereid explain %s:sums x_ptr=zeros:f32[8388608] out_ptr=zeros:f32[4096] part=262144 --grid 32,128 --chip h100 | FileCheck %s --check-prefix=AGAIN
RUN: nereid explain %s:sums x_ptr=zeros:f32[1048576] out_ptr=zeros:f32[4096] part=32768 --grid 32,128 --chip h100 | FileCheck %s --check-prefix=KEPT

FEW: of 64 warps resident (limit: the grid; {{[0-9]+}} by {{warps|registers}})
SPILLS: registers, {{[0-9]+}} bytes stored and loaded by spills, 144 B shared
AHEAD: copy    x_ptr {{ *}}16      32
AHEAD: copy    y_ptr {{ *}}16      32

The chip holds a part of the 4096 programs: each wave of them reads all of the 34 MB, and two thirds of its cache are 33.
AGAIN: memory {{.*}} moved, {{[0-9.]+}} MB read again;
AGAIN: hint: {{.*}} MB are read again: programs that run together read more than the second-level cache keeps (50 MB)
KEPT: memory {{.*}} MB and {{[^,]*}} moved;
KEPT-NOT: again
"""
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, out_ptr, part, BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * part + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, part, BLOCK):
        total += tl.load(x_ptr + i + first)
    tl.store(out_ptr + tl.program_id(1) * tl.num_programs(0) + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def spilling(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + tl.arange(0, N), e / tl.sum(e, axis=0))


@triton.jit
def ahead(x_ptr, y_ptr, z_ptr, K):
    i = tl.arange(0, 128)
    k = tl.arange(0, 64)
    total = tl.zeros([128, 128], tl.float32)
    for first in range(0, K, 64):
        x = tl.load(x_ptr + i[:, None] * K + first + k[None, :])
        y = tl.load(y_ptr + (first + k)[:, None] * 128 + i[None, :])
        total = tl.dot(x, y, total)
    tl.store(z_ptr + i[:, None] * 128 + i[None, :], total)
