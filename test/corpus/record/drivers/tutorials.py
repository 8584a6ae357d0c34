"""Triton's tutorials, and their functions once more on smaller inputs. Arguments: the name of one."""
from pathlib import Path
import sys
from unittest import mock

import torch

from loading import attempt, finish, load

DEVICE = "cuda"


def random(*shape, dtype=torch.float32):
    return torch.randn(shape, device=DEVICE, dtype=torch.float32).to(dtype)


def vector_add(names):
    for size in (1000, 1024, 4097):
        for dtype in (torch.float32, torch.float16, torch.int32):
            attempt("add", names["add"], random(size).to(dtype), random(size).to(dtype))


def softmax(names):
    kernel = names["softmax_kernel"]
    for dtype in (torch.float32, torch.float16):
        for rows, columns, block in ((33, 100, 128), (64, 256, 256), (5, 1000, 1024)):
            x = random(rows, columns, dtype=dtype)
            y = torch.empty_like(x)
            for grid, warps in (((4,), 4), ((rows,), 8)):
                attempt("softmax", lambda: kernel[grid](y, x, x.stride(0), y.stride(0), rows, columns, BLOCK_SIZE=block, num_warps=warps))


def matmul(names):
    for m, n, k in ((64, 96, 80), (128, 128, 64), (200, 72, 136)):
        for activation in ("", "leaky_relu"):
            attempt("matmul", names["matmul"], random(m, k, dtype=torch.float16), random(k, n, dtype=torch.float16), activation)
    attempt("fp8", names["matmul"], random(64, 64).to(torch.float8_e5m2), random(64, 64).to(torch.float8_e5m2).T)


def matmul_descriptor(names):
    for dtype, sum_type in ((torch.float16, torch.float32), (torch.bfloat16, torch.float32), (torch.float16, torch.float16)):
        attempt("matmul", names["matmul"], random(128, 64, dtype=dtype), random(64, 128, dtype=dtype), sum_type, sum_type)
        attempt("batched", names["matmul"], random(2, 128, 64, dtype=dtype), random(2, 64, 128, dtype=dtype), sum_type, sum_type)
    words = torch.randint(-127, 127, (128, 64), device=DEVICE).to(torch.int8)
    attempt("int8", names["matmul"], words, words.T.contiguous(), torch.int32, torch.int32)


def dropout(names):
    for dtype in (torch.float32, torch.float16):
        x = random(1000, dtype=dtype)
        attempt("dropout", names["dropout"], x, (torch.rand(1000, device=DEVICE) > 0.5).to(torch.int32), 0.5)
        for seed in (123, 512):
            attempt("seeded", names["seeded_dropout"], x, 0.3, seed)


def layer_norm(names):
    for m, n in ((17, 256), (64, 1000)):
        for dtype in (torch.float16, torch.float32, torch.bfloat16):
            x = random(m, n, dtype=dtype).requires_grad_()
            weight, bias = (random(n, dtype=dtype).requires_grad_() for _ in range(2))
            y = attempt("forward", names["LayerNorm"].apply, x, (n,), weight, bias, 1e-5)
            if y is not None:
                attempt("backward", y.backward, random(m, n, dtype=dtype))


def attention(names):
    for dim in (64, 128):
        for causal in (False, True):
            for length in (128, 256):
                q, k, v = (random(1, 2, length, dim, dtype=torch.float16).requires_grad_() for _ in range(3))
                out = attempt("forward", names["attention"], q, k, v, causal, 0.5, False)
                if out is not None:
                    attempt("backward", out.backward, torch.randn_like(out))
    q, k, v = (random(1, 2, 128, 64).to(torch.float8_e5m2) for _ in range(3))
    attempt("fp8", names["attention"], q, k, v, False, 0.5, False)


def extern(names):
    kernel = names["asin_kernel"]
    x = torch.rand(1000, device=DEVICE)
    for size in (1000, 256):
        out = torch.empty_like(x)
        attempt("asin", lambda: kernel[(-(-size // 256),)](x, out, size, BLOCK_SIZE=256))
    x64 = x.double()
    attempt("asin64", lambda: kernel[(4,)](x64, torch.empty_like(x64), 1000, BLOCK_SIZE=256))


def grouped(names):
    sizes = [(128, 256, 64), (256, 128, 128), (128, 128, 192)]  # its kernels have no masks: whole blocks only
    a = [random(m, k, dtype=torch.float16) for m, _, k in sizes]
    b = [random(k, n, dtype=torch.float16) for _, n, k in sizes]
    attempt("grouped", names["group_gemm_fn"], a, b)
    if "group_gemm_tma_fn" in names:
        attempt("grouped tma", names["group_gemm_tma_fn"], a, [x.T.contiguous() for x in b])


def persistent(names):
    for dtype in (torch.float16, torch.float8_e4m3fn):
        for size in (128, 256):
            a, b = random(size, 64, dtype=dtype), random(size, 64, dtype=dtype)
            for name in ("matmul", "matmul_persistent"):
                attempt(name, names[name], a, b.T)
            for name in ("matmul_tma", "matmul_tma_persistent", "matmul_descriptor_persistent"):
                attempt(name, names[name], a, b, False)


MORE = {"01": vector_add, "02": softmax, "03": matmul, "03a": matmul_descriptor, "04": dropout, "05": layer_norm,
        "06": attention, "07": extern, "08": grouped, "09": persistent}


def main():
    name = sys.argv[1]
    torch.xpu = mock.MagicMock(wraps=torch.cuda)  # this snapshot was made for another vendor's device
    torch.xpu.get_device_properties.side_effect = lambda *_: torch.cuda.get_device_properties(0)
    torch.xpu.get_device_name.side_effect = lambda *_: torch.cuda.get_device_name(0)
    path = Path.cwd() / "python/tutorials" / f"{name}.py"
    sys.argv = [str(path)]
    if name.startswith("09"):
        sys.modules["triton.profiler"] = mock.MagicMock()
    names = load(path, "tutorial" if name.startswith(("06", "09")) else "__main__",
                 is_xpu_cri=lambda: False)
    MORE[name.split("-")[0]](names)
    finish()


main()
