#!/usr/bin/env python3
"""The times that `nereid bench softmax --against torch:... --against triton:...` has of others, against the others' own.

    test/gpu/provider_times.py build/bin/nereid                # on a GPU: triton.testing.do_bench
    test/gpu/provider_times.py build/bin/nereid --device cpu   # torch.utils.benchmark, of PyTorch alone

Both measure the same call, on arrays of the same sizes, in turns: a round has each once, and the median over the rounds
counts. Outputs exist beforehand: making one costs the host more than its softmax. The host's runs are warm, as
torch.utils.benchmark has them, on as many threads. Exits with 77 without PyTorch (or, on a GPU,
without Triton), and with 1 where a time is off by more than 3 %.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "softmax" / "softmax.py"
WARPS = 8


def bench_ms(options, columns):
    """By (provider, N)."""
    command = [options.nereid, "bench", "softmax", f"N={','.join(map(str, columns))}", f"M={options.rows}", "--device", options.device,
               "--times-only", "--seconds", str(options.seconds), "--json", "-", "--python", sys.executable,
               "--against", "PyTorch=torch:torch.softmax input=x dim=1 out=y"]
    if options.device == "cpu":
        command.append("--warm")
    else:
        command += ["--against", f"Triton=triton:{KERNELS}:softmax_kernel num_warps={WARPS}"]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = json.loads(done.stdout)["rows"] if done.stdout.startswith("{") else []
    failures = [row["failure"] for row in rows if row.get("failure")]
    if done.returncode or failures or not rows:
        sys.exit("\n".join([" ".join(map(str, command)), *failures, done.stderr]))
    return {(row["provider"], int(row["point"].get("N", columns[0]))): row["time [ms]"] for row in rows}


def own_ms(options, columns):
    """The same, by what the others measure with."""
    import torch
    times = {}
    for n in columns:
        x = torch.randn((options.rows, n), device=options.device.split(":")[0])
        if options.device == "cpu":
            from torch.utils.benchmark import Timer
            timer = Timer("torch.softmax(input=x, dim=1, out=y)", globals={"torch": torch, "x": x, "y": torch.empty_like(x)},
                          num_threads=len(os.sched_getaffinity(0)))
            times["PyTorch", n] = timer.blocked_autorange(min_run_time=options.seconds).median * 1e3
            continue
        from triton.testing import do_bench
        y, kernel = torch.empty_like(x), softmax_kernel()
        calls = {"PyTorch": lambda: torch.softmax(input=x, dim=1, out=y),
                 "Triton": lambda: kernel[(options.rows,)](y, x, n, n, N=n, num_warps=WARPS)}
        for name, call in calls.items():
            times[name, n] = do_bench(call, warmup=25, rep=int(options.seconds * 1e3), return_mode="median")
    return times


def softmax_kernel():
    sys.path.insert(0, str(KERNELS.parent))
    import softmax
    return softmax.softmax_kernel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--bound", type=float, default=0.03)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", default="1024,4096,16384")
    options = parser.parse_args()
    columns = [int(n) for n in options.columns.split(",")]
    try:
        import torch
        if options.device != "cpu":
            import triton  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    if options.device != "cpu" and not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 77
    theirs, ours = {}, {}
    for _ in range(options.rounds):
        for times, measured in ((theirs, own_ms(options, columns)), (ours, bench_ms(options, columns))):
            for key, ms in measured.items():
                times.setdefault(key, []).append(ms)
    own = "torch.utils.benchmark" if options.device == "cpu" else "do_bench"
    print(f"softmax of {options.rows} rows, fp32, {options.rounds} rounds\n\n| provider | N | nereid bench ms | {own} ms | off | the rounds' spread |\n"
          "|---|--:|--:|--:|--:|--:|")
    worst = 0.0
    for key, times in theirs.items():
        mine, yours = statistics.median(ours[key]), statistics.median(times)
        worst = max(worst, abs(mine / yours - 1))
        spread = max((max(of) - min(of)) / statistics.median(of) for of in (ours[key], times))
        print(f"| {key[0]} | {key[1]} | {mine:.4f} | {yours:.4f} | {mine / yours - 1:+.1%} | {spread:.1%} |")
    print(f"\nthe furthest is off by {worst:.1%}, {options.bound:.0%} allowed")
    return int(worst > options.bound)


if __name__ == "__main__":
    sys.exit(main())
