#!/usr/bin/env python3
"""Times every block, and every number of splits, from which kernels/linear chooses for a product, and compares its choice with the fastest.

    ninja -C build NereidOperatorBench
    python3 bench/operators/product_plans.py --device cuda:0 --types bf16 --sizes 12288x2304x768 768x768x12288
    python3 bench/operators/product_plans.py --threads 2 --types fp32,bf16 --sizes 256 1000 --all

Sizes are M x N x K, one number for all three. A plan is M x N x K of a block, / warps / stages, * splits of K, "roles" where warps of
their own copy, "+rest" where smaller blocks take the rows beyond so many. "share": the time of the fastest plan over that of the chosen one; "estimated": that by which it was chosen. --all prints every plan. docs/decisions/ProductBlocks.md.
"""

import argparse
import ctypes
import math
import statistics
import sys
from dataclasses import dataclass

import compare
import torch
from cases import Case


@dataclass
class Plan:
    numbers: tuple
    estimate: float  # us
    time: float = math.nan  # us

    def __str__(self):
        m, n, k, warps, stages, splits, roles, rows = self.numbers
        return (f"{m}x{n}x{k}/{warps}/{stages}" + (f" *{splits}" if splits > 1 else "") + (" roles" if roles else "") +
                (f" {rows} rows +rest" if rows else ""))


def plans_of(library, device, dtype, m, n, k, is_transposed):
    """The chosen plan, then all others."""
    text = library.c.nereidProductPlans(device.encode(), dtype.encode(), ctypes.c_int64(m), ctypes.c_int64(n), ctypes.c_int64(k),
                                        ctypes.c_int32(is_transposed))
    lines = [line.split() for line in text.decode().splitlines()]
    chosen, *plans = [Plan(tuple(map(int, line[:8])), float(line[8]) * 1e-3) for line in lines]
    return [chosen, *(plan for plan in plans if plan.numbers != chosen.numbers)]


def measure(library, clock, case, plan, options, samples):
    case.numbers = plan.numbers
    stream = torch.cuda.current_stream().cuda_stream if clock.is_gpu else None
    ours = compare.Ours(library, case, options.device, torch.ones(1), stream)

    def run():
        ours.run(False)
    clock.prepare(run)
    times = []
    for _ in range(samples):
        times.append(clock.time(run))
    ours.close()
    clock.ahead.pop(run, None)
    return statistics.median(times) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--build", default=str(compare.ROOT / "build"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--types", default="fp32,bf16")
    parser.add_argument("--sizes", nargs="+", default=["256", "512", "1024"])
    parser.add_argument("--samples", type=int, default=7, help="of a plan; the chosen one and the five fastest have three times as many")
    parser.add_argument("--transposed", action="store_true", help="the right operand lies as a weight [N, K] does")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    library = compare.Library(options.build, options.threads)
    library.c.nereidProductPlans.restype = ctypes.c_char_p
    if options.device != "cpu":
        torch.cuda.set_stream(torch.cuda.Stream(options.device))
    clock = compare.Clock(options.device)
    print("| type | M x N x K | chosen | us | estimated | fastest | us | share |")
    print("|---|---|---|--:|--:|---|--:|--:|")
    shares = []
    for dtype in options.types.split(","):
        for size in options.sizes:
            m, n, k = map(int, size.split("x") if "x" in size else [size] * 3)
            tensors = [torch.randn(m, k), torch.randn(n, k).T if options.transposed else torch.randn(k, n)]
            tensors = [t.to(options.device).to(torch.int8 if dtype == "i8" else compare.DTYPES[dtype]) for t in tensors]
            case = Case("planned_matmul", size, tensors, torch.matmul)
            plans = plans_of(library, options.device, dtype, m, n, k, options.transposed)
            chosen = plans[0]
            for plan in plans:
                plan.time = measure(library, clock, case, plan, options, options.samples)
            for plan in {str(p): p for p in [chosen, *sorted(plans, key=lambda plan: plan.time)[:5]]}.values():
                plan.time = measure(library, clock, case, plan, options, 3 * options.samples)
            plans.sort(key=lambda plan: plan.time)
            share = plans[0].time / chosen.time
            shares.append(share)
            print(f"| {dtype} | {m} x {n} x {k} | {chosen} | {chosen.time:.1f} | {chosen.estimate:.1f} | {plans[0]} | "
                  f"{plans[0].time:.1f} | {share:.2f} |", flush=True)
            for plan in plans if options.all else []:
                print(f"    {plan}: {plan.time:.1f} us, estimated {plan.estimate:.1f}")
    print(f"\n{len(shares)} products, share: geometric mean {math.exp(statistics.mean(map(math.log, shares))):.3f}, "
          f"least {min(shares):.2f}")


if __name__ == "__main__":
    sys.exit(main())
