# waves_per_eu, matrix_instr_nonkdim and kpack, in a signature as in a launch.
# RUN: nereid compile %s:product --target gfx942 --emit llvm --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,waves_per_eu=4' | FileCheck %s --check-prefix=WAVES
# RUN: nereid compile %s:product --target gfx942 --emit llvm --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64' | FileCheck %s --check-prefix=ANY
# RUN: nereid compile %s:wide --target gfx942 --emit hsaco -o %t.1 -v --signature '*fp32:16,*fp32:16,32768' 2>&1 | FileCheck %s --check-prefix=FEW
# RUN: nereid compile %s:wide --target gfx942 --emit hsaco -o %t.8 -v --signature '*fp32:16,*fp32:16,32768,waves_per_eu=8' 2>&1 | FileCheck %s --check-prefix=MANY
# RUN: nereid compile %s:product --target gfx90a --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=LARGE -DONE=v_mfma_f32_32x32x8f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*bf16:16,*bf16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=LARGE -DONE=v_mfma_f32_32x32x8_bf16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*i8:16,*i8:16,*i32:16,64,64,64,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=LARGE4 -DONE=v_mfma_i32_32x32x16_i8
# RUN: nereid compile %s:product --target gfx950 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=LARGE4 -DONE=v_mfma_f32_32x32x16_f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp64:16,*fp64:16,*fp64:16,64,64,64,matrix_instr_nonkdim=32' | FileCheck %s --check-prefix=SMALL -DONE=v_mfma_f64_16x16x4_f64
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=16' | FileCheck %s --check-prefix=SMALL -DONE=v_mfma_f32_16x16x16_f16
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,kpack=1' | FileCheck %s --check-prefix=PACKED
# RUN: nereid compile %s:product --target gfx942 --emit amdgcn --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,kpack=2' | FileCheck %s --check-prefix=PACKED
# RUN: nereid compile %s:product --target sm_90a --emit ptx --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,kpack=2,matrix_instr_nonkdim=32,waves_per_eu=2' | FileCheck %s --check-prefix=OTHER
# RUN: not nereid compile %s:product --target gfx942 --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,waves_per_eu=9' 2>&1 | FileCheck %s --check-prefix=NINE
# RUN: not nereid compile %s:product --target gfx1100 --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,waves_per_eu=17' 2>&1 | FileCheck %s --check-prefix=SEVENTEEN
# RUN: not nereid compile %s:product --target gfx942 --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=8' 2>&1 | FileCheck %s --check-prefix=EIGHT
# RUN: not nereid compile %s:product --target gfx1201 --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,matrix_instr_nonkdim=32' 2>&1 | FileCheck %s --check-prefix=RDNA
# RUN: not nereid compile %s:product --target gfx942 --signature '*fp16:16,*fp16:16,*fp32:16,64,64,64,kpack=4' 2>&1 | FileCheck %s --check-prefix=FOUR
import triton
import triton.language as tl


# WAVES: "amdgpu-waves-per-eu"="4
# ANY-NOT: amdgpu-waves-per-eu
# NINE: error: kernel 'product': waves_per_eu is 9; expected 0 to 8 for gfx942
# SEVENTEEN: waves_per_eu is '17'; expected an integer from 0 to 16
# EIGHT: error: kernel 'product': matrix_instr_nonkdim is 8; expected 0, 16 or 32
# RDNA: error: kernel 'product': matrix_instr_nonkdim is 32; gfx1201 has no matrix instructions of that size
# FOUR: kpack is '4'; expected an integer from 1 to 2
# LARGE-COUNT-8: [[ONE]]
# LARGE-NOT: v_mfma
# LARGE4-COUNT-4: [[ONE]]
# LARGE4-NOT: v_mfma
# SMALL: [[ONE]]
# SMALL-NOT: _32x32x
# PACKED: ds_read_b128
# PACKED-NOT: ds_read_b64
# OTHER: .entry product
@triton.jit
def product(x_ptr, y_ptr, z_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    y = tl.load(y_ptr + n[None, :] * K + k[:, None])
    tl.store(z_ptr + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=z_ptr.dtype.element_ty))


# FEW: wide [gfx942]: {{[0-9]+}} VGPRs, {{[0-9]+}} SGPRs, 0 and 0 spilled{{.*}} of a processor, limited by VGPRs
# MANY: wide [gfx942]: {{[1-9]|[1-5][0-9]|6[0-4]}} VGPRs, {{.*}}; 32 of 32 waves of a processor
@triton.jit
def wide(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x - tl.max(x))
