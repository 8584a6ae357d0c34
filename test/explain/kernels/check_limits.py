#!/usr/bin/env python3
"""No predicted time is below the chip's own limit: products, sums of floats and copies, from one program to full grids.

    check_limits.py NEREID          every launch on two chips, each chip in its turn
    check_limits.py NEREID --all    every launch on a chip of each architecture; on the others every tenth

The limits are counted by hand from the launch's sizes, with the public figures of the chips, and not with what explain counts
or has in its table. A multiprocessor does its share of the chip's rate, and one of them has ceil(programs / multiprocessors).
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from pathlib import Path

FILE = Path(__file__).resolve().parent / "limits.py"


@dataclass
class Chip:
    """Multiprocessors; TFLOP/s of fp16 products (where Nereid has matrix instructions), of fp32 by threads; GB/s."""
    multiprocessors: int
    products: float
    floats: float
    memory: float


CHIPS = {
    "t4": Chip(40, 65, 8.1, 320), "a100": Chip(108, 312, 19.5, 2039), "l40s": Chip(142, 362, 91.6, 864),
    "rtx4090": Chip(128, 165, 82.6, 1008), "h200": Chip(132, 989, 66.9, 4800), "b200": Chip(148, 2250, 70, 8000),
    "h100": Chip(132, 989, 66.9, 3350), "h100-pcie": Chip(114, 756, 51, 2000), "gh200": Chip(132, 989, 66.9, 4000),
    "a100-40": Chip(108, 312, 19.5, 1555), "l4": Chip(58, 121, 30.3, 300), "a10": Chip(72, 125, 31.2, 600),
    "rtx3090": Chip(82, 71, 35.6, 936), "b300": Chip(148, 2250, 72, 8000), "rtx5090": Chip(170, 210, 104.8, 1792)
}
# One of each architecture.
ALL = ("t4", "a100", "l40s", "h200", "b200")


@dataclass
class Launch:
    kernel: str
    arguments: str
    grid: str
    programs: int
    products: float = 0  # operations
    floats: float = 0
    bytes: float = 0

    def limit_us(self, chip):
        busiest = ceil(self.programs / chip.multiprocessors) / self.programs * chip.multiprocessors
        return max(self.products / (chip.products * 1e6) * busiest, self.floats / (chip.floats * 1e6) * busiest,
                   self.bytes / (chip.memory * 1e3))


def product(m, n, k, block, warps):
    arguments = (f"a_ptr=zeros:f16[{m},{k}] b_ptr=zeros:f16[{k},{n}] c_ptr=zeros:f32[{m},{n}] N={n} K={k} "
                 f"BM={block} BN={block} BK=32 num_warps={warps}")
    return Launch("product", arguments, f"{m // block},{n // block}", m // block * (n // block), products=2 * m * n * k,
                  bytes=2 * (m * k + k * n) + 4 * m * n)


def sums(programs, steps):
    count = programs * 1024
    return Launch("sums", f"y_ptr=zeros:f32[{count}] STEPS={steps} BLOCK=1024", str(programs), programs,
                  floats=2 * count * steps, bytes=4 * count)


def copy(programs):
    count = programs * 4096
    return Launch("copy", f"y_ptr=zeros:f32[{count}] x_ptr=zeros:f32[{count}] BLOCK=4096", str(programs), programs,
                  bytes=8 * count)


LAUNCHES = [
    product(128, 128, 2048, 128, 8), product(128, 128, 512, 128, 4), product(64, 64, 1024, 64, 4),
    product(128, 256, 1024, 128, 8), product(256, 256, 512, 64, 4), product(512, 512, 256, 64, 4),
    product(640, 512, 256, 64, 4), product(1024, 512, 128, 64, 4), product(1024, 1024, 64, 128, 8),
    product(1408, 1280, 64, 128, 8), product(2048, 1024, 64, 128, 8),
    sums(1, 512), sums(2, 512), sums(7, 256), sums(39, 256), sums(40, 256), sums(41, 256), sums(100, 128), sums(131, 128),
    sums(132, 128), sums(133, 128), sums(149, 128), sums(300, 64), sums(1000, 32), sums(2048, 32),
    copy(1), copy(3), copy(30), copy(60), copy(128), copy(200), copy(500), copy(1000), copy(2000)
]


def explain(nereid, launch, chip):
    command = [nereid, "explain", f"{FILE}:{launch.kernel}", *launch.arguments.split(), "--grid", launch.grid, "--chip", chip,
               "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NEREID_PTXAS": "none"})
    if done.returncode:
        return f"{' '.join(command)}\n{done.stderr}"
    report, limit = json.loads(done.stdout), launch.limit_us(CHIPS[chip])
    if report["predicted_us"] < limit:
        return f"{launch.kernel} {launch.arguments} on {launch.grid}: {report['predicted_us']:.3g} us of {limit:.3g} on {chip}"
    return None


def main():
    nereid = sys.argv[1]
    assert len(LAUNCHES) >= 30
    is_all = "--all" in sys.argv[2:]
    others = [chip for chip in CHIPS if chip not in ALL]

    def is_wanted(i, chip):
        if is_all:
            return chip in ALL or (i + list(CHIPS).index(chip)) % 10 == 0
        return chip in (ALL[i % len(ALL)], others[i % len(others)])

    work = [(launch, chip) for i, launch in enumerate(LAUNCHES) for chip in CHIPS if is_wanted(i, chip)]
    with ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(lambda pair: explain(nereid, *pair), work) if text]
    print("\n".join(wrong) or f"{len(work)} predicted times, none below the chip's own limit")
    sys.exit(bool(wrong))


main()
