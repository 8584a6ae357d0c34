#!/usr/bin/env python3
"""Nereid against PyTorch (eager and torch.compile) and plain C++ on this CPU.

    scripts/test-venv; ninja -C build NereidBridge NereidPlainLoops
    .venv/bin/python bench/compare_pytorch.py             # all, about 10 minutes
    .venv/bin/python bench/compare_pytorch.py --only softmax --seconds 2 --no-write
    .venv/bin/python bench/compare_pytorch.py --level x86-64-v3    # as on a processor with AVX2 and no more

All contenders of a case run in one process, on the same memory, with the same
number of threads, in rounds of random order; what counts is the median over the
rounds of the ratio within a round. docs/BENCHMARKING.md has the method. Writes
docs/BENCHMARKS-CPU.md, .json and .svg; with --level docs/BENCHMARKS-CPU-x86-64-v3.md and so on.
"""

import argparse
import ctypes
import json
import os
import platform
import random
import statistics
import sys
import time
from pathlib import Path

# The level of the processor, for both: what PyTorch, oneDNN and MKL take.
LEVELS = {"x86-64-v3": {"NEREID_CPU": "x86-64-v3", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
                        "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
          "x86-64-v4": {"NEREID_CPU": "x86-64-v4", "ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI",
                        "MKL_ENABLE_INSTRUCTIONS": "AVX512"}}


def level_of(arguments):
    """--level, before PyTorch is loaded: libraries read their levels then."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--level", choices=LEVELS)
    return parser.parse_known_args(arguments)[0].level


# Freed memory stays in the process: otherwise every result PyTorch allocates
# would be paid for again in page faults. Read by the C library at its start.
LEVEL = level_of(sys.argv[1:])
SETTINGS = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), **LEVELS.get(LEVEL, {})}
if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SETTINGS})

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "harness"), str(ROOT / "bench")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import bridge  # noqa: E402
import kernel_cases  # noqa: E402
import report  # noqa: E402

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {**{t: name for name, t in DTYPES.items()}, torch.int8: "i8", torch.int32: "i32"}
KERNELS = ROOT / "kernels"
GENERAL = ROOT / "bench" / "general"


class Case:
    """Contenders by name, and what is known about them."""

    def __init__(self, name, dtype, traffic, targets, operations=0):
        self.name, self.dtype, self.traffic, self.targets = name, dtype, traffic, targets
        self.operations = operations
        self.contenders, self.check = {}, lambda: {}


def tensor(t):
    return bridge.Tensor(t.data_ptr(), NAMES[t.dtype], tuple(t.shape), tuple(t.stride()))


def random_tensor(*shape, dtype):
    return torch.randn(*shape).to(DTYPES[dtype])


class Machine:
    """The libraries, and the arrays that copy bandwidth is measured on."""

    def __init__(self, options):
        self.threads = options.threads
        self.library = bridge.Bridge(options.build)
        self.library.set_threads(options.threads)
        self.plain = ctypes.CDLL(os.path.join(options.build, "lib", "libNereidPlainLoops.so"))
        self.plain.plainSetThreads(options.threads)
        torch.set_num_threads(options.threads)
        self.cache_bytes = last_level_cache()
        self.copy_arrays = torch.ones(1 << 26), torch.zeros(1 << 26)

    def kernel(self, file, name, grid, arguments):
        bound = {k: tensor(v) if isinstance(v, torch.Tensor) else v for k, v in arguments.items()}
        launch = self.library.prepare(KERNELS / file, name, grid, bound)

        def run(owners=arguments):  # the kernel has addresses only
            return launch.run()

        return run

    def copy(self, nontemporal, traffic):
        """A copy of `traffic` bytes in all, read and written."""
        source, target = self.copy_arrays
        count = min(traffic // 8, source.numel()) // 64 * 64
        function = self.plain.plainCopyNonTemporal if nontemporal else self.plain.plainCopy
        scale = traffic / (8 * count)
        arguments = (ctypes.c_void_p(target.data_ptr()), ctypes.c_void_p(source.data_ptr()), ctypes.c_int64(count))
        return (lambda: function(*arguments)), scale


def last_level_cache():
    sizes = [p.read_text().strip() for p in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(s[:-1]) * {"K": 1 << 10, "M": 1 << 20}[s[-1]] for s in sizes), default=32 << 20)


def rows_float64(x, rows=64):
    return x[:rows].to(torch.float64)


def max_difference(actual, expected):
    return float((actual[:expected.shape[0]].to(torch.float64) - expected).abs().max())


def softmax_case(machine, rows, columns, dtype):
    x = random_tensor(rows, columns, dtype=dtype)
    y, z = torch.empty_like(x), torch.empty_like(x)
    case = Case(f"softmax {rows}x{columns}", dtype, 2 * x.nbytes, {"pytorch": 1.0})
    case.contenders["nereid"] = machine.kernel(
        "softmax/softmax.py", "softmax_kernel", (rows,),
        dict(y_ptr=y, x_ptr=x, y_stride=columns, x_stride=columns, N=columns))
    case.contenders["eager"] = lambda: torch.ops.aten._softmax.out(x, -1, False, out=z)
    compiled = torch.compile(lambda x, z: z.copy_(torch.softmax(x, -1)), dynamic=False)
    case.contenders["compiled"] = lambda: compiled(x, z)
    expected = torch.softmax(rows_float64(x), -1)
    case.check = lambda: {"nereid": max_difference(y, expected), "pytorch": max_difference(z, expected)}
    return case


def layer_norm_case(machine, rows, columns, dtype):
    x = random_tensor(rows, columns, dtype=dtype)
    w, b = random_tensor(columns, dtype=dtype), random_tensor(columns, dtype=dtype)
    y = torch.empty_like(x)
    case = Case(f"layer norm {rows}x{columns}", dtype, 2 * x.nbytes, {"pytorch": 1.0})
    case.contenders["nereid"] = machine.kernel(
        "layer_norm/layer_norm.py", "layer_norm_kernel", (rows,),
        dict(y_ptr=y, x_ptr=x, w_ptr=w, b_ptr=b, mean_ptr=None, rstd_ptr=None, y_stride=columns, x_stride=columns,
             eps=1e-5, N=columns))
    case.contenders["eager"] = lambda: F.layer_norm(x, (columns,), w, b, 1e-5)
    z = torch.empty_like(x)
    compiled = torch.compile(lambda x, w, b, z: z.copy_(F.layer_norm(x, (columns,), w, b, 1e-5)), dynamic=False)
    case.contenders["compiled"] = lambda: compiled(x, w, b, z)
    expected = F.layer_norm(rows_float64(x), (columns,), w.double(), b.double(), 1e-5)
    case.check = lambda: {"nereid": max_difference(y, expected), "pytorch": max_difference(z, expected)}
    return case


def bias_layer_norm_case(machine, rows, columns, dtype):
    x = random_tensor(rows, columns, dtype=dtype)
    bias, w, b = (random_tensor(columns, dtype=dtype) for _ in range(3))
    y, t, z = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
    case = Case(f"bias + layer norm {rows}x{columns}", dtype, 2 * x.nbytes, {"eager": 1.5})
    case.contenders["nereid"] = machine.kernel(
        "layer_norm/layer_norm.py", "fused_bias_layer_norm_kernel", (rows,),
        dict(y_ptr=y, x_ptr=x, bias_ptr=bias, w_ptr=w, b_ptr=b, y_stride=columns, x_stride=columns, eps=1e-6, N=columns))
    case.contenders["eager"] = lambda: F.layer_norm(torch.add(x, bias, out=t), (columns,), w, b, 1e-6)
    compiled = torch.compile(lambda x, bias, w, b, z: z.copy_(F.layer_norm(x + bias, (columns,), w, b, 1e-6)),
                             dynamic=False)
    case.contenders["compiled"] = lambda: compiled(x, bias, w, b, z)
    expected = F.layer_norm(rows_float64(x) + bias.double(), (columns,), w.double(), b.double(), 1e-6)
    case.check = lambda: {"nereid": max_difference(y, expected), "pytorch": max_difference(z, expected)}
    return case


def add_case(machine, n, dtype):
    x, y = random_tensor(n, dtype=dtype), random_tensor(n, dtype=dtype)
    z = torch.empty_like(x)
    targets = {"plain C++": 0.95} if dtype == "fp32" else {}
    case = Case(f"vector add {n >> 20} Mi", dtype, 3 * x.nbytes, targets)
    block = 16384
    case.contenders["nereid"] = machine.kernel(
        "vector_add/vector_add.py", "add_kernel", (-(-n // block),),
        dict(x_ptr=x, y_ptr=y, z_ptr=z, n=n, BLOCK=block))
    # All write the same array: where pages happen to lie is worth 5 %.
    case.contenders["eager"] = lambda: torch.add(x, y, out=z)
    if dtype == "fp32":
        arguments = [ctypes.c_void_p(t.data_ptr()) for t in (z, x, y)] + [ctypes.c_int64(n)]
        case.contenders["plain C++"] = lambda: machine.plain.plainAdd(*arguments)

    def check():
        z.fill_(float("nan"))
        case.contenders["nereid"]()
        return {"nereid": float((z - (x + y)).abs().max())}

    case.check = check
    return case


def fastest(choices):
    """(description, run) of the fastest of several launches of one kernel."""
    timed = []
    for blocks, run in choices:
        run()
        timed.append((min(run() for _ in range(3)), blocks, run))
    _, blocks, run = min(timed, key=lambda choice: choice[0])
    return f"blocks {'x'.join(map(str, blocks))}", run


def product_case(machine, size, dtype, shapes, transposed=False):
    """C = A B in the operands' type, int32 of int8; `transposed`: B lies column after column."""
    if dtype == "int8":
        a, b = (torch.randint(-128, 128, (size, size), dtype=torch.int8) for _ in range(2))
        c = torch.empty(size, size, dtype=torch.int32)
    else:
        a, b = random_tensor(size, size, dtype=dtype), random_tensor(size, size, dtype=dtype)
        c = torch.empty_like(a)
    d = torch.empty_like(c)
    if transposed:
        b = b.t()
    target = {"fp32": 0.95}.get(dtype, 0.9)
    case = Case(f"matmul {size}^3{' B transposed' if transposed else ''}", dtype, 2 * a.nbytes + c.nbytes, {"eager": target},
                operations=2 * size**3)

    def launch(m, n, k):
        grid = (-(-size // m), -(-size // n))
        blocks = dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k)
        if dtype == "int8":
            return machine.kernel(GENERAL / "products.py", "int8_kernel", grid,
                                  dict(c_ptr=c, a_ptr=a, b_ptr=b, M=size, N=size, K=size, **blocks))
        return machine.kernel("matmul/matmul.py", "matmul_kernel", grid,
                              dict(a_ptr=a, b_ptr=b, c_ptr=c, M=size, N=size, K=size, stride_am=size, stride_ak=1,
                                   stride_bk=b.stride(0), stride_bn=b.stride(1), stride_cm=size, stride_cn=1, **blocks))

    blocks, case.contenders["nereid"] = fastest((shape, launch(*shape)) for shape in shapes)
    case.name += f" ({blocks})"
    multiply = torch._int_mm if dtype == "int8" else torch.mm
    case.contenders["eager"] = lambda: multiply(a, b, out=d)
    expected = a[:64].double() @ b.double()
    case.check = lambda: {"nereid": max_difference(c, expected), "pytorch": max_difference(d, expected)}
    return case


def gelu_case(machine, n, dtype):
    x = random_tensor(n, dtype=dtype)
    y, z = torch.empty_like(x), torch.empty_like(x)
    case = Case(f"GELU (tanh) {n >> 20} Mi", dtype, 2 * x.nbytes, {"pytorch": 1.0})
    case.contenders["nereid"] = machine.kernel(GENERAL / "elements.py", "gelu_kernel", (-(-n // 16384),),
                                               dict(y_ptr=y, x_ptr=x, n=n, BLOCK=16384))
    case.contenders["eager"] = lambda: torch.ops.aten.gelu.out(x, approximate="tanh", out=z)
    compiled = torch.compile(lambda x, z: z.copy_(F.gelu(x, approximate="tanh")), dynamic=False)
    case.contenders["compiled"] = lambda: compiled(x, z)
    expected = F.gelu(x.double(), approximate="tanh")
    case.check = lambda: {"nereid": max_difference(y, expected), "pytorch": max_difference(z, expected)}
    return case


def transposition_case(machine, rows, columns, dtype, sizes=(32, 64, 128)):
    x = random_tensor(rows, columns, dtype=dtype)
    y, z = (torch.empty(columns, rows, dtype=x.dtype) for _ in range(2))
    case = Case(f"transposition {rows}x{columns}", dtype, 2 * x.nbytes, {"pytorch": 1.0})
    blocks, case.contenders["nereid"] = fastest(
        ((size,), machine.kernel(GENERAL / "columns.py", "transpose_kernel", (-(-rows // size), -(-columns // size)),
                                 dict(y_ptr=y, x_ptr=x, M=rows, N=columns, BLOCK=size))) for size in sizes)
    case.name += f" ({blocks})"
    case.contenders["eager"] = lambda: z.copy_(x.t())
    compiled = torch.compile(lambda x, z: z.copy_(x.t()), dynamic=False)
    case.contenders["compiled"] = lambda: compiled(x, z)
    case.check = lambda: {"nereid": float((y != x.t()).sum()), "pytorch": float((z != x.t()).sum())}
    return case


def into(z, function):
    """`function` compiled by PyTorch, its result written to z."""
    compiled = torch.compile(lambda z, *inputs: z.copy_(function(*inputs)), dynamic=False)
    return lambda *inputs: compiled(z, *inputs)


def of_sums(x):
    return torch.promote_types(x.dtype, torch.float32)


def tiles_case(machine, kernel, rows, columns, dtype, per_program, block):
    """bench/general/tiles.py: a row's condition and a column's in each mask."""
    x = random_tensor(rows, columns, dtype=dtype)
    w, b = random_tensor(columns, dtype=dtype), random_tensor(columns, dtype=dtype)
    of_rows, of_columns = torch.empty(rows), torch.empty(columns)
    y = {"row_sum": of_rows, "column_sum": of_columns}.get(kernel, torch.empty_like(x))
    z = torch.empty_like(y)
    inputs, peer, eager = {
        "scale": ((x, w), lambda x, w: x * w, lambda: torch.mul(x, w, out=z)),
        "fill": ((w,), lambda w: w.expand(rows, columns), lambda: z.copy_(w.expand(rows, columns))),
        "row_sum": ((x,), lambda x: x.sum(1, dtype=of_sums(x)), lambda: torch.sum(x, 1, dtype=torch.float32, out=z)),
        "column_sum": ((x,), lambda x: x.sum(0, dtype=of_sums(x)),
                       lambda: torch.sum(x, 0, dtype=torch.float32, out=z)),
        "layer_norm": ((x, w, b), lambda x, w, b: F.layer_norm(x, (columns,), w, b, 1e-5),
                       lambda: F.layer_norm(x, (columns,), w, b, 1e-5)),  # has no form with out=
        "softmax": ((x,), lambda x: torch.softmax(x, -1), lambda: torch.ops.aten._softmax.out(x, -1, False, out=z)),
    }[kernel]
    read = 0 if kernel == "fill" else x.nbytes
    written = y.nbytes if y.dim() > 1 else 0
    case = Case(f"tiles, {kernel.replace('_', ' ')} {rows}x{columns}, {per_program} a program", dtype, read + written,
                {"pytorch": 0.95})
    arguments = dict(y_ptr=y, M=rows, N=columns, stride=columns, ROWS=per_program, BLOCK=block)
    arguments |= {} if kernel == "fill" else {"x_ptr": x}
    arguments |= {"w_ptr": w} if kernel in ("scale", "fill", "layer_norm") else {}
    arguments |= {"b_ptr": b, "eps": 1e-5} if kernel == "layer_norm" else {}
    programs = -(-columns // block) if kernel == "column_sum" else -(-rows // per_program)
    case.contenders["nereid"] = machine.kernel(GENERAL / "tiles.py", f"{kernel}_kernel", (programs,), arguments)
    case.contenders["eager"] = eager
    compiled = into(z, peer)
    case.contenders["compiled"] = lambda: compiled(*inputs)
    expected = peer(*(t.double() for t in inputs)).double()
    case.check = lambda: {"nereid": max_difference(y, expected), "pytorch": max_difference(z, expected)}
    return case


TILE_KERNELS = ("scale", "fill", "row_sum", "column_sum", "layer_norm", "softmax")
INT8_BLOCKS = {256: [(128, 128, 256), (256, 256, 256), (128, 256, 256)],
               1024: [(256, 256, 256), (256, 256, 1024), (128, 256, 1024)],
               2048: [(256, 256, 1024), (512, 512, 256)]}


def all_cases(machine):
    """Functions that make a case, by name: tensors exist one case at a time."""
    makers = {"softmax_kernel": softmax_case, "layer_norm_kernel": layer_norm_case,
              "fused_bias_layer_norm_kernel": bias_layer_norm_case}
    for dtype in ("fp32", "bf16"):
        for op in ("softmax", "layer_norm"):
            for case in kernel_cases.cases(op, "cpu"):
                if case["type"] == dtype:
                    rows, columns = case.numbers("rows", "columns")
                    what = {"softmax_kernel": "softmax", "layer_norm_kernel": "layer norm"}.get(case.kernel, "bias + layer norm")
                    yield (f"{what} {rows}x{columns} {dtype}",
                           lambda m, make=makers[case.kernel], a=(rows, columns, dtype): make(m, *a))
        for case in sorted(kernel_cases.cases("vector_add", "cpu"), key=lambda case: case["n"]):
            if case["type"] == dtype:
                yield f"vector add {case['n'] >> 20} Mi {dtype}", lambda m, a=(case["n"], dtype): add_case(m, *a)
    for n in (1 << 20, 1 << 24):
        for dtype in DTYPES:
            yield f"GELU {n >> 20} Mi {dtype}", lambda m, a=(n, dtype): gelu_case(m, *a)
    for rows, columns in ((512, 512), (4096, 4096), (4000, 3001)):
        for dtype in ("fp32", "bf16"):
            yield f"transposition {rows}x{columns} {dtype}", lambda m, a=(rows, columns, dtype): transposition_case(m, *a)
    for kernel in TILE_KERNELS:
        for rows, columns in ((4096, 4096), (4001, 3001)):
            for dtype in ("fp32", "bf16"):
                for per_program in (1, 4) if kernel != "column_sum" else (16, 64):
                    block = 256 if kernel == "column_sum" else 1024
                    yield (f"tiles {kernel} {rows}x{columns} {dtype} {per_program}",
                           lambda m, a=(kernel, rows, columns, dtype, per_program, block): tiles_case(m, *a))
    blocks = {}
    for case in kernel_cases.cases("matmul", "cpu"):
        blocks.setdefault((case["type"], case["M"]), []).append(case.numbers("m", "n", "k"))
    for (dtype, size), shapes in blocks.items():
        yield f"matmul {size}^3 {dtype}", lambda m, a=(size, dtype, shapes): product_case(m, *a)
    for dtype in ("fp32", "bf16"):
        yield (f"matmul 1024^3 B transposed {dtype}",
               lambda m, a=(1024, dtype, blocks[dtype, 1024], True): product_case(m, *a))
    for size, shapes in INT8_BLOCKS.items():
        yield f"matmul {size}^3 B transposed int8", lambda m, a=(size, "int8", shapes, True): product_case(m, *a)


def once(run, repetitions):
    start = time.perf_counter_ns()
    for _ in range(repetitions):
        run()
    return (time.perf_counter_ns() - start) / repetitions * 1e-6


def measure(machine, case, seconds):
    """Milliseconds of every contender, one entry a round."""
    contenders = {name: (run, 1.0) for name, run in case.contenders.items()}
    if case.traffic > machine.cache_bytes and not case.operations:
        contenders["copy"] = machine.copy(False, case.traffic)
        contenders["copy, non-temporal"] = machine.copy(True, case.traffic)
    repetitions = {}
    for name, (run, _) in contenders.items():
        run()  # compiles, touches the pages
        run()
        repetitions[name] = max(1, min(200, int(4 / max(once(run, 3), 1e-3))))
    times = {name: [] for name in contenders}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(next(iter(times.values()))) < 7:
        for name in random.sample(list(contenders), len(contenders)):
            run, scale = contenders[name]
            # The last contender's threads go to sleep, this one's wake up.
            time.sleep(0.004)
            run()
            times[name].append(once(run, repetitions[name]) * scale)
    return times


def ratio(times, peer):
    """How many times faster than the peer: median over the rounds."""
    return statistics.median(p / n for p, n in zip(times[peer], times["nereid"]))


def summarise(machine, case, times):
    medians = {name: statistics.median(t) for name, t in times.items()}
    result = {"case": case.name, "dtype": case.dtype, "ms": medians, "rounds": len(times["nereid"]),
              "gb_per_s": case.traffic / medians["nereid"] * 1e-6, "differences": case.check(), "ratios": {},
              "targets": {}}
    if case.operations:
        result["gflop_per_s"] = case.operations / medians["nereid"] * 1e-6
    rivals = [name for name in ("eager", "compiled") if name in medians]
    best = min(rivals, key=medians.get)
    peers = {"pytorch": best, "eager": "eager", "plain C++": "plain C++"}
    result["ratios"]["pytorch"], result["best"] = ratio(times, best), best
    for target, least in case.targets.items():
        result["ratios"][target] = ratio(times, peers[target])
        result["targets"][target] = least
    copies = [name for name in medians if name.startswith("copy")]
    if copies:
        result["ratios"]["copy"] = ratio(times, min(copies, key=medians.get))
        result["targets"]["copy"] = 0.85
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--only", default="", help="cases whose name contains one of these, with commas")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=8, help="a case")
    parser.add_argument("--no-write", action="store_true", help="print only")
    parser.add_argument("--level", choices=LEVELS, help="of the processor, for Nereid and PyTorch (default: its own)")
    parser.add_argument("--output", default=str(ROOT / "docs" / ("BENCHMARKS-CPU" + (f"-{LEVEL}" if LEVEL else ""))),
                        help="without suffix")
    options = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    machine, results = Machine(options), []
    about = {"measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "processor": report.processor(),
             "level": LEVEL or "the processor's own", "threads": options.threads, "pytorch": torch.__version__,
             "system": platform.platform(), "last-level cache": f"{machine.cache_bytes >> 20} MiB",
             "load before": os.getloadavg()[0]}
    print(report.heading())
    for name, make in all_cases(machine):
        if not any(part in name for part in options.only.split(",")):
            continue
        torch._dynamo.reset()
        case = make(machine)
        results.append(summarise(machine, case, measure(machine, case, options.seconds)))
        print(report.line(results[-1]), flush=True)
        del case
    about["load after"] = os.getloadavg()[0]
    print("\n" + report.verdicts(results))
    if not options.no_write:
        report.write(Path(options.output), about, results)
    sys.exit(0 if report.all_met(results) else 1)


if __name__ == "__main__":
    main()
