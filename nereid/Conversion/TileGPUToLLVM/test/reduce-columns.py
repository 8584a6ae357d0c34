# Columns that lie 8 side by side in a thread: parts of warps go through shared memory with one place left free after
# each run, so that lanes meet no bank twice, writing or reading.
# RUN: nereid explain %s:columns x=randn:f16[64,256] y=zeros:f32[256] --grid 4 --chip h200 | sed "s, \+, ,g" | FileCheck %s
import triton
import triton.language as tl


# CHECK: load shared memory 16 32 4 4
# CHECK: store shared memory 4 8 1 1
@triton.jit
def columns(x, y):
    rows, lines = tl.arange(0, 64), tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.store(y + lines, tl.sum(tl.load(x + rows[:, None] * 256 + lines[None, :]).to(tl.float32), axis=0))
