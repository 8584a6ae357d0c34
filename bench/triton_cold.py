#!/usr/bin/env python3
"""Upstream Triton's cold compilation of the kernels that NereidGpuCost compiles, to put beside its table.

    bench/triton_cold.py

Needs a GPU, PyTorch and Triton. As there: from source text to a loaded kernel, in a process that has compiled and run
something before, each time a kernel of a new name, so that no cache knows it; the median of seven. Layer norm has 1,024
columns: Triton takes no block of 768.
"""

import importlib.util
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def programs(torch):
    x, h, row = (torch.zeros(1 << 16, device="cuda", dtype=d) for d in (torch.float32, torch.float16, torch.float32))
    return [
        ("vector add", "vector_add/vector_add.py", "add_kernel", (x, x, x, 1 << 16), dict(BLOCK=1024)),
        ("layer norm, 1024 columns", "layer_norm/layer_norm.py", "layer_norm_kernel",
         (h, h, row, row, row, row, 1024, 1024, 1e-5), dict(N=1024)),
        ("matrix product, 128x256x64, 8 warps", "matmul/matmul.py", "matmul_kernel",
         (h, h, h, 256, 256, 256, 256, 1, 256, 1, 256, 1), dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, num_warps=8))]


def compile_cold(folder, number, file, name, arguments, options):
    """Milliseconds until a kernel that was never compiled before is loaded."""
    new = f"{name}_{os.getpid()}_{number}"
    path = Path(folder) / f"{new}.py"
    path.write_text((ROOT / "kernels" / file).read_text().replace(f"def {name}(", f"def {new}("))
    start = time.perf_counter()
    spec = importlib.util.spec_from_file_location(new, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, new).warmup(*arguments, grid=(1,), **options)
    kernel._init_handles()  # loads it, as a first launch would
    return (time.perf_counter() - start) * 1e3


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/cache"
        try:
            import torch
            import triton
        except ImportError as error:
            sys.exit(f"skipped: {error}")
        if not torch.cuda.is_available():
            sys.exit("skipped: no GPU that PyTorch can use")
        listed = programs(torch)
        compile_cold(folder, 0, *listed[0][1:])  # the driver's library, and ptxas, are read once
        print(f"| Triton {triton.__version__}, source to loaded, cold | ms |\n|---|--:|")
        for what, *program in listed:
            times = [compile_cold(folder, number, *program) for number in range(1, 8)]
            print(f"| {what} | {statistics.median(times):.1f} |", flush=True)


if __name__ == "__main__":
    main()
