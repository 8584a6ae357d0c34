# RUN: nereid compile %s:softmax --signature '*fp32:16, *fp32:16, i32:16, 4096' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=ROW
# RUN: nereid compile %s:softmax --signature '*fp32:16, *fp32:16, i32:16, 1048576' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=LARGE
# RUN: nereid compile %s:scale --signature '*fp32:16, *fp32:16, i32, 1024' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=STREAM
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
