# RUN: nereid compile %s:softmax --signature '*fp32:16, *fp32:16, i32:16, 4096' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=ROW
# RUN: nereid compile %s:softmax --signature '*fp32:16, *fp32:16, i32:16, 1048576' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=LARGE
# RUN: nereid compile %s:scale --signature '*fp32:16, *fp32:16, i32, 1024' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=STREAM
# RUN: nereid compile %s:row_sum --signature '*fp32:16, *bf16:16, i32, i32:16, 1024' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=SUM
# RUN: nereid compile %s:column_sum --signature '*fp32:16, *fp32:16, i32, i32:16, 16, 256' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=COLUMNS
# RUN: nereid compile %s:fill --signature '*bf16:16, *bf16:16, i32, i32:16, 1024' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=FILL
import triton
import triton.language as tl


# Pass 1 loads, passes 2 and 3 fetch the next program's row, and pass 2 the
# lines that pass 3 stores to.
# ROW: define void @softmax
# ROW-NOT: call void @llvm.prefetch
# ROW: call float @llvm.maxnum.f32
# ROW: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
# ROW: call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
# ROW: fdiv
# ROW: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
# A row that leaves no room for the next one is not fetched.
# LARGE-NOT: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0,
@triton.jit
def softmax(y_ptr, x_ptr, stride, N: tl.constexpr):
    row = tl.program_id(0) * stride
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row + cols)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + cols, e * (1.0 / tl.sum(e, axis=0)))


# One pass: the hardware sees the loads coming; the stores ask 2 KB ahead,
# where they do not pass the caches.
# STREAM-NOT: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0,
# STREAM: store <{{.*}}!nontemporal
# STREAM: getelementptr i8, ptr %{{.*}}, i64 2048
# STREAM: call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
@triton.jit
def scale(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, 2.0 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


# What only adds up asks for the next tile, and so at the end of a row for the
# next one's first: after it comes a pass over the sums, which leaves memory
# idle. Four vectors a step: a line of narrow elements is asked for once.
# SUM: define void @row_sum
# SUM: load <32 x i16>
# SUM: store <32 x float>
# SUM: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
@triton.jit
def row_sum(y_ptr, x_ptr, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


# Sums across rows jump from row to row inside of each chunk: wide pieces, and
# the same piece of the next tile is asked for.
# COLUMNS: define void @column_sum
# COLUMNS: load <32 x float>
# COLUMNS: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
@triton.jit
def column_sum(y_ptr, x_ptr, M, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, M, ROWS):
        rows = start + tl.arange(0, ROWS)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=rows[:, None] < M, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(y_ptr + columns, total)


# Every row is written with the same: there is no stream of loads that the
# stores' lines could be asked for beside.
# FILL: define void @fill
# FILL-NOT: call void @llvm.prefetch
# FILL: ret void
@triton.jit
def fill(y_ptr, w_ptr, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + columns, mask=columns < N)
        tl.store(y_ptr + row * stride + columns, w, mask=columns < N)
