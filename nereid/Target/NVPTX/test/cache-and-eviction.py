# A cache operator and an eviction priority exclude each other in PTX: the
# operator stands, and the assembler takes it.
# RUN: nereid compile %s:kernel --signature '*fp32:16, *fp32:16' --target sm_90a --emit ptx | FileCheck %s
import triton
import triton.language as tl


# CHECK: ld.global.cg.b32
# CHECK: ld.global.L1::evict_first.b32
# CHECK: st.global.cs.b32
@triton.jit
def kernel(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    x = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_first")
    y = tl.load(y_ptr + i, eviction_policy="evict_first")
    tl.store(y_ptr + i, x + y, cache_modifier=".cs", eviction_policy="evict_last")
