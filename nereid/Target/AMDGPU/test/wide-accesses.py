# Kernels that are bound by memory move 128 bits at a time.
# RUN: nereid compile %s:softmax --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:softmax --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:softmax --target gfx950 --emit amdgcn --signature '*bf16:16,*bf16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:softmax --target gfx1100 --emit amdgcn --signature '*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
# RUN: nereid compile %s:softmax --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
# RUN: nereid compile %s:layer_norm --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:layer_norm --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:layer_norm --target gfx950 --emit amdgcn --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:layer_norm --target gfx1100 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
# RUN: nereid compile %s:layer_norm --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
# RUN: nereid compile %s:add --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:add --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:add --target gfx950 --emit amdgcn --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,4096' | FileCheck %s --check-prefix=CDNA
# RUN: nereid compile %s:add --target gfx1100 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
# RUN: nereid compile %s:add --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,4096' | FileCheck %s --check-prefix=RDNA
import triton
import triton.language as tl


# CDNA: global_load_dwordx4
# CDNA-NOT: global_load_{{dword |dwordx2|ushort|short}}
# CDNA: global_store_dwordx4
# CDNA-NOT: global_store_{{dword |dwordx2|short}}
# CDNA: s_endpgm
# RDNA: global_load_b128
# RDNA-NOT: global_load_{{b32|b64|u16|d16}}
# RDNA: global_store_b128
# RDNA-NOT: global_store_{{b32|b64|b16}}
# RDNA: s_endpgm
@triton.jit
def softmax(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(z_ptr + row * n + at, (e / tl.sum(e, axis=0)).to(z_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm(x_ptr, w_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + 1e-5)
    tl.store(z_ptr + row * n + at, (centred * scale * w).to(z_ptr.dtype.element_ty), mask=mask)


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
