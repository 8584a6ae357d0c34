#!/usr/bin/env python3
"""Nereid against PyTorch (eager and torch.compile) and upstream Triton on one GPU.

    bench/compare_gpu.py --build build                    # all cases
    bench/compare_gpu.py --only softmax --no-compile --json result.json

Needs a GPU, PyTorch and Triton, and lib/libNereidBridge.so of the build. Upstream
Triton compiles the same kernel files (kernels/<op>/<op>.py), with the same numbers
of warps to choose from; where a size is no power of two it has no such kernel.

All contenders of a case run in one process, on the same tensors and stream. A run
is timed by two events around it; before it a buffer larger than the second-level
cache is overwritten, so that inputs come from memory; rounds take the contenders
in random order, and the median over the rounds counts. What a run adds to a kernel's
own time (about 2 us) is the same for all. Results are checked against float64.
"""

import argparse
import importlib.util
import json
import math
import random
import statistics
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "harness")]
import bridge  # noqa: E402

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
WARPS = (1, 2, 4, 8, 16)


def random_tensor(*shape, dtype):
    return torch.randn(*shape, device="cuda").to(DTYPES[dtype])


def borrowed(value):
    if not isinstance(value, torch.Tensor):
        return value
    return bridge.Tensor(value.data_ptr(), NAMES[value.dtype], tuple(value.shape), tuple(value.stride()), on_device=True)


def triton_kernel(op, name):
    path = ROOT / "kernels" / op / f"{op}.py"
    spec = importlib.util.spec_from_file_location(op, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


class Case:
    """`arguments` names every parameter; contenders write the tensors `outputs`
    of it, or return what they compute."""

    def __init__(self, name, dtype, op, kernel, grid, arguments, outputs, reference, eager, traffic=0, operations=0,
                 warps=WARPS, bound=0.02):
        self.name, self.dtype, self.op, self.kernel, self.grid = name, dtype, op, kernel, grid
        self.arguments, self.outputs, self.reference, self.eager = arguments, outputs, reference, eager
        self.traffic, self.operations, self.warps, self.bound = traffic, operations, warps, bound


def softmax_case(rows, columns, dtype):
    x = random_tensor(rows, columns, dtype=dtype)
    y = torch.empty_like(x)
    return Case(f"softmax {rows}x{columns}", dtype, "softmax", "softmax_kernel", (rows,),
                dict(y_ptr=y, x_ptr=x, y_stride=columns, x_stride=columns, N=columns), [y],
                lambda: [torch.softmax(x.double(), -1)], lambda: torch.softmax(x, -1), traffic=2 * x.nbytes)


def layer_norm_case(rows, columns, dtype):
    x, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,)))
    y = torch.empty_like(x)
    mean, rstd = (torch.empty(rows, device="cuda") for _ in range(2))
    return Case(f"layer norm {rows}x{columns}", dtype, "layer_norm", "layer_norm_kernel", (rows,),
                dict(y_ptr=y, x_ptr=x, w_ptr=w, b_ptr=b, mean_ptr=mean, rstd_ptr=rstd, y_stride=columns,
                     x_stride=columns, eps=1e-5, N=columns), [y],
                lambda: [F.layer_norm(x.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x, (columns,), w, b, 1e-5), traffic=2 * x.nbytes)


def bias_layer_norm_case(rows, columns, dtype):
    x, bias, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,), (columns,)))
    y = torch.empty_like(x)
    return Case(f"bias + layer norm {rows}x{columns}", dtype, "layer_norm", "fused_bias_layer_norm_kernel", (rows,),
                dict(y_ptr=y, x_ptr=x, bias_ptr=bias, w_ptr=w, b_ptr=b, y_stride=columns, x_stride=columns, eps=1e-5,
                     N=columns), [y],
                lambda: [F.layer_norm(x.double() + bias.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x + bias, (columns,), w, b, 1e-5), traffic=2 * x.nbytes)


def add_case(n, dtype):
    x, y = random_tensor(n, dtype=dtype), random_tensor(n, dtype=dtype)
    z = torch.empty_like(x)
    return Case(f"vector add {n >> 20} Mi", dtype, "vector_add", "add_kernel", (math.ceil(n / 1024),),
                dict(x_ptr=x, y_ptr=y, z_ptr=z, n=n, BLOCK=1024), [z], lambda: [x.double() + y.double()],
                lambda: x + y, traffic=3 * x.nbytes, warps=(4,))


def matmul_case(size, dtype, blocks):
    a, b = random_tensor(size, size, dtype=dtype), random_tensor(size, size, dtype=dtype)
    c = torch.empty(size, size, device="cuda")
    m, n, k = blocks
    return Case(f"matmul {size} {m}x{n}x{k}", dtype, "matmul", "matmul_kernel", (size // m, size // n),
                dict(a_ptr=a, b_ptr=b, c_ptr=c, M=size, N=size, K=size, stride_am=size, stride_ak=1, stride_bk=size,
                     stride_bn=1, stride_cm=size, stride_cn=1, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k), [c],
                lambda: [a.double() @ b.double()], lambda: a @ b, operations=2 * size**3, warps=(4, 8), bound=0.01)


def all_cases():
    for dtype in ("fp32", "bf16"):
        for rows, columns in ((4096, 1024), (4096, 4096), (8192, 8192), (4096, 32768)):
            yield lambda r=rows, c=columns, d=dtype: softmax_case(r, c, d)
    for columns in (256, 512, 1024, 2048, 4096, 8192, 16384, 32768):
        yield lambda c=columns: layer_norm_case(4096, c, "bf16")
    for rows, columns, dtype in ((4096, 1024, "fp32"), (4096, 4096, "fp32"), (4096, 8192, "fp32"), (8192, 512, "fp32"),
                                 (12288, 768, "fp32"), (12288, 768, "bf16"), (65536, 1024, "bf16")):
        yield lambda r=rows, c=columns, d=dtype: layer_norm_case(r, c, d)
    for rows, columns in ((512, 8192), (65536, 1024)):
        yield lambda r=rows, c=columns: bias_layer_norm_case(r, c, "bf16")
    for dtype in ("fp32", "bf16"):
        yield lambda d=dtype: add_case(1 << 26, d)
    yield lambda: matmul_case(4096, "fp16", (128, 128, 32))


class Timer:
    def __init__(self, seconds):
        self.seconds = seconds
        self.stream = torch.cuda.Stream()
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(4 * cache, dtype=torch.int8, device="cuda")

    def rounds(self, contenders):
        """Microseconds of each, round by round."""
        names = list(contenders)
        with torch.cuda.stream(self.stream):
            events, spent = [], 0.0
            for _ in range(3):
                for name in names:
                    contenders[name]()
            self.stream.synchronize()
            while len(events) < 20 or (spent < self.seconds and len(events) < 400):
                random.shuffle(names)
                row = {}
                for name in names:
                    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    self.flush.zero_()
                    start.record()
                    contenders[name]()
                    end.record()
                    row[name] = (start, end)
                events.append(row)
                if len(events) % 10 == 0:
                    self.stream.synchronize()
                    spent = sum(s.elapsed_time(e) for r in events for s, e in r.values()) / 1e3
            self.stream.synchronize()
        return {name: [r[name][0].elapsed_time(r[name][1]) * 1e3 for r in events] for name in contenders}


def differences(case, results):
    found = []
    for ours, exact in zip(results, case.reference()):
        found.append(((ours.double() - exact).abs().max() / exact.abs().max()).item())
    return max(found)


def nereid_runs(library, case, timer):
    arguments = {name: borrowed(value) for name, value in case.arguments.items()}
    runs = {}
    for warps in case.warps:
        launch = library.prepare(ROOT / "kernels" / case.op / f"{case.op}.py", case.kernel, case.grid,
                                 {**arguments, "num_warps": warps}, "cuda:0")
        launch.use_stream(timer.stream.cuda_stream)
        runs[f"nereid {warps}"] = launch.run
    return runs


def triton_runs(case):
    kernel = triton_kernel(case.op, case.kernel)
    return {f"triton {warps}": lambda w=warps: kernel[case.grid](**case.arguments, num_warps=w) for warps in case.warps}


def poison(case):
    for output in case.outputs:
        output.fill_(float("nan"))


def measure(case, library, timer, options):
    contenders, errors = {}, {}
    for name, run in nereid_runs(library, case, timer).items():
        poison(case)
        torch.cuda.synchronize()
        run()
        torch.cuda.synchronize()
        errors[name] = differences(case, case.outputs)
        assert errors[name] <= case.bound, f"{case.name} {name}: off by {errors[name]:.2e}"
        contenders[name] = run
    try:
        for name, run in triton_runs(case).items():
            run()
            contenders[name] = run
    except Exception as error:  # sizes that it has no kernel for
        print(f"  no Triton: {str(error).splitlines()[-1][:100]}", flush=True)
    contenders["eager"] = case.eager
    if not options.no_compile:
        torch._dynamo.reset()
        compiled = torch.compile(case.eager, dynamic=False)
        compiled()
        contenders["compiled"] = compiled
    times = timer.rounds(contenders)
    medians = {name: statistics.median(t) for name, t in times.items()}

    def best(prefix):
        of = [n for n in medians if n.startswith(prefix)]
        return min(of, key=medians.get) if of else None

    chosen = {who: best(who) for who in ("nereid", "triton", "eager", "compiled")}
    us = {who: medians[name] for who, name in chosen.items() if name}
    peer = min(us[who] for who in us if who != "nereid")
    low, high = statistics.quantiles(times[chosen["nereid"]], n=4)[::2]
    return dict(case=case.name, dtype=case.dtype, us=us, chosen={k: v for k, v in chosen.items() if v},
                spread=(high - low) / us["nereid"], difference=errors[chosen["nereid"]], ratio=peer / us["nereid"],
                gb_per_s=case.traffic / us["nereid"] / 1e3 if case.traffic else None,
                tflop_per_s=case.operations / us["nereid"] / 1e6 if case.operations else None)


def copy_bandwidth(timer):
    x = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    y = torch.empty_like(x)
    times = timer.rounds({"copy": lambda: y.copy_(x)})["copy"]
    return 2 * x.nbytes / statistics.median(times) / 1e3


def line(r, copy):
    def us(who):
        return f"{r['us'][who]:.1f}" if who in r["us"] else ""

    speed = f"{r['gb_per_s']:.0f} GB/s" if r["gb_per_s"] else f"{r['tflop_per_s']:.0f} TFLOP/s"
    share = f"{r['gb_per_s'] / copy:.2f}" if r["gb_per_s"] else ""
    return (f"| {r['case']} | {r['dtype']} | {us('nereid')} | {us('triton')} | {us('compiled')} | {us('eager')} | {speed} | "
            f"{share} | {r['ratio']:.2f} | {r['chosen']['nereid'].split()[1]} | {r['spread']:.1%} | {r['difference']:.1e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--seconds", type=float, default=0.2, help="of GPU time a case")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: it takes seconds a case")
    parser.add_argument("--json", help="write results here")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("compare_gpu.py: PyTorch sees no GPU")
    library, timer = bridge.Bridge(options.build), Timer(options.seconds)
    copy = copy_bandwidth(timer)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; copy {copy:.0f} GB/s; times in us\n")
    print("| case | type | Nereid | Triton | compiled | eager | Nereid's rate | x copy | x best peer | warps | spread | max diff |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    results = []
    for make in all_cases():
        case = make()
        if options.only not in case.name:
            continue
        results.append(measure(case, library, timer, options))
        print(line(results[-1], copy), flush=True)
        del case
        torch.cuda.empty_cache()
    if results:
        mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
        print(f"\n{len(results)} cases, geometric mean {mean:.2f} of the best peer")
    if options.json:
        Path(options.json).write_text(json.dumps(dict(device=torch.cuda.get_device_name(), copy=copy, results=results),
                                                 indent=1))


if __name__ == "__main__":
    main()
