"""A bias and a layer norm in one kernel, beside torch's: python -m nereid fused_bias_layer_norm.py [B N]"""
import sys
import time

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def fused_bias_ln(X, BIAS, GAMMA, BETA, Y, N: tl.constexpr, eps: tl.constexpr):
    pid = tl.program_id(axis=0)
    cols = tl.arange(0, N)
    offs = pid * N + cols
    x = tl.load(X + offs) + tl.load(BIAS + cols)
    mean = tl.sum(x, axis=0) / N
    var = tl.sum(x * x, axis=0) / N - mean * mean
    y = (x - mean) * tl.math.rsqrt(var + eps)
    tl.store(Y + offs, y * tl.load(GAMMA + cols) + tl.load(BETA + cols))


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def run_once(B=512, N=1024, dtype=torch.float32, eps=1e-5):
    torch.manual_seed(0)
    x = torch.randn(B, N, device=DEVICE, dtype=dtype)
    bias, gamma, beta = (torch.randn(N, device=DEVICE, dtype=dtype) for _ in range(3))
    y = torch.empty_like(x)
    launch = lambda: fused_bias_ln[(B, )](x, bias, gamma, beta, y, N=N, eps=eps)  # noqa: E731
    launch()
    expected = torch.nn.functional.layer_norm(x + bias, (N, ), gamma, beta, eps)
    difference = (y - expected).abs().max().item()
    print("max diff", difference)
    assert difference < 1e-4
    wait()
    begin = time.perf_counter()
    for _ in range(100):
        launch()
    wait()
    print(f"Triton fused: {10 * (time.perf_counter() - begin):.3f} ms")


if __name__ == "__main__":
    run_once(*map(int, sys.argv[1:3]))
