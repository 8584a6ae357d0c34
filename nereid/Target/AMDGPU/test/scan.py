# Scans, transposes and products go through LDS, which has the size that they need.
# RUN: nereid compile %s:scan --target gfx942 --emit amdgcn --signature '*i32:16,*i32:16,256' | FileCheck %s --check-prefix=SCAN
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,16,16,32' | FileCheck %s --check-prefix=PRODUCT
import triton
import triton.language as tl


# SCAN-LABEL: {{^}}scan:
# SCAN: s_barrier
# SCAN: s_endpgm
# SCAN-NOT: .amdhsa_group_segment_fixed_size 0{{$}}
@triton.jit
def scan(x_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=0))


# PRODUCT-LABEL: {{^}}product:
# PRODUCT: s_barrier
# PRODUCT: ds_load
# PRODUCT: fma
# PRODUCT: .amdhsa_group_segment_fixed_size 4096
@triton.jit
def product(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + k[:, None] * N + n[None, :])
    tl.store(z_ptr + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))
