# RUN: nereid compile %s:scale --signature '*bf16:16, *bf16:16, i32, i32, i32:16, 1, 1024' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=ONE
# RUN: nereid compile %s:scale --signature '*bf16:16, *bf16:16, i32, i32, i32:16, 4, 128' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=SEVERAL
# RUN: nereid compile %s:column_sums --signature '*fp32:16, *bf16:16, i32, i32, i32:16, 32, 256' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=SUMS
# RUN: nereid compile %s:add_bias --signature '*fp32:16, *fp32:16, *fp32:16, i1, 1024' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=FLAG
import triton
import triton.language as tl


# x86-64-v3 has no masked accesses of 2 bytes: whole vectors are possible only
# where the conditions of the row and of the columns are asked for in front of
# the loop. One row's condition is a scalar. Pieces of several rows are fetched
# an iteration ahead.
# ONE: define void @scale
# ONE-NOT: load i16,
# ONE: load <{{.*}} x i16>
# ONE-NOT: load i16,
# ONE: store <{{.*}} x i16>
# SEVERAL: define void @scale
# SEVERAL: load <{{.*}} x i16>
# SEVERAL: store <{{.*}} x i16>
# SEVERAL: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
# SEVERAL: call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
@triton.jit
def scale(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        x = tl.load(x_ptr + places, mask=inside, other=0.0)
        tl.store(y_ptr + places, x, mask=inside)


# The rows' condition bounds the loop along the axis of the sum.
# SUMS: define void @column_sums
# SUMS-NOT: load i16,
# SUMS: load <{{.*}} x i16>
@triton.jit
def column_sums(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, M, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        total += tl.sum(x, axis=0)
    tl.store(y_ptr + columns, total, mask=columns < N)


# A flag that a whole launch shares bounds no loop: where it is false, the loads
# of x would lose their vectors, too.
# FLAG: define void @add_bias
# FLAG-NOT: i64 1024, i64 0
# FLAG: ret void
@triton.jit
def add_bias(y_ptr, x_ptr, b_ptr, has_bias, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    bias = tl.load(b_ptr + i, mask=tl.full([BLOCK], has_bias, tl.int1), other=0.0)
    at = tl.program_id(0) * BLOCK + i
    tl.store(y_ptr + at, tl.load(x_ptr + at) + bias)
