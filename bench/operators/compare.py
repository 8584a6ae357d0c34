#!/usr/bin/env python3
"""Nereid's operators against PyTorch's, eager and compiled: forward, and forward with backward.

    ninja -C build NereidOperatorBench
    python3 bench/operators/compare.py --device cpu --threads 2 --only layer_norm
    python3 bench/operators/compare.py --device cuda:0 --json operators.json
    python3 bench/operators/compare.py --memory --only transformer
    python3 bench/operators/compare.py --device cuda:0 --graph --only transformer

All contenders of a case run in one process on the same tensors, in rounds of random order, with cold caches on a GPU; what counts
is the median of a contender's times. Results and gradients are compared with PyTorch's in fp32 first. A ratio above 1: Nereid is faster.

With --memory nothing is timed: what counts is the most that tensors hold during a pass, beyond the inputs, with outputs and
gradients. The status is 1 where Nereid's are more than eager PyTorch's.

With --graph, of a GPU, each pass is captured once and replayed: for how long the host is busy with a replay while the device is
idle, the median of 200, and what the launches one by one take it. The status is 1 where a replay takes more than 20 us.
"""

import argparse
import ctypes
import json
import math
import os
import random
import statistics
import sys
import time
from pathlib import Path

# Freed memory stays in the process: otherwise every result that PyTorch allocates is paid for again in page faults.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
if any(os.environ.get(name) != value for name, value in HEAP.items()):
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **HEAP})

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "harness"), str(Path(__file__).resolve().parent)]

import torch  # noqa: E402

import bridge  # noqa: E402
import cases  # noqa: E402

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {**{dtype: name for name, dtype in DTYPES.items()}, torch.int32: "i32", torch.int64: "i64", torch.int8: "i8",
         torch.bool: "i1", torch.float8_e4m3fn: "fp8e4nv"}


class Library:
    def __init__(self, build, threads):
        path = os.path.join(build, "lib", "libNereidOperatorBench.so")
        if not os.path.exists(path):
            sys.exit(f"{path} is not built (target NereidOperatorBench)")
        self.c = ctypes.CDLL(path)
        self.c.nereidOperatorPrepare.restype = ctypes.c_void_p
        self.c.nereidOperatorRun.restype = ctypes.c_int64
        self.c.nereidOperatorRun.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32]
        self.c.nereidOperatorReplay.restype = ctypes.c_int64
        self.c.nereidOperatorReplay.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        self.c.nereidOperatorMemory.restype = ctypes.c_int64
        self.c.nereidOperatorMemory.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        self.c.nereidOperatorResult.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p]
        self.c.nereidOperatorFree.argtypes = [ctypes.c_void_p]
        self.c.nereidOperatorError.restype = ctypes.c_char_p
        self.c.nereidOperatorNames.restype = ctypes.c_char_p
        if threads:
            self.c.nereidOperatorSetThreads(threads)

    def names(self):
        return self.c.nereidOperatorNames().decode().split()

    def fail(self):
        raise RuntimeError(self.c.nereidOperatorError().decode())


def packed(tensors, wants=()):
    slots = (bridge._Argument * max(len(tensors), 1))()
    for i, (slot, tensor) in enumerate(zip(slots, tensors)):
        value = None if tensor is None else bridge.Tensor(tensor.data_ptr(), NAMES[tensor.dtype], tuple(tensor.shape),
                                                          tuple(tensor.stride()), on_device=True)
        bridge._pack(slot, "", value)
        slot.integer = i in wants
    return slots


class Ours:
    """A case on Nereid. It keeps the tensors alive."""

    def __init__(self, library, case, device, gradient, stream):
        self.library, self.case, self.gradient = library, case, gradient
        numbers = (ctypes.c_double * max(len(case.numbers), 1))(*case.numbers)
        self.handle = library.c.nereidOperatorPrepare(
            case.operator.encode(), device.encode(), packed(case.inputs, case.gradients), len(case.inputs), numbers,
            len(case.numbers), packed([gradient]), ctypes.c_void_p(stream))
        if not self.handle:
            library.fail()

    def run(self, backward):
        """Nanoseconds of the host."""
        if (busy := self.library.c.nereidOperatorRun(self.handle, backward, 1)) < 0:
            self.library.fail()
        return busy

    def replay(self, backward):
        """Nanoseconds of the host."""
        if (busy := self.library.c.nereidOperatorReplay(self.handle, backward)) < 0:
            self.library.fail()
        return busy

    def memory(self, backward):
        if (peak := self.library.c.nereidOperatorMemory(self.handle, backward)) < 0:
            self.library.fail()
        return peak

    def result(self, gradient, index, like):
        to = torch.empty_like(like, memory_format=torch.contiguous_format)
        if self.library.c.nereidOperatorResult(self.handle, gradient, index, packed([to])) < 0:
            self.library.fail()
        return to

    def close(self):
        self.library.c.nereidOperatorFree(self.handle)


def leaves(case):
    return [t.detach().requires_grad_(i in case.gradients) if t is not None else None for i, t in enumerate(case.inputs)]


def torch_run(function, inputs, gradient, backward):
    if not backward:
        def forward():
            with torch.no_grad():
                return function(*inputs)
        return forward

    def both():
        for t in inputs:
            if t is not None:
                t.grad = None
        y = function(*inputs)
        y = y[0] if isinstance(y, tuple) else y
        y.backward(gradient)
        return y
    return both


def difference(got, expected):
    scale = expected.abs().max().item() or 1.0
    return ((got.float() - expected.float()).abs().max().item()) / scale


def check(case, ours, gradient):
    """The largest difference from PyTorch's results in fp32, relative to the largest element."""
    wide = [t.float().detach().requires_grad_(i in case.gradients) if t is not None and t.is_floating_point() else t
            for i, t in enumerate(case.inputs)]
    expected = case.function(*wide)
    first = expected[0] if isinstance(expected, tuple) else expected
    ours.run(bool(case.gradients))
    dtype = torch.bfloat16 if case.inputs[0].dtype == torch.float8_e4m3fn else case.inputs[0].dtype
    like = first.to(dtype) if dtype.is_floating_point else first
    worst = difference(ours.result(0, 0, like), first.detach())
    if case.gradients:
        first.backward(gradient.float())
        for i in case.gradients:
            worst = max(worst, difference(ours.result(1, i, case.inputs[i]), wide[i].grad))
    return worst


class Clock:
    """Seconds of one run: of the host, or of a GPU whose second-level cache was flushed."""

    def __init__(self, device):
        self.is_gpu = device != "cpu"
        self.ahead = {}
        if self.is_gpu:
            self.flush = torch.empty(256 << 20, dtype=torch.int8, device=device)

    def prepare(self, run):
        """Compiles, and finds for how many cycles a GPU has to be kept busy so that all launches are queued when it begins."""
        run()
        run()
        if self.is_gpu:
            torch.cuda.synchronize()
            begin = time.perf_counter()
            run()
            self.ahead[run] = int(min(2 * (time.perf_counter() - begin), 0.01) * 2e9) + 100000
            torch.cuda.synchronize()

    def time(self, run):
        begin = time.perf_counter()
        if not self.is_gpu:
            run()
            return time.perf_counter() - begin
        self.flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(self.ahead.get(run, 200000))
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3


def burst(clock, run, seconds=0.015):
    """Times of a contender in its own company: threads of the one before still spin for some milliseconds on a host."""
    if clock.is_gpu:
        return [clock.time(run)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run()
    times, end = [], time.monotonic() + seconds
    while not times or time.monotonic() < end:
        times.append(clock.time(run))
    return times


def measure(clock, contenders, seconds):
    times = {name: [] for name in contenders}
    for run in contenders.values():
        clock.prepare(run)
    end = time.monotonic() + seconds
    while time.monotonic() < end or min(map(len, times.values())) < 5:
        for name in random.sample(list(contenders), len(contenders)):
            times[name] += burst(clock, contenders[name])
    return {name: statistics.median(values) for name, values in times.items()}


def torch_memory(run, device):
    """The most bytes that PyTorch's tensors hold while it runs, beyond those before."""
    if device != "cpu":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        kept = run()
        return torch.cuda.max_memory_allocated(device) - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        kept = run()
    del kept
    changes = [(e.start_ns(), e.nbytes()) for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    now = most = 0
    for _, change in sorted(changes, key=lambda each: each[0]):
        now += change
        most = max(most, now)
    return most


def with_gradients(make_case, dtype, options):
    """Cases, with the gradient of the first output."""
    def make(*shape, dtype=dtype, scale=1.0):
        return (torch.randn(*shape, device=options.device) * scale).to(DTYPES[dtype])

    for case in make_case(make, dtype):
        with torch.no_grad():
            y = case.function(*case.inputs)
        y = y[0] if isinstance(y, tuple) else y
        # That of a loss is 1, as `loss.backward()` has it.
        yield case, y, (torch.randn(y.shape, device=options.device) if y.dim() else torch.ones((), device=options.device)).to(y.dtype)


def memory_rows_of(library, clock, family, dtype, options):
    stream = torch.cuda.current_stream().cuda_stream if clock.is_gpu else None
    for case, y, gradient in with_gradients(cases.FAMILIES[family][0], dtype, options):
        for backward in (False, True) if case.gradients else (False,):
            bytes_of = {}
            # What is compiled, tuned or initialised stays with the first run, that of gradients too: both are measured with new inputs.
            for _ in range(2):
                ours = Ours(library, case, options.device, gradient if y.dim() else gradient.float(), stream)
                bytes_of["nereid"] = ours.memory(backward)
                ours.close()
                inputs = leaves(case) if backward else case.inputs
                bytes_of["eager"] = torch_memory(torch_run(case.function, inputs, gradient, backward), options.device)
            yield {"operator": case.operator, "shape": case.shape, "type": dtype, "pass": "both" if backward else "forward",
                   "bytes": bytes_of, "right": bytes_of["nereid"] <= bytes_of["eager"]}


def compare_memory(library, clock, chosen, options):
    rows = []
    print("| operator | shape | type | pass | Nereid MB | eager | share |")
    print("|---|---|---|---|--:|--:|--:|")
    for family, dtype in chosen:
        for row in memory_rows_of(library, clock, family, dtype, options):
            rows.append(row)
            ours, eager = row["bytes"]["nereid"], row["bytes"]["eager"]
            print(f"| {row['operator']} | {row['shape']} | {dtype} | {row['pass']} | {ours / 1e6:.3f} | {eager / 1e6:.3f} | "
                  f"{ours / max(eager, 1):.2f} |", flush=True)
    print(f"\n{len(rows)} rows, more than PyTorch: {sum(not row['right'] for row in rows)}")
    return rows


def compare_graphs(library, clock, chosen, options):
    rows, limit = [], 20.0

    def busy(run):
        times = []
        for _ in range(200):
            torch.cuda.synchronize()
            times.append(run())
        return statistics.median(times) * 1e-3

    print("| operator | shape | type | pass | replayed, us of the host | launched | device |")
    print("|---|---|---|---|--:|--:|--:|")
    stream = torch.cuda.current_stream().cuda_stream
    for family, dtype in chosen:
        for case, y, gradient in with_gradients(cases.FAMILIES[family][0], dtype, options):
            ours = Ours(library, case, options.device, gradient if y.dim() else gradient.float(), stream)
            for backward in (False, True) if case.gradients else (False,):
                clock.prepare(lambda: ours.replay(backward))
                row = {"operator": case.operator, "shape": case.shape, "type": dtype, "pass": "both" if backward else "forward",
                       "replayed": busy(lambda: ours.replay(backward)), "launched": busy(lambda: ours.run(backward)),
                       "device": statistics.median(clock.time(lambda: ours.replay(backward)) for _ in range(20)) * 1e6}
                row["right"] = row["replayed"] <= limit
                rows.append(row)
                print(f"| {row['operator']} | {row['shape']} | {dtype} | {row['pass']} | {row['replayed']:.1f} | "
                      f"{row['launched']:.1f} | {row['device']:.1f} |", flush=True)
            ours.close()
    print(f"\n{len(rows)} rows, above {limit:.0f} us: {sum(not row['right'] for row in rows)}")
    return rows


def rows_of(library, clock, family, dtype, options):
    for case, y, gradient in with_gradients(cases.FAMILIES[family][0], dtype, options):
        stream = torch.cuda.current_stream().cuda_stream if clock.is_gpu else None
        # Losses of Nereid are fp32.
        ours = Ours(library, case, options.device, gradient if y.dim() else gradient.float(), stream)
        worst = check(case, ours, gradient)
        for backward in (False, True) if case.gradients else (False,):
            inputs = leaves(case) if backward else case.inputs
            contenders = {"nereid": lambda backward=backward: ours.run(backward), "eager": torch_run(case.function, inputs, gradient, backward)}
            if options.compile and case.compiles:
                torch._dynamo.reset()
                compiled = torch.compile(case.function)
                contenders["compiled"] = torch_run(compiled, inputs, gradient, backward)
            contenders.update({name: torch_run(f, inputs, gradient, backward) for name, f in case.peers.items()})
            if options.warm:
                for run in contenders.values():
                    run()
                continue
            times = measure(clock, contenders, options.seconds)
            best = min(t for name, t in times.items() if name != "nereid")
            yield {"operator": case.operator, "shape": case.shape, "type": dtype, "pass": "both" if backward else "forward",
                   "us": {name: t * 1e6 for name, t in times.items()}, "ratio": best / times["nereid"],
                   "difference": worst, "right": worst <= case.tolerance}
        ours.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="", help="families, with commas between")
    parser.add_argument("--types", default="", help="element types, with commas between")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="without torch.compile")
    parser.add_argument("--warm", action="store_true", help="only compiles: fills the caches of all contenders")
    parser.add_argument("--memory", action="store_true", help="compares memory instead of time")
    parser.add_argument("--graph", action="store_true", help="the host's time for a replayed pass instead")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    library = Library(options.build, options.threads or (torch.get_num_threads() if options.device == "cpu" else 0))
    wanted = options.only.split(",") if options.only else [family for family in cases.FAMILIES
                                                           if options.device != "cpu" or family not in cases.ON_GPUS]
    if unknown := [name for name in wanted if name not in cases.FAMILIES]:
        sys.exit(f"no family {', '.join(unknown)}; expected some of {', '.join(cases.FAMILIES)}")
    if options.device != "cpu":
        # The legacy default stream would wait for Nereid's at each launch.
        torch.cuda.set_stream(torch.cuda.Stream(options.device))
    clock = Clock(options.device)
    chosen = [(family, dtype) for family in wanted for dtype in cases.FAMILIES[family][1]
              if not options.types or dtype in options.types.split(",")]
    if options.graph and options.device == "cpu":
        sys.exit("--graph: expected a GPU as --device, got cpu")
    if options.memory or options.graph:
        rows = (compare_memory if options.memory else compare_graphs)(library, clock, chosen, options)
        if options.json:
            Path(options.json).write_text(json.dumps(rows, indent=1))
        sys.exit(0 if all(row["right"] for row in rows) else 1)
    rows = []
    print("| operator | shape | type | pass | Nereid us | eager | compiled | x best | difference |")
    print("|---|---|---|---|--:|--:|--:|--:|--:|")
    for family, dtype in chosen:
        for row in rows_of(library, clock, family, dtype, options):
            rows.append(row)
            us = row["us"]
            others = "".join(f" {name} {t:.1f}, x {t / us['nereid']:.2f}" for name, t in us.items()
                             if name not in ("nereid", "eager", "compiled"))
            print(f"| {row['operator']} | {row['shape']} | {dtype} | {row['pass']} | {us['nereid']:.1f} | {us['eager']:.1f} | "
                  f"{us.get('compiled', math.nan):.1f} | {row['ratio']:.2f} | {row['difference']:.1e} |{others}", flush=True)
    if options.warm:
        return
    mean = math.exp(statistics.mean(math.log(row["ratio"]) for row in rows))
    wrong = [row for row in rows if not row["right"]]
    print(f"\n{len(rows)} rows, geometric mean {mean:.2f}, least {min(row['ratio'] for row in rows):.2f}, wrong {len(wrong)}")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
