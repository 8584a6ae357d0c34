"""Products by multiplications and additions: operands are written and read 16 bytes at a time, a row of A for four steps.

REQUIRES: nereid
DEFINE: %{compile} = nereid compile %s:product --target sm_90 --emit ptx
RUN: %{compile} --signature "*fp32:16, *fp32:16, *fp32:16, 64, 64, 32" -o - | FileCheck %s --implicit-check-not="ld.shared.b32" --implicit-check-not="st.shared.b32"
RUN: %{compile} --signature "*fp32:16, *fp32:16, *fp32:16, 16, 48, 24" -o - | FileCheck %s --check-prefix=ODD
RUN: nereid run %s:product a=randn:f32[64,32] b=randn:f32[32,64] c=zeros:f32[64,64] M=64 N=64 K=32 --grid 1 --device interp --check
RUN: env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=races nereid run %s:product a=randn:f32[64,32] b=randn:f32[32,64] c=zeros:f32[64,64] M=64 N=64 K=32 --grid 1 --device cuda:0 --check
RUN: env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=races nereid run %s:product a=randn:f32[16,24] b=randn:f32[24,48] c=zeros:f32[16,48] M=16 N=48 K=24 --grid 1 --device cuda:0 --check
RUN: env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=races nereid run %s:product a=randn:f32[5,7] b=randn:f32[7,3] c=zeros:f32[5,3] M=5 N=3 K=7 --grid 1 --device cuda:0 --check
RUN: env NEREID_CUDA_DRIVER=simulator nereid run %s:product a=randn:f64[32,16] b=randn:f64[16,32] c=zeros:f64[32,32] M=32 N=32 K=16 --grid 1 --device cuda:0 --check
RUN: env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=sm_75 nereid run %s:product a=randn:bf16[32,16] b=randn:bf16[16,32] c=zeros:f32[32,32] M=32 N=32 K=16 --grid 1 --device cuda:0 --check

CHECK: st.shared.v4.b32
CHECK: ld.shared.v4.b32
CHECK: fma.rn.f32
CHECK: ld.shared.v4.b32

A row of B has no power of two elements: they are written and read one by one.
ODD: ld.shared.v4.b32
ODD: ld.shared.b32
ODD: fma.rn.f32
"""
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    x = tl.load(a + m * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + n)
    tl.store(c + m * N + n, tl.dot(x, y, input_precision="ieee"))
