#!/usr/bin/env python3
"""Products of any size run on AMD's matrix instructions. Each product of
product_sizes.py must multiply by V_MFMA or V_WMMA alone, as many as its padded
blocks are. Spilled registers are reported.

    amd_product_sizes.py NEREID          every third product, for one of CDNA and both of RDNA
    amd_product_sizes.py NEREID --all    every product for every architecture

Exit status 0 or 1.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from product_sizes import CASES, SCALAR, SOURCE, TYPES, name, sizes

ALL = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
FAMILIES = ("gfx942", "gfx1100", "gfx1201")
# Elements along K of an instruction of 16 x 16 sums (docs/amd/TargetAMDGPU.md); absent: on lanes.
HALVES = {"gfx90a": 16, "gfx942": 16, "gfx950": 32, "gfx1100": 16, "gfx1201": 16}
CDNA = ("gfx90a", "gfx942", "gfx950")
DEPTHS = {
    "fp16": HALVES, "bf16": HALVES,
    "i8": {"gfx90a": 16, "gfx942": 32, "gfx950": 64, "gfx1100": 16, "gfx1201": 16},
    "fp8e5": HALVES, "fp8e4nv": HALVES,
    # The language reads float32 as tf32 where a product does not say otherwise.
    "fp32": {"gfx90a": 4, "gfx942": 8, "gfx950": 4},
    "fp64": dict.fromkeys(CDNA, 4),
}


def waves_of(case, target):
    return max(1, case[5] // 2) if target in CDNA else case[5]


def code_of(nereid, case, target, folder):
    operands = case[4]
    out = Path(folder) / f"{name(case).replace(' ', '_')}.{target}.s"
    signature = f"*{operands}:16,*{operands}:16,*{TYPES[operands][0]}:16,i32,i32," + ",".join(str(size) for _, size in sizes(case))
    done = subprocess.run([nereid, "compile", f"{SOURCE}:{'batch' if case[0] else 'product'}", "--signature", signature, "--target", target,
                           "--emit", "amdgcn", "--num-warps", str(waves_of(case, target)), "-o", out], capture_output=True, text=True)
    return out.read_text() if done.returncode == 0 else None, done.stderr


def up(size, to):
    return -(-size // to)


def look(nereid, case, target, folder):
    """What is wrong with it, and what there is to report; one of the two, or neither."""
    batch, m, n, k, operands, _ = case
    depth = DEPTHS[operands].get(target)
    text, error = code_of(nereid, case, target, folder)
    if text is None:
        is_too_large = not depth and "bytes of shared memory for a block" in error
        return ("", "too large for products on lanes") if is_too_large else (error.strip()[-300:], "")
    matrix = len(re.findall(r"\bv_(?:mfma|wmma)_", text))
    lanes = len(re.findall(r"\bv_(?:pk_)?(?:fma|fmac|mad_u32_u24|mad_i32_i24|dot)_?\w*(?:f32|f64|i24)\b", text))
    if case is SCALAR or not depth:
        return f"{matrix} matrix instructions; expected none" if matrix else "", ""
    # Of a wave: at least its share of the blocks, at most all of them, in the loop's body or in copies of it.
    blocks = (batch or 1) * up(m, 16) * up(n, 16) * up(k, depth)
    least = up(blocks, waves_of(case, target))
    if not least <= matrix <= 2 * blocks:
        return f"{matrix} matrix instructions; expected {least} to {2 * blocks}", ""
    if lanes:
        return f"{lanes} multiplications on lanes beside {matrix} matrix instructions", ""
    spilled = sum(map(int, re.findall(r"\.[sv]gpr_spill_count:\s*(\d+)", text)))
    return "", f"{spilled} registers spilled" if spilled else ""


def main():
    nereid = sys.argv[1]
    is_all = "--all" in sys.argv[2:]
    cases, targets = ([*CASES, SCALAR], ALL) if is_all else ([*CASES[::3], SCALAR], FAMILIES)
    work = [(case, target) for case in cases for target in targets]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: look(nereid, *one, folder), work))
    failures = [f"{name(case)} for {target}: {problem}" for (case, target), (problem, _) in zip(work, found) if problem]
    for (case, target), (_, remark) in zip(work, found):
        if remark:
            print(f"note: {name(case)} for {target}: {remark}")
    print("\n".join(failures) if failures else "every product on matrix instructions")
    print(f"{len(cases)} products for {len(targets)} architectures, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
