#!/usr/bin/env python3
"""Nereid against PyTorch (eager and torch.compile) and upstream Triton on one GPU.

    bench/compare_gpu.py --build build                    # all cases
    bench/compare_gpu.py --only softmax --no-compile --json result.json
    bench/compare_gpu.py --only tutorial --tutorials triton/python/tutorials
    bench/compare_gpu.py --set general --no-compile       # kernels of many kinds, bench/general

Needs a GPU, PyTorch and Triton, and lib/libNereidBridge.so of the build. Upstream
Triton compiles the same kernel files (kernels/<op>/<op>.py), with the same numbers
of warps to choose from; where a size is no power of two it has no such kernel.
The seed kernels (test/e2e/kernels) and, with --tutorials, a folder of Triton's
tutorials, theirs too, unchanged, each configuration through both compilers.

All contenders of a case run in one process, on the same tensors and stream. A run
is timed by two events around it; before it a buffer larger than the second-level
cache is overwritten, so that inputs come from memory, and the GPU waits until a
slow launch has come too; rounds take the contenders in random order, and the median
over the rounds counts. Each round takes the next of several sets of tensors: where
they lie is worth 5 % of the shortest cases. The three fastest ways of each side are
timed again in more rounds, and those times are reported. What a run adds to a
kernel's own time (about 2 us) is the same for all. Results are checked against
float64.
"""

import argparse
import ctypes
import itertools
import json
import math
import random
import statistics
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from general_cases import general_cases
from gpu_case import (ROOT, WARPS, Case, Launch, bridge, differences, kernel_file, layer_norm_gradients, on_warps, poison,
                      random_tensor)
import kernel_cases  # noqa: E402  (test/harness, which gpu_case looks in)
from tutorial_cases import seed_cases, tutorial_cases

ROWS = ((1, 2), (1, 4), (2, 2), (4, 4), (4, 8), (4, 16))  # warps, rows a program, where rows are short
# By the elements of a thread, registers to make do with: without a limit ptxas takes more, and blocks wait for a second
# wave, or fewer than cost nothing, and loads wait.
REGISTERS = {12: (40,), 16: (32, 40), 24: (64,), 32: (64,), 64: (80,)}


def ours_alone(launch, **options):
    """The launch with further options that mean nothing to Triton."""
    alone = launch.changed(**options)
    alone.has_triton = False
    return alone


def without_prefetch(variants):
    """Each of the variants as it is, and without asking for later programs' rows. To Triton that is the same."""
    for name, (launch,) in list(variants.items()):
        variants[name + "1s"] = [ours_alone(launch, num_stages=1)]
    return variants


def with_fewer_programs(variants, registers):
    """Each of the variants as it is, and with so many registers that fewer programs share a multiprocessor."""
    for name, (launch,) in list(variants.items()):
        for count in registers:
            variants[f"{name}{count}m"] = [ours_alone(launch, minnreg=count)]
    return variants


def with_fewer_registers(variants, columns):
    """Each of the variants as it is, and in fewer registers."""
    for name, (launch,) in list(variants.items()):
        share = launch.arguments.get("ROWS", 1) * columns / (32 * launch.options["num_warps"])
        for registers in REGISTERS.get(share, ()):
            variants[f"{name}{registers}n"] = [launch.changed(maxnreg=registers)]
    return variants


def row_variants(op, rows, columns, arguments):
    """One row a program, and several where rows are short; at most 128 elements a thread."""
    variants = {f"{w}w": [Launch(kernel_file(op), f"{op}_kernel", (rows,), arguments, num_warps=w)]
                for w in WARPS if columns <= 32 * 128 * w}
    for w, r in ROWS if columns <= 1024 else ():
        variants[f"{w}w{r}r"] = [Launch(kernel_file(op), f"{op}_rows_kernel", (math.ceil(rows / r),),
                                        dict(arguments, M=rows, ROWS=r), num_warps=w)]
    return without_prefetch(with_fewer_registers(variants, columns))


def softmax_case(rows, columns, dtype):
    x = random_tensor(rows, columns, dtype=dtype)
    y = torch.empty_like(x)
    arguments = dict(y_ptr=y, x_ptr=x, y_stride=columns, x_stride=columns, N=columns)
    return Case(f"softmax {rows}x{columns}", dtype, [y],
                lambda: [torch.softmax(x.double(), -1)], lambda: torch.softmax(x, -1), traffic=2 * x.nbytes,
                variants=row_variants("softmax", rows, columns, arguments))


def layer_norm_case(rows, columns, dtype):
    x, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,)))
    y = torch.empty_like(x)
    # torch.compile does not keep mean and rstd either where no backward follows.
    arguments = dict(y_ptr=y, x_ptr=x, w_ptr=w, b_ptr=b, mean_ptr=None, rstd_ptr=None, y_stride=columns,
                     x_stride=columns, eps=1e-5, N=columns)
    return Case(f"layer norm {rows}x{columns}", dtype, [y],
                lambda: [F.layer_norm(x.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x, (columns,), w, b, 1e-5), traffic=2 * x.nbytes,
                variants=row_variants("layer_norm", rows, columns, arguments))


def bias_layer_norm_case(rows, columns, dtype):
    x, bias, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,), (columns,)))
    y = torch.empty_like(x)
    return Case(f"bias + layer norm {rows}x{columns}", dtype, [y],
                lambda: [F.layer_norm(x.double() + bias.double(), (columns,), w.double(), b.double(), 1e-5)],
                lambda: F.layer_norm(x + bias, (columns,), w, b, 1e-5), traffic=2 * x.nbytes,
                variants=with_fewer_registers(on_warps("layer_norm", "fused_bias_layer_norm_kernel", (rows,), dict(
                    y_ptr=y, x_ptr=x, bias_ptr=bias, w_ptr=w, b_ptr=b, y_stride=columns, x_stride=columns, eps=1e-5,
                    N=columns)), columns))


def layer_norm_backward_case(rows, columns, dtype):
    x, dy, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (rows, columns), (columns,), (columns,)))
    mean, rstd, reference, eager = layer_norm_gradients(x, w, b, dy)
    dx, sums = torch.empty_like(x), torch.empty(2, columns, device="cuda", dtype=x.dtype)
    processors = torch.cuda.get_device_properties(0).multi_processor_count

    def variant(warps, per_processor, ahead):
        programs = processors * per_processor
        parts = torch.empty(2, programs, columns, device="cuda")
        return [Launch(kernel_file("layer_norm"), "layer_norm_backward_kernel", (programs,),
                       dict(dx_ptr=dx, dw_parts_ptr=parts[0], db_parts_ptr=parts[1], dy_ptr=dy, x_ptr=x, w_ptr=w,
                            mean_ptr=mean, rstd_ptr=rstd, dx_stride=columns, dy_stride=columns, x_stride=columns,
                            M=rows, N=columns, AHEAD=ahead), num_warps=warps),
                Launch(kernel_file("layer_norm"), "column_sums_kernel", (math.ceil(columns / 16), 2),
                       dict(y_ptr=sums[0], second_y_ptr=sums[1], x_ptr=parts[0], second_x_ptr=parts[1], M=programs, N=columns,
                            BLOCK_M=min(512, 128 * per_processor), BLOCK_N=16), num_warps=8)]

    small = columns <= 2048
    ways = [(2, 8, 1), (2, 8, 2), (4, 4, 1), (4, 4, 3)] if small else [(8, 1, 1), (8, 1, 3), (16, 1, 1), (16, 1, 3)]
    return Case(f"layer norm backward {rows}x{columns}", dtype, [dx, sums[0], sums[1]], reference, eager, traffic=3 * x.nbytes,
                variants={f"{w}w{p}p{a}a": variant(w, p, a) for w, p, a in ways}, has_triton=False)


def add_case(n, dtype):
    x, y = random_tensor(n, dtype=dtype), random_tensor(n, dtype=dtype)
    z = torch.empty_like(x)
    return Case(f"vector add {n >> 20} Mi", dtype, [z], lambda: [x.double() + y.double()],
                lambda: torch.add(x, y, out=z),  # where tensors lie is worth 0.2 %
                traffic=3 * x.nbytes, variants=with_fewer_programs({
                    f"{block}x{warps}": [Launch(kernel_file("vector_add"), "add_kernel", (math.ceil(n / block),),
                                                dict(x_ptr=x, y_ptr=y, z_ptr=z, n=n, BLOCK=block), num_warps=warps)]
                    for block, warps in ((512, 2), (512, 4), (1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 16))}, (40, 80)))


def matmul_case(size, dtype, blocks):
    a, b = random_tensor(size, size, dtype=dtype), random_tensor(size, size, dtype=dtype)
    c = torch.empty(size, size, device="cuda")
    m, n, k = blocks
    return Case(f"matmul {size} {m}x{n}x{k}", dtype, [c], lambda: [a.double() @ b.double()], lambda: a @ b,
                operations=2 * size**3, bound=0.01,
                variants=on_warps("matmul", "matmul_kernel", (size // m, size // n), dict(
                    a_ptr=a, b_ptr=b, c_ptr=c, M=size, N=size, K=size, stride_am=size, stride_ak=1, stride_bk=size,
                    stride_bn=1, stride_cm=size, stride_cn=1, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k), warps=(4, 8)))


def all_cases(tutorials):
    makers = {"softmax_kernel": (softmax_case, "rows", "columns"), "layer_norm_kernel": (layer_norm_case, "rows", "columns"),
              "fused_bias_layer_norm_kernel": (bias_layer_norm_case, "rows", "columns"), "add_kernel": (add_case, "n"),
              "layer_norm_backward_kernel": (layer_norm_backward_case, "rows", "columns")}
    for op in ("softmax", "layer_norm", "vector_add"):
        for case in kernel_cases.cases(op, "gpu"):
            make, *sizes = makers[case.kernel]
            yield lambda m=make, s=case.numbers(*sizes), d=case["type"]: m(*s, d)
    for case in kernel_cases.cases("matmul", "gpu"):
        yield lambda c=case: matmul_case(c["M"], c["type"], c.numbers("m", "n", "k"))
    yield from seed_cases()
    if tutorials:
        yield from tutorial_cases(tutorials)


class Timer:
    def __init__(self, seconds):
        self.seconds = seconds
        self.stream = torch.cuda.Stream()
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(4 * cache, dtype=torch.int8, device="cuda")
        self.driver = ctypes.CDLL("libcuda.so.1")

    def make_cold(self):
        """Nothing of the inputs is in the cache. Lines loaded with evict_last, as torch.compile's kernels do, outlive
        the flush unless they are reset: the next contender found them, and softmax 4096x4096 bf16 took 18.9 us
        instead of 19.7."""
        self.stream.synchronize()
        assert self.driver.cuCtxResetPersistingL2Cache() in (0, 801)  # not supported: no such lines
        self.flush.zero_()
        torch.cuda._sleep(1_000_000)  # cycles: 500 us, for what torch.compile takes to launch

    def rounds(self, contenders, seconds=0.0):
        """Microseconds of each, round by round: 24 rounds, or more in `seconds`, at most 400. A contender is a list of
        runs, and a round takes the next."""
        names, events = list(contenders), []
        with torch.cuda.stream(self.stream):
            for runs in contenders.values():
                for run in runs:
                    run()
            self.stream.synchronize()
            began = time.perf_counter()
            while len(events) < 24 or (time.perf_counter() - began < seconds and len(events) < 400):
                random.shuffle(names)
                row = {}
                for name in names:
                    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    self.make_cold()
                    run = contenders[name][len(events) % len(contenders[name])]
                    start.record()
                    run()
                    end.record()
                    row[name] = (start, end)
                events.append(row)
            self.stream.synchronize()
        return {name: [r[name][0].elapsed_time(r[name][1]) * 1e3 for r in events] for name in contenders}

    def best(self, contenders, among=3):
        """Rounds of all, then more of the `among` fastest of each side alone, so that a lucky time decides nothing.
        Medians, the name chosen on each side, and the times of the second rounds."""
        medians = {name: statistics.median(t) for name, t in self.rounds(contenders).items()}
        sides = {}
        for name in sorted(medians, key=medians.get):
            sides.setdefault(name.split()[0], []).append(name)
        times = self.rounds({name: contenders[name] for side in sides.values() for name in side[:among]}, self.seconds)
        finals = {name: statistics.median(t) for name, t in times.items()}
        chosen = {side: min(names[:among], key=finals.get) for side, names in sides.items()}
        return medians | finals, chosen, times


def with_more_sets(case, make):
    """The case, and the same on tensors of its own a few times more."""
    return [case] + [make() for _ in range((8 if case.traffic < 1 << 28 else 4) - 1)]


def measure(cases, library, timer, options):
    case, contenders, errors = cases[0], {}, {}

    def several(runs):
        return runs[0] if len(runs) == 1 else lambda: [run() for run in runs]

    for name in case.variants:
        contenders[f"nereid {name}"] = [several([launch.nereid(library, timer.stream) for launch in each.variants[name]])
                                        for each in cases]
        for output in case.outputs:
            poison(output)
        torch.cuda.synchronize()
        contenders[f"nereid {name}"][0]()
        torch.cuda.synchronize()
        errors[f"nereid {name}"] = differences(case)
        assert errors[f"nereid {name}"] <= case.bound, f"{case.name} {name}: off by {errors[f'nereid {name}']:.2e}"
    for name, launches in case.variants.items() if case.has_triton else ():
        if not all(launch.has_triton for launch in launches):
            continue
        try:
            runs = [several([launch.triton() for launch in each.variants[name]]) for each in cases]
            runs[0]()
            contenders[f"triton {name}"] = runs
        except Exception as error:  # sizes that it has no kernel for
            print(f"  no Triton {name}: {str(error).splitlines()[-1][:100]}", flush=True)
    if case.eager:
        contenders["eager"] = [each.eager for each in cases]
    if case.has_compiled and not options.no_compile:
        torch._dynamo.reset()
        contenders["compiled"] = [torch.compile(each.eager, dynamic=False) for each in cases]
    medians, chosen, times = timer.best(contenders)
    us = {who: medians[name] for who, name in chosen.items()}
    peer = min((us[who] for who in us if who != "nereid"), default=us["nereid"])
    low, high = statistics.quantiles(times[chosen["nereid"]], n=4)[::2]
    return dict(case=case.name, dtype=case.dtype, us=us, all=medians, chosen=chosen,
                spread=(high - low) / us["nereid"], difference=errors[chosen["nereid"]], ratio=peer / us["nereid"],
                gb_per_s=case.traffic / us["nereid"] / 1e3 if case.traffic else None,
                tflop_per_s=case.operations / us["nereid"] / 1e6 if case.operations else None)


def any_size(library, timer):
    """The lesson's layer norm of 768 columns in a block of 768, and padded to 1024."""
    rows, columns = 12288, 768
    for dtype in ("fp32", "bf16"):
        runs = {}
        for _ in range(4):
            x, w, b = (random_tensor(*s, dtype=dtype) for s in ((rows, columns), (columns,), (columns,)))
            arguments = dict(y_ptr=torch.empty_like(x), x_ptr=x, w_ptr=w, b_ptr=b, stride=columns, N=columns, eps=1e-5)
            for block, warps, registers in itertools.product((768, 1024), WARPS, (None, 32, 40, 64)):
                launch = Launch(ROOT / "tutorials/03_layer_norm/layer_norm.py", "layer_norm_kernel", (rows,),
                                dict(arguments, BLOCK=block), num_warps=warps)
                launch = launch.changed(maxnreg=registers) if registers else launch
                runs.setdefault(f"{block} {warps}w{registers or ''}", []).append(launch.nereid(library, timer.stream))
        medians, chosen, _ = timer.best(runs)
        own, padded = (medians[chosen[block]] for block in ("768", "1024"))
        print(f"layer norm {rows}x{columns} {dtype}: block 768 {own:.1f} us, padded to 1024 {padded:.1f} us, "
              f"{padded / own:.2f}x", flush=True)


def copy_bandwidth(timer):
    x = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    y = torch.empty_like(x)
    times = timer.rounds({"copy": [lambda: y.copy_(x)]}, timer.seconds)["copy"]
    return 2 * x.nbytes / statistics.median(times) / 1e3


def line(r, copy):
    def us(who):
        return f"{r['us'][who]:.1f}" if who in r["us"] else ""

    speed = f"{r['gb_per_s']:.0f} GB/s" if r["gb_per_s"] else f"{r['tflop_per_s']:.0f} TFLOP/s"
    share = f"{r['gb_per_s'] / copy:.2f}" if r["gb_per_s"] else ""
    triton = f"{r['us']['triton'] / r['us']['nereid']:.2f}" if "triton" in r["us"] else ""
    return (f"| {r['case']} | {r['dtype']} | {us('nereid')} | {us('triton')} | {us('compiled')} | {us('eager')} | {speed} | "
            f"{share} | {r['ratio']:.2f} | {triton} | {r['chosen']['nereid'].split()[1]} | {r['spread']:.1%} | {r['difference']:.1e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--set", choices=["table", "general"], default="table")
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose name holds one of these texts")
    parser.add_argument("--seconds", type=float, default=1.0, help="of rounds of the fastest ways, a case")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: it takes seconds a case")
    parser.add_argument("--tutorials", type=Path, help="Triton's python/tutorials")
    parser.add_argument("--json", help="write results here")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("compare_gpu.py: PyTorch sees no GPU")
    library, timer = bridge.Bridge(options.build), Timer(options.seconds)
    copy = copy_bandwidth(timer)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; copy {copy:.0f} GB/s; times in us\n")
    print("| case | type | Nereid | Triton | compiled | eager | Nereid's rate | x copy | x best peer | x Triton | chosen | spread | max diff |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    results = []
    for make in general_cases() if options.set == "general" else all_cases(options.tutorials):
        case = make()
        if not any(text in case.name for text in options.only):
            continue
        results.append(measure(with_more_sets(case, make), library, timer, options))
        print(line(results[-1], copy), flush=True)
        del case
        torch.cuda.empty_cache()
    if results:
        mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
        print(f"\n{len(results)} cases, geometric mean {mean:.2f} of the best peer")
    both = [r["us"]["triton"] / r["us"]["nereid"] for r in results if "triton" in r["us"]]
    if both:
        print(f"beside Triton: {len(both)} cases, geometric mean {math.exp(sum(map(math.log, both)) / len(both)):.3f}, "
              f"the least {min(both):.2f}, under 1: {sum(x < 1 for x in both)}")
    if options.set == "table" and any(text in "any size" for text in options.only):
        any_size(library, timer)
    if options.json:
        Path(options.json).write_text(json.dumps(dict(device=torch.cuda.get_device_name(), copy=copy, results=results),
                                                 indent=1))


if __name__ == "__main__":
    main()
