# RUN: nereid compile %s:copy --signature '*bf16:16, *bf16:16, i32, 256' --target x86-64-v3 --emit llvm | FileCheck %s
import triton
import triton.language as tl


# x86-64-v3 has no masked accesses of 2 bytes. What masks leave of a row is read as
# whole vectors where a lane is on and the vector lies in one page, and stored
# whole where all lanes are on. Lanes are visited one by one only where they are on.
# CHECK: define void @copy
# CHECK: %[[BITS:.*]] = bitcast <[[N:[0-9]+]] x i1> %{{.*}} to i[[N]]
# CHECK: icmp eq i[[N]] %[[BITS]], 0
# CHECK: and i64 %{{.*}}, 4095
# CHECK: load <[[N]] x i16>
# CHECK: select <[[N]] x i1>
# CHECK: call {{.*}}@llvm.cttz
# CHECK: load i16
# CHECK: icmp eq i[[N]] %{{.*}}, -1
# CHECK: store <[[N]] x i16>
@triton.jit
def copy(y_ptr, x_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < N, other=1.0), mask=i < N)
