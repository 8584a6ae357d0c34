"""The bytes that a chain of element-wise operations moves, one by one and fused: python -m nereid memory_analysis.py [N]"""
import sys

import torch
import triton
import triton.language as tl
from triton.testing import do_bench

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def fused_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.exp(tl.sigmoid(x * y + x) * 2), mask=mask)


def main(n=1 << 20):
    torch.manual_seed(0)
    x, y, out = (torch.randn(n, device=DEVICE) for _ in range(3))
    fused = lambda: fused_kernel[(triton.cdiv(n, 1024), )](x, y, out, n, BLOCK_SIZE=1024)  # noqa: E731
    separate = lambda: torch.exp(torch.sigmoid(x * y + x) * 2)  # noqa: E731
    fused()
    torch.testing.assert_close(out, separate())
    # Arrays that go to or from memory: x * y, + x, sigmoid, * 2, exp; and x, y, out.
    for name, call, arrays in (("5 operations", separate, 3 + 3 + 2 + 2 + 2), ("1 kernel", fused, 3)):
        ms = do_bench(call, warmup=5, rep=20)
        print(f"{name:13} {arrays * 4 * n / 1e6:8.1f} MB {ms:8.3f} ms {arrays * 4 * n / ms / 1e6:8.1f} GB/s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
