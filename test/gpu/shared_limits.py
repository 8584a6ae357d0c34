#!/usr/bin/env python3
"""Random loops whose tiles just fit into a block's shared memory, or just do not.
Whatever number of stages is asked for: a loop is refused only if it would be
with one stage too, and what is compiled stays within the limit. Needs no GPU.

    test/gpu/shared_limits.py NEREID [--count N] [--seed N]
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

KERNEL = Path(__file__).resolve().parent / "crowded_loops.py"
LIMITS = {"sm_80": 163 * 1024, "sm_89": 99 * 1024, "sm_90a": 227 * 1024}
BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}
KINDS = ("none", "sum", "columns", "twice", "scan", "gather", "scaled", "stored")
REFUSED = re.compile(r"needs (\d+) bytes of shared memory for a block")
TAKES = re.compile(r"tilegpu\.shared_bytes = (\d+)")


def crowded_case(draw):
    """A loop whose buffers alone take about what there is; of eight, one whose
    trip does, whatever the number of stages."""
    whole_tile = draw.randrange(8) == 0
    while True:
        target = draw.choice(sorted(LIMITS))
        element = draw.choice(sorted(BYTES))
        m, n, k = (draw.choice((16, 32, 48, 64, 96, 100, 128, 256)) for _ in range(3))
        stages = draw.randint(2, 8)
        warps = draw.choice((4, 8))
        buffers = stages * (m * k + k * n) * BYTES[element]
        if whole_tile:
            if 0.8 <= m * k * BYTES[element] / LIMITS[target] <= 1.4 and m * n <= 128 * 256:
                return target, element, (m, n, k), "gather", stages, warps
        elif m * n <= 128 * 256 and 0.8 <= buffers / LIMITS[target] <= 1.2:
            return target, element, (m, n, k), draw.choice(KINDS), stages, warps


def compile_case(nereid, case, stages):
    """Bytes of shared memory, and whether there are so many."""
    target, element, (m, n, k), kind, _, warps = case
    signature = f'*{element}:16,*{element}:16,*{element}:16,i32:16,{m},{n},{k},"{kind}"'
    command = [nereid, "compile", f"{KERNEL}:crowded", "--signature", signature, "--num-warps", str(warps),
               "--num-stages", str(stages), "--target", target]
    tiles = subprocess.run([*command, "--emit", "tilegpu"], capture_output=True, text=True)
    run = subprocess.run([*command, "--emit", "ptx"], capture_output=True, text=True)
    refused = REFUSED.search(run.stderr)
    if run.returncode and not refused:
        sys.exit(f"{case}: {run.stderr.strip()}")
    taken = TAKES.search(tiles.stdout)
    if tiles.returncode or not taken:
        sys.exit(f"{case}: the tiles do not say what they take\n{tiles.stderr.strip()}")
    return int(taken.group(1)), refused is None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nereid")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    failures, refusals, near = [], 0, 0
    for _ in range(options.count):
        case = crowded_case(generator)
        limit = LIMITS[case[0]]
        taken, fits = compile_case(options.nereid, case, case[4])
        near += 0.8 * limit <= taken <= limit
        if fits != (taken <= limit):
            failures.append(f"{case}: takes {taken} of {limit} bytes, {'compiled' if fits else 'refused'}")
        if not fits:
            refusals += 1
            taken, fits = compile_case(options.nereid, case, 1)
            if fits:
                failures.append(f"{case}: refused, but takes {taken} of {limit} bytes with one stage")
    for failure in failures:
        print(failure)
    print(f"{options.count} loops: {near} take at least 80 % of what there is, {refusals} are refused, "
          f"{len(failures)} of them failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
