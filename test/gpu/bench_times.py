#!/usr/bin/env python3
"""Times of `nereid bench` against triton.testing.do_bench and ncu, for ten kernels from 5 us to 5 ms.

    test/gpu/bench_times.py --build build                # table; exits with 1 where a time is off by more than 3 %
    test/gpu/bench_times.py --build build --no-ncu

do_bench times the same launch, compiled by Nereid, through lib/libNereidBridge.so, on tensors of PyTorch, with caches as cold.
ncu's gpu__time_duration has no events around it: the time between two events with nothing between them, measured here, is added to
it. Exits with 77 without a GPU, PyTorch or Triton; without ncu its column is empty.
"""

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"


@dataclass
class Case:
    """A launch: `arrays` are zeros, by parameter: (dtype, shape)."""

    name: str
    file: str
    kernel: str
    grid: tuple
    arrays: dict
    values: dict
    path: Path = field(init=False)

    def __post_init__(self):
        self.path = KERNELS / self.file / f"{self.file}.py"

    def words(self):
        """As `nereid bench` and `nereid run` take it."""
        arrays = [f"{name}=zeros:{dtype}[{','.join(map(str, shape))}]" for name, (dtype, shape) in self.arrays.items()]
        values = [f"{name}={'none' if value is None else value}" for name, value in self.values.items()]
        return [f"{self.path}:{self.kernel}", *arrays, *values, "--grid", ",".join(map(str, self.grid))]


def add(n):
    return Case(f"vector add {n}", "vector_add", "add_kernel", (-(-n // 1024),),
                {name: ("fp32", (n,)) for name in ("x_ptr", "y_ptr", "z_ptr")}, dict(n=n, BLOCK=1024))


def softmax(rows, columns, warps):
    return Case(f"softmax {rows}x{columns}", "softmax", "softmax_kernel", (rows,),
                {name: ("fp32", (rows, columns)) for name in ("y_ptr", "x_ptr")},
                dict(y_stride=columns, x_stride=columns, N=columns, num_warps=warps))


def layer_norm(rows, columns, warps):
    arrays = {"y_ptr": (rows, columns), "x_ptr": (rows, columns), "w_ptr": (columns,), "b_ptr": (columns,)}
    return Case(f"layer norm {rows}x{columns}", "layer_norm", "layer_norm_kernel", (rows,),
                {name: ("fp32", shape) for name, shape in arrays.items()},
                dict(mean_ptr=None, rstd_ptr=None, y_stride=columns, x_stride=columns, eps=1e-5, N=columns, num_warps=warps))


def matmul(n):
    strides = {f"stride_{name}": size for name, size in (("am", n), ("ak", 1), ("bk", n), ("bn", 1), ("cm", n), ("cn", 1))}
    return Case(f"matmul {n}", "matmul", "matmul_kernel", (n // 128, n // 128),
                {"a_ptr": ("bf16", (n, n)), "b_ptr": ("bf16", (n, n)), "c_ptr": ("fp32", (n, n))},
                dict(M=n, N=n, K=n, **strides, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8))


CASES = [add(1 << 18), softmax(4096, 1024, 4), add(1 << 22), softmax(4096, 4096, 8), layer_norm(4096, 8192, 16), matmul(2048),
         add(1 << 26), matmul(4096), layer_norm(16384, 32768, 16), softmax(65536, 32768, 16)]  # the last one: offsets of 31 bits


def bench_us(nereid, case):
    command = [nereid, "bench", *case.words(), "--device", "cuda:0", "--times-only", "--seconds", "0.3", "--json", "-"]
    shown = subprocess.run(command, capture_output=True, text=True)
    if shown.returncode:
        sys.exit(f"{case.name}: {shown.stderr}")
    row = json.loads(shown.stdout)["rows"][0]
    return row["time [ms]"] * 1e3, row.get("spread [%]") or 0


def do_bench_us(library, bridge, case):
    import torch
    from triton.testing import do_bench
    types = {"fp32": torch.float32, "bf16": torch.bfloat16}
    tensors = {name: torch.zeros(shape, dtype=types[dtype], device="cuda") for name, (dtype, shape) in case.arrays.items()}
    arguments = {name: bridge.Tensor(t.data_ptr(), case.arrays[name][0], tuple(t.shape), tuple(t.stride()), on_device=True)
                 for name, t in tensors.items()}
    stream = torch.cuda.Stream()
    launch = library.prepare(case.path, case.kernel, case.grid, {**arguments, **case.values}, "cuda:0")
    launch.use_stream(stream.cuda_stream)
    with torch.cuda.stream(stream):
        us = do_bench(launch.run, warmup=25, rep=200, return_mode="median") * 1e3
    del tensors
    torch.cuda.empty_cache()
    return us


def events_us():
    """Two events with nothing between them, after work that keeps the GPU busy meanwhile."""
    import torch
    buffer = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    times = []
    for _ in range(50):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        buffer.zero_()
        begin.record()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def counted_us(nereid, ncu, case, launches=7):
    command = [ncu, "--metrics", "gpu__time_duration.sum", "--cache-control", "all", "--clock-control", "none", "--csv",
               "--kernel-name", f"regex:{case.kernel}", nereid, "run", *case.words(), "--device", "cuda:0", "--repeat", str(launches)]
    shown = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in shown.stdout.splitlines() if line.startswith('"')]
    factors = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}
    times = [float(row["Metric Value"].replace(",", "")) * factors[row["Metric Unit"]] for row in csv.DictReader(lines)]
    if not times:
        print(f"{case.name}: ncu says {(shown.stderr or shown.stdout)[-300:]!r}", file=sys.stderr)
    return statistics.median(times) if times else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--bound", type=float, default=0.03)
    parser.add_argument("--no-ncu", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the launches, and run nothing")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case.name]
    if options.list:
        for case in cases:
            print("nereid bench", " ".join(case.words()))
        return
    try:
        import torch
        import triton.testing  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        sys.exit(77)
    sys.path.insert(0, str(ROOT / "test" / "harness"))
    import bridge
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    nereid, library = options.build / "bin" / "nereid", bridge.Bridge(options.build)
    ncu = None if options.no_ncu else shutil.which("ncu")
    events = events_us()
    print(f"{torch.cuda.get_device_name()}; two events: {events:.2f} us\n")
    print("| kernel | nereid bench us | spread | do_bench us | off | ncu us | ncu + events us | off |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    worst = 0
    for case in cases:
        ours, spread = bench_us(nereid, case)
        theirs = do_bench_us(library, bridge, case)
        alone = counted_us(nereid, ncu, case) if ncu else None
        offs = [ours / theirs - 1] + ([ours / (alone + events) - 1] if alone else [])
        worst = max([worst, *map(abs, offs)])
        hardware = f"{alone:.2f} | {alone + events:.2f} | {offs[1]:+.1%}" if alone else "- | - | -"
        print(f"| {case.name} | {ours:.2f} | {spread:.1f} % | {theirs:.2f} | {offs[0]:+.1%} | {hardware} |", flush=True)
    print(f"\nthe furthest is off by {worst:.1%}, {options.bound:.0%} allowed")
    sys.exit(worst > options.bound)


if __name__ == "__main__":
    main()
