#!/usr/bin/env python3
"""Repetitions of one `nereid bench` agree.

    test/bench/repetitions.py build/bin/nereid                                # ten, within 2 %: on a quiet machine
    test/bench/repetitions.py build/bin/nereid --device cuda:0
    test/bench/repetitions.py build/bin/nereid --times 4 --least --bound 2    # a machine that others use

Each repetition is a process of its own. Prints how far their medians (with --least, their fastest samples) are from the
median of all of them; exits with 1 where one is further off than the bound.
"""

import argparse
import json
import statistics
import subprocess
import sys

CASES = {"cpu": ["vector_add n=262144,4194304", "layer_norm M=512 N=1024"],
         "cuda:0": ["vector_add n=1048576,16777216,67108864", "layer_norm N=1024,8192", "matmul N=2048,4096"]}


def times_of(nereid, device, column):
    found = {}
    for case in CASES.get(device, CASES["cuda:0"]):
        command = [nereid, "bench", *case.split(), "--device", device, "--times-only", "--seconds", "0.3", "--json", "-"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for row in report["rows"]:
            point = " ".join(f"{name}={value}" for name, value in row["point"].items())
            found[f"{row['provider']} {point}".strip()] = (row[column], row.get("spread [%]") or 0)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--bound", type=float, default=0.02, help="the furthest that a repetition may be off, as a share")
    options = parser.parse_args()
    column = "least [ms]" if options.least else "time [ms]"
    runs = [times_of(options.nereid, options.device, column) for _ in range(options.times)]
    failed = False
    print(f"| case | {column} | furthest off | spread in a run |\n|---|--:|--:|--:|")
    for case in runs[0]:
        times = [run[case][0] for run in runs]
        middle = statistics.median(times)
        off = max(abs(time - middle) for time in times) / middle
        spread = statistics.median(run[case][1] for run in runs) / 100
        failed |= off > options.bound
        print(f"| {case} | {middle:.4g} | {off:.1%} | {spread:.1%} |", flush=True)
    if failed:
        sys.exit(f"repetitions are further off than {options.bound:.1%}")


if __name__ == "__main__":
    main()
