#!/usr/bin/env python3
"""What a launch from Python costs on the host, in microseconds: the best of many batches, and their median. One small program, so that
the launch itself is most of it.

    .venv/bin/python bench/python_launch.py [--package build/python]
"""
import argparse
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def batches(call, calls=2000, batches=60):
    for _ in range(200):
        call()
    found = []
    for _ in range(batches):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        found.append((time.perf_counter_ns() - start) / calls / 1e3)
    return min(found), statistics.median(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/python", help="the folder that holds the package nereid")
    sys.path.insert(0, str(parser.parse_args().package))
    import nereid
    nereid.enable()
    import python_launch_kernels as kernels
    import torch
    x, y, z = (torch.zeros(16) for _ in range(3))
    cdiv, add, many, nothing = kernels.triton.cdiv, kernels.add, kernels.many, kernels.nothing
    cases = {
        "a Python call": lambda: None,
        "no argument": lambda: nothing[(1, )](),
        "3 tensors, int, constexpr": lambda: add[(1, )](x, y, z, 16, BLOCK=16),
        "the same, lambda grid with triton.cdiv": lambda: add[lambda meta: (cdiv(16, meta["BLOCK"]), )](x, y, z, 16, BLOCK=16),
        "12 tensors, 6 ints, constexpr": lambda: many[(1, )](x, y, z, x, y, z, x, y, z, x, y, z, 1, 2, 3, 4, 5, 6, BLOCK=16),
        "torch.add, beside": lambda: torch.add(x, y, out=z),
    }
    print(f"{'':42} {'best':>7} {'median':>7}  us")
    for name, call in cases.items():
        best, median = batches(call)
        print(f"{name:42} {best:7.2f} {median:7.2f}")


if __name__ == "__main__":
    main()
