#!/usr/bin/env python3
"""How long a first launch from Python takes on a GPU, of Nereid and of upstream Triton: from a kernel's text to loaded code. Each
kernel is new to every cache (a name of its own, folders of their own), in a process that has compiled something else before. Each compiler
runs in a process of its own; the table has the median of some names, and the geometric mean of the ratios.

    python3 bench/python_compile.py [--package build/python] [--names 5]

Needs a GPU and PyTorch; without upstream Triton its column is empty.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent


def programs(torch):
    single = torch.zeros(1 << 16, device="cuda")
    half = single.half()
    numbers = torch.zeros(1 << 16, device="cuda", dtype=torch.int32)
    n = 1 << 16
    return [
        ("add", (single, single, single, n), dict(BLOCK=1024)),
        ("gelu", (half, half, n), dict(BLOCK=1024)),
        ("dropout", (single, single, n, 0.5, 12345), dict(BLOCK=1024)),
        ("softmax", (single, single, 4096, 4000), dict(BLOCK=4096, num_warps=8)),
        ("rms_norm", (half, half, single, 4096, 4000, 1e-5), dict(BLOCK=4096, num_warps=8)),
        ("layer_norm", (half, half, single, single, single, single, 4096, 4000, 1e-5), dict(BLOCK=1024)),
        ("layer_norm_backward", (half, half, single, single, half, single, single, single, 4096, 4000), dict(BLOCK=4096, num_warps=8)),
        ("cross_entropy", (single, half, half, numbers, 50304, 50257), dict(BLOCK=4096, num_warps=8)),
        ("cumsum", (single, single, 512, 500), dict(ROWS=4, BLOCK=512)),
        ("matmul", (half, half, half, 256, 256, 256, 256, 1, 256, 1, 256, 1), dict(BM=128, BN=256, BK=64, GROUP=8, num_warps=8, num_stages=3)),
        ("attention", (half, half, half, half, single, 8192, 64, 128, 0.125), dict(BM=128, BN=64, D=64, num_warps=4, num_stages=3)),
    ]


def compile_cold(folder, number, name, arguments, options):
    """Milliseconds until a kernel that was never compiled before is loaded."""
    new = f"{name}_{os.getpid()}_{number}"
    path = pathlib.Path(folder) / f"{new}.py"
    path.write_text((ROOT / "python_compile_kernels.py").read_text().replace(f"def {name}(", f"def {new}("))
    spec = importlib.util.spec_from_file_location(new, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, new)
    start = time.perf_counter()
    compiled = kernel.warmup(*arguments, grid=(1, ), **options)
    if not hasattr(compiled, "_init_handles"):
        compiled = compiled.result()
    compiled._init_handles()  # loads it, as a first launch would
    return (time.perf_counter() - start) * 1e3


def measure(names):
    import torch
    import triton  # noqa: F401
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        listed = programs(torch)
        compile_cold(folder, 0, *listed[0])  # libraries and tools are read once
        for name, *program in listed:
            found[name] = statistics.median(compile_cold(folder, 1 + i, name, *program) for i in range(names))
    print(json.dumps(found))


def run(names, package):
    """One compiler's times in a process of its own; an error's last line instead."""
    code = "import sys; sys.path[:0] = [{0!r}]; {1}import python_compile; python_compile.measure({2})"
    enable = f"sys.path[:0] = [{str(package)!r}]; import nereid; nereid.enable(); " if package else ""
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: os.path.join(folder, name) for name in ("TRITON_CACHE_DIR", "NEREID_CACHE_DIR", "CUDA_CACHE_PATH")}
        done = subprocess.run([sys.executable, "-c", code.format(str(ROOT), enable, names)], capture_output=True, text=True, env={**os.environ, **caches})
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT.parent / "build/python", help="the folder that holds the package nereid")
    parser.add_argument("--names", type=int, default=5, help="how often each kernel is compiled")
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        sys.exit(f"skipped: {error}")
    if not torch.cuda.is_available():
        sys.exit("skipped: no GPU that PyTorch can use")
    ours = run(options.names, options.package.resolve())
    if isinstance(ours, str):
        sys.exit(f"nereid: {ours}")
    theirs = run(options.names, None)
    if isinstance(theirs, str):
        print(f"upstream: {theirs}")
        theirs = {}
    print(f"{'cold, ms':22} {'nereid':>8} {'upstream':>9} {'ratio':>6}")
    for name, time_ in ours.items():
        other = theirs.get(name)
        print(f"{name:22} {time_:8.1f}" + (f" {other:9.1f} {other / time_:6.1f}" if other else ""))
    ratios = [theirs[name] / ours[name] for name in ours if name in theirs]
    if ratios:
        print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
