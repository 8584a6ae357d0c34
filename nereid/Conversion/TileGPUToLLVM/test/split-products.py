"""Products of fp32 by three of tf32: both operands are split into two numbers of tf32, and 32 along K are added up in sums of
their own. A vote finds sums that are infinite or NaN, and the warp adds those up once more.

REQUIRES: nereid
DEFINE: %{compile} = nereid compile %s:product --emit ptx -o -
RUN: %{compile} --target sm_80 --signature "*fp32:16, *fp32:16, *fp32:16, 16, 8, 32" --num-warps 1 | FileCheck %s
RUN: %{compile} --target sm_75 --signature "*fp32:16, *fp32:16, *fp32:16, 16, 8, 32" --num-warps 1 | FileCheck %s --check-prefix=OLD
DEFINE: %{run} = env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=races nereid run
RUN: %{run} %s:product a=randn:f32[64,64] b=randn:f32[64,64] c=zeros:f32[64,64] M=64 N=64 K=64 --grid 1 --device cuda:0 --check
RUN: %{run} %s:product a=randn:f32[33,44] b=randn:f32[44,20] c=zeros:f32[33,20] M=33 N=20 K=44 num_warps=2 --grid 1 --device cuda:0 --check
RUN: %{run} %s:in_a_loop a=randn:f32[64,160] b=randn:f32[160,32] c=zeros:f32[64,32] K=160 --grid 1 --device cuda:0 --check
RUN: %{run} %s:specials a=randn:f32[32,64] b=randn:f32[64,32] others=full:7:i32[1] --grid 1 --device cuda:0 --print others | FileCheck %s --check-prefix=SAME

CHECK: cvt.rna.tf32.f32
CHECK-COUNT-12: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
CHECK: vote.sync.any.pred
CHECK-NOT: mma.sync
OLD-NOT: mma.sync
OLD: fma.rn.f32
SAME: others: i32[1] 0
"""
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    x = tl.load(a + m * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + n)
    tl.store(c + m * N + n, tl.dot(x, y, input_precision="tf32x3"))


@triton.jit
def in_a_loop(a, b, c, K: tl.constexpr):
    m = tl.arange(0, 64)[:, None]
    n = tl.arange(0, 32)[None, :]
    k = tl.arange(0, 32)
    total = tl.zeros((64, 32), dtype=tl.float32)
    for start in range(0, K, 32):
        x = tl.load(a + m * K + start + k[None, :])
        y = tl.load(b + (start + k[:, None]) * 32 + n)
        total = tl.dot(x, y, total, input_precision="tf32x3")
    tl.store(c + m * 32 + n, total)


@triton.jit
def specials(a, b, others):
    """How many sums are of another kind than fp32's (finite, NaN, an infinity of either sign), or off by 2^-18 of their size."""
    m = tl.arange(0, 32)[:, None]
    n = tl.arange(0, 32)[None, :]
    k = tl.arange(0, 64)
    x = tl.load(a + m * 64 + k[None, :])
    y = tl.load(b + k[:, None] * 32 + n)
    inf: tl.constexpr = float("inf")
    # The largest number beside zeros, infinities of both signs, NaN; a number that times an infinity's small part is NaN.
    x = tl.where(m == 3, tl.where(k[None, :] == 5, 3.4028234663852886e38, 0.0), x)
    x = tl.where((m == 7) & (k[None, :] == 40), inf, x)
    x = tl.where((m == 9) & (k[None, :] == 41), -inf, x)
    x = tl.where((m == 20) & (k[None, :] == 1), float("nan"), x)
    x = tl.where(m == 22, x * 1e-34, x)
    y = tl.where((k[:, None] == 40) & (n == 6), 0.0, tl.where((k[:, None] == 40) & (n == 8), 1.0, y))
    y = tl.where((k[:, None] == 5) & (n < 30), y * 0.125, y)
    y = tl.where((k[:, None] == 63) & (n == 31), -inf, y)
    s = tl.dot(x, y, input_precision="tf32x3")
    t = tl.dot(x, y, input_precision="ieee")
    size = tl.dot(tl.abs(x), tl.abs(y), input_precision="ieee")
    is_finite = tl.abs(t) < inf
    same = tl.where(is_finite, tl.abs(s - t) <= size * 3.8147e-06, (s == t) | ((s != s) & (t != t)))
    tl.store(others, tl.sum(tl.sum(tl.where(same, 0, 1), axis=1), axis=0))
