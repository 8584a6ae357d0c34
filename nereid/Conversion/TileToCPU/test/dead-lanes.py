# RUN: nereid compile %s:softmax --signature '*fp32:16, *fp32:16, i32, 4096' --target x86-64-v3 --emit llvm | grep -B2 'call.*@llvm.masked.load' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:column_sums --signature '*fp32:16, *fp32:16, i32, i32, 512, 16' --target x86-64-v4 --emit llvm | grep -B2 'call.*@llvm.masked.load' | FileCheck %s --check-prefix=ROWS
import triton
import triton.language as tl


# After the row the maximum and the sum go on over lanes that are off, and where a loop knows that all are, it reads nothing.
# Where some may be on, a load is in
# a block of its own, which a vector without any lane steps over.
# LANES: {{^[0-9]+}}:
# LANES-NEXT: getelementptr
# LANES-NEXT: call <8 x float> @llvm.masked.load
# LANES: {{^[0-9]+}}:
# LANES-NEXT: getelementptr
# LANES-NEXT: call <8 x float> @llvm.masked.load
# LANES-NOT: call
@triton.jit
def softmax(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + cols, e / tl.sum(e, axis=0), mask=mask)


# Rows after the last one.
# ROWS: {{^[0-9]+}}:
# ROWS-NEXT: getelementptr
# ROWS-NEXT: call <16 x float> @llvm.masked.load
# ROWS-NOT: call
@triton.jit
def column_sums(y_ptr, x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        inside = (rows[:, None] < M - start) & (cols[None, :] < N)
        total += tl.load(x_ptr + (start + rows)[:, None] * N + cols[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + cols, tl.sum(total, axis=0), mask=cols < N)
