# Each type of operand on each chip: its matrix instruction, as often as its blocks are (of a wave 32 x 32 sums and 64 along K), or lanes.
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16f16
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16bf16_1k
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_i32_16x16x16i8
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp8e5:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16f16
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16f16
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f32_16x16x4f32
# RUN: nereid compile %s:exact --target gfx90a --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f32_16x16x4f32
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f64_16x16x4f64
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*u8:16,*u8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16_bf16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp8e5:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_mfma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_i32_16x16x32_i8
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=XF32 -DONE=v_mfma_f32_16x16x8_xf32
# RUN: nereid compile %s:exact --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f32_16x16x4_f32
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f64_16x16x4_f64
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*u8:16,*u8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_f16
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_bf16
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=WIDE -DONE=v_mfma_i32_16x16x64_i8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_fp8_fp8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_bf8_fp8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e5:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_fp8_bf8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e5:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=BYTE -DONE=v_mfma_f32_16x16x32_bf8_bf8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,128' | FileCheck %s --check-prefix=WIDE -DONE=v_mfma_f32_16x16x128_f8f6f4
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,64,64,128' | FileCheck %s --check-prefix=WIDE -DONE=v_mfma_f32_16x16x128_f8f6f4
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,128,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=DEEP -DONE=v_mfma_f32_32x32x64_f8f6f4
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f32_16x16x4_f32
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64' | FileCheck %s --check-prefix=WORD -DONE=v_mfma_f64_16x16x4_f64
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*u8:16,*u8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_bf16
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp8e5:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_i32_16x16x16_iu8
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*u8:16,*u8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_i32_16x16x16_iu8
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx1100 --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_bf16
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_fp8_fp8
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_bf8_fp8
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp8e5:16,*fp8e4nv:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_fp8_bf8
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp8e5:16,*fp8e5:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_f32_16x16x16_bf8_bf8
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_i32_16x16x16_iu8
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*u8:16,*u8:16,*i32:16,64,64,64' | FileCheck %s --check-prefix=HALF -DONE=v_wmma_i32_16x16x16_iu8
# RUN: nereid compile %s:exact --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=LANES
# RUN: nereid compile %s:product --target gfx1201 --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64' | FileCheck %s --check-prefix=LANES
import triton
import triton.language as tl


# HALF-COUNT-16: [[ONE]]
# HALF-NOT: {{v_mfma|v_wmma}}
# BYTE-COUNT-8: [[ONE]]
# BYTE-NOT: {{v_mfma|v_wmma}}
# WIDE-COUNT-4: [[ONE]]
# WIDE-NOT: {{v_mfma|v_wmma}}
# DEEP-COUNT-2: [[ONE]]
# DEEP-NOT: {{v_mfma|v_wmma}}
# XF32-COUNT-32: [[ONE]]
# XF32-NOT: {{v_mfma|v_wmma}}
# WORD-COUNT-64: [[ONE]]
# WORD-NOT: {{v_mfma|v_wmma}}
# LANES-NOT: {{v_mfma|v_wmma}}
# LANES: s_endpgm
@triton.jit
def product(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + k[:, None] * N + n[None, :])
    tl.store(z_ptr + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=z_ptr.dtype.element_ty))


@triton.jit
def exact(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + k[:, None] * N + n[None, :])
    tl.store(z_ptr + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))
