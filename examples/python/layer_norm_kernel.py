"""A layer norm beside torch's: correctness, times, traces for chrome://tracing, and a table of bandwidths, with a plot where there is matplotlib:
python -m nereid layer_norm_kernel.py [FOLDER [ROWS [LARGEST]]]"""
import sys
import time

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, stride, n, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w, b = tl.load(w_ptr + cols, mask=mask), tl.load(b_ptr + cols, mask=mask)
    tl.store(y_ptr + row * stride + cols, centred * rstd * w + b, mask=mask)


def triton_layerNorm_kernel(X, weight, bias, eps=1e-5):
    rows, n = X.shape
    Y = torch.empty_like(X)
    block = triton.next_power_of_2(n)
    layer_norm_kernel[(rows, )](X, Y, weight, bias, X.stride(0), n, eps, BLOCK_SIZE=block, num_warps=min(max(block // 256, 1), 8))
    return Y


def arrays(rows, n):
    torch.manual_seed(0)
    return torch.randn(rows, n, device=DEVICE), torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)


def torchs(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[1], ), w, b)


def trace(file, function, *args):
    kinds = [torch.profiler.ProfilerActivity.CPU] + [torch.profiler.ProfilerActivity.CUDA] * (DEVICE == "cuda")
    with torch.profiler.profile(activities=kinds) as profile:
        for _ in range(10):
            function(*args)
    profile.export_chrome_trace(file)


def main(folder=".", rows=4096, largest=32768):
    x, w, b = arrays(64, 512)
    torch.testing.assert_close(triton_layerNorm_kernel(x, w, b), torchs(x, w, b), atol=1e-5, rtol=1e-4)
    print("right")
    for name, function in (("Triton", triton_layerNorm_kernel), ("PyTorch", torchs)):
        begin = time.perf_counter()
        for _ in range(100):
            function(x, w, b)
        print(f"{name}: {10 * (time.perf_counter() - begin):.4f} ms")
        trace(f"{folder}/{name.lower()}_profile.json", function, x, w, b)

    sizes = [256 << i for i in range(8) if 256 << i <= largest]

    @triton.testing.perf_report(
        triton.testing.Benchmark(x_names=["N"], x_vals=sizes, line_arg="provider", line_vals=["triton", "torch"], line_names=["Triton", "PyTorch"], ylabel="GB/s",
                                 plot_name="layer-norm-performance", args={"rows": rows}))
    def benchmark(N, provider, rows):
        x, w, b = arrays(rows, N)
        function = triton_layerNorm_kernel if provider == "triton" else torchs
        return 2 * x.numel() * x.element_size() / triton.testing.do_bench(lambda: function(x, w, b), warmup=2, rep=10) / 1e6

    benchmark.run(print_data=True, save_path=folder)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
