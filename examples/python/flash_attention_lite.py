"""Attention block by block, with a running maximum and sum, so that no matrix of scores is ever in memory:
python -m nereid flash_attention_lite.py [LENGTH]"""
import sys

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.autotune(configs=[triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}, num_warps=4), triton.Config({"BLOCK_M": 64, "BLOCK_N": 32}, num_warps=4)], key=["length"])
@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, length, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    first = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1) * length * D
    rows, d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    m = tl.full((BLOCK_M, ), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M, ), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    last = tl.minimum(first + BLOCK_M, length) if CAUSAL else length
    for start in range(0, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < length, other=0.0)
        v = tl.load(v_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = cols[None, :] < length
        if CAUSAL:
            seen = seen & (cols[None, :] <= rows[:, None])
        s = tl.where(seen, s, -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(m - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = new
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < length)


def attention(q, k, v, causal):
    heads, length, d = q.shape
    out = torch.empty_like(q)
    attention_kernel[lambda meta: (triton.cdiv(length, meta["BLOCK_M"]), heads)](q, k, v, out, length, d**-0.5, D=d, CAUSAL=causal)
    return out


def main(length=300):
    torch.manual_seed(0)
    q, k, v = (torch.randn(4, length, 32, device=DEVICE) for _ in range(3))
    for causal in (False, True):
        expected = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
        difference = (attention(q, k, v, causal) - expected).abs().max().item()
        print(f"causal={causal}: max diff {difference:.2e}, {4 * length * length * 4 / 1e6:.1f} MB of scores never written")
        assert difference < 1e-4


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
