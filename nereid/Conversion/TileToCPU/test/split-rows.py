# RUN: nereid compile %s:scale --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
# RUN: nereid compile %s:shared_loop_behind --signature '*fp32:16, *fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=BEHIND
# RUN: nereid compile %s:row_sum --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=SUM
# RUN: nereid compile %s:row_sum --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 128' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
# RUN: nereid compile %s:in_place --signature '*fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
# RUN: nereid compile %s:column_major --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
# RUN: nereid compile %s:sums_of_columns --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
# RUN: nereid compile %s:shared_sum --signature '*fp32:16, *fp32:16, i32, i32, i32:16, 4, 1024' --target x86-64-v3 --emit cpu | FileCheck %s --check-prefix=WHOLE
import triton
import triton.language as tl


# A loop over the rows, around the one over the tiles of columns; both count in
# i32, as the kernel does.
# SUM-LABEL: func.func @row_sum
# SUM: scf.for {{.*}} : i32 {
# SUM: scf.for {{.*}} : i32 {
# WHOLE-LABEL: func.func
# WHOLE: scf.for {{.*}} : i32 {
# WHOLE-NOT: scf.for {{.*}} : i32 {
# WHOLE: return
# Rows may overlap: then a tile's store comes before that of the next tile, in any row.
@triton.jit
def scale(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        tl.store(y_ptr + places, tl.load(x_ptr + places, mask=inside, other=0.0) * 2, mask=inside)


@triton.jit
def row_sum(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        total += tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + rows, tl.sum(total, axis=1), mask=rows < M)


# What is read may be what another row has written.
@triton.jit
def in_place(x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        tl.store(x_ptr + places, tl.load(x_ptr + places, mask=inside, other=0.0) * 2, mask=inside)


# Neighbours in memory lie in different rows.
@triton.jit
def column_major(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] + columns[None, :] * stride
        tl.store(y_ptr + places, tl.load(x_ptr + places, mask=inside, other=0.0) * 2, mask=inside)


# What is stored has no rows.
@triton.jit
def sums_of_columns(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0)
        tl.store(y_ptr + tl.program_id(0) * stride + columns, tl.sum(x, axis=0), mask=columns < N)


# What all rows share costs as much as a row.
@triton.jit
def shared_sum(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        weight = tl.sum(tl.load(x_ptr + columns, mask=columns < N, other=0.0), axis=0)
        places = rows[:, None] * stride + columns[None, :]
        tl.store(y_ptr + places, tl.load(x_ptr + stride + places, mask=inside, other=0.0) * weight, mask=inside)


# A loop that all rows share, and that uses what another one makes.
# BEHIND-LABEL: func.func @shared_loop_behind
# BEHIND: scf.for {{.*}} : i32 {
# BEHIND: scf.for {{.*}} : i32 {
# BEHIND: return
@triton.jit
def shared_loop_behind(y_ptr, x_ptr, w_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    sum = 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        total += tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0)
        sum += tl.load(w_ptr + start)
    rest = 0.0
    for start in range(0, N, BLOCK):
        rest += tl.load(w_ptr + start) * sum
    tl.store(y_ptr + rows, tl.sum(total, axis=1) + rest, mask=rows < M)
