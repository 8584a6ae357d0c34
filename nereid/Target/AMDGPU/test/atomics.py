# Atomics are one instruction where the chip has it; of the whole system a loop, since memory may be another's.
# RUN: nereid compile %s:add_up --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,256,"gpu"' | FileCheck %s --check-prefix=ONE
# RUN: nereid compile %s:add_up --target gfx1100 --emit amdgcn --signature '*fp32:16,*fp32:16,256,"gpu"' | FileCheck %s --check-prefix=ONE
# RUN: nereid compile %s:add_up --target gfx942 --emit amdgcn --signature '*fp16:16,*fp16:16,1024,"gpu"' | FileCheck %s --check-prefix=PAIR
# RUN: nereid compile %s:add_up --target gfx942 --emit amdgcn --signature '*bf16:16,*bf16:16,1024,"gpu"' | FileCheck %s --check-prefix=BF16
# RUN: nereid compile %s:add_up --target gfx942 --emit amdgcn --signature '*i32:16,*i32:16,256,"gpu"' | FileCheck %s --check-prefix=INTEGER
import triton
import triton.language as tl


# ONE: global_atomic_add_f32
# ONE-NOT: cmpswap
# PAIR: global_atomic_pk_add_f16
# PAIR-NOT: cmpswap
# BF16: global_atomic_pk_add_bf16
# BF16-NOT: cmpswap
# INTEGER: global_atomic_add{{(_u32)?}} v
@triton.jit
def add_up(x_ptr, z_ptr, N: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.arange(0, N)
    tl.atomic_add(z_ptr + at, tl.load(x_ptr + at), sem="relaxed", scope=SCOPE)
