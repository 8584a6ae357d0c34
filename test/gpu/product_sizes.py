#!/usr/bin/env python3
"""Products of any size run on matrix instructions.

    product_sizes.py NEREID                     their code, for several GPUs; needs none
    product_sizes.py NEREID --device cuda:0     also what they compute, and how fast

Most sizes are no powers of two, M goes from 1 to 15, and every type of operand
takes part. Of each the code must multiply by matrix instructions alone, and
assemble where there is ptxas; loops of 96x96x96 and more without spilled
registers on sm_90a. On a device every result is compared with the reference
executor, and these loops must be 5 times as fast as with
NEREID_DISABLE=matrix-instructions. Exit status 0 or 1; 77 without the device.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_sass import find_tool

SOURCE = Path(__file__).resolve().parent / "products.py"
# Operands: result, generator of values, the first architecture with an instruction.
TYPES = {"fp16": ("fp32", "randn", 80), "bf16": ("fp32", "randn", 80), "fp32": ("fp32", "randn", 80),
         "fp64": ("fp64", "randn", 80), "i8": ("i32", "randint:-9:9", 80), "fp8e5": ("fp32", "randn", 89),
         "fp8e4nv": ("fp32", "randn", 89)}
OF_DESK = {"sm_89", "sm_120a"}  # their matrix instructions of fp64 are as slow as their lanes
ARCHITECTURES = {"sm_80": 80, "sm_89": 89, "sm_90a": 90, "sm_120a": 120}
# batch (0: none), M, N, K, operands, warps
CASES = [
    *((0, m, 64, 64, "fp16" if m % 2 else "bf16", 4) for m in range(1, 16)),
    (0, 96, 64, 48, "fp16", 4), (0, 96, 64, 48, "bf16", 8), (0, 48, 24, 40, "fp8e5", 4), (0, 80, 72, 56, "fp8e4nv", 4),
    (0, 17, 33, 65, "fp16", 4), (0, 100, 100, 100, "fp16", 8), (0, 5, 7, 33, "i8", 1), (0, 13, 20, 36, "fp64", 4),
    (0, 33, 9, 12, "fp32", 2), (0, 1, 128, 128, "fp32", 4), (0, 16, 3, 24, "bf16", 4), (0, 8, 8, 8, "fp64", 1),
    (0, 192, 96, 32, "fp16", 8), (0, 129, 40, 17, "bf16", 4), (3, 24, 40, 24, "fp16", 4), (4, 16, 16, 16, "bf16", 4),
    (2, 64, 64, 32, "fp32", 8), (5, 7, 9, 40, "i8", 4), (7, 1, 16, 64, "fp16", 4), (2, 20, 12, 6, "fp64", 2),
    *((0, 96, 96, 96, operands, 4) for operands in TYPES),
    *((0, 160, 96, 112, operands, 8) for operands in ("fp16", "bf16", "i8", "fp8e5")),
    (0, 128, 96, 96, "fp32", 4), (0, 128, 96, 96, "fp32", 8), (0, 128, 96, 96, "fp64", 8),
    *((0, 100, 100, 100, operands, 4) for operands in ("fp32", "i8")),
    (2, 96, 96, 96, "fp16", 8),
]
SCALAR = (0, 16, 16, 1, "fp16", 4)  # half of an operand's register
FASTER = 5
WITHOUT_SPILLS = "sm_90a"


def name(case):
    batch, m, n, k, operands, warps = case
    return f"{operands} {f'{batch}x' if batch else ''}{m}x{n}x{k} on {warps} warps"


def sizes(case):
    batch, m, n, k, _, _ = case
    return ([("B", batch)] if batch else []) + [("M", m), ("N", n), ("K", k)]


def is_large(case):
    return min(case[1:4]) >= 96


def compiled(nereid, case, target, folder):
    """Lines of PTX that multiply: on matrix instructions, on lanes; what is wrong with it; what there is to say."""
    operands, warps = case[4:]
    out = Path(folder) / f"{name(case).replace(' ', '_')}.{target}.ptx"
    signature = f"*{operands}:16,*{operands}:16,*{TYPES[operands][0]}:16,i32,i32," + ",".join(str(size) for _, size in sizes(case))
    subprocess.run([nereid, "compile", f"{SOURCE}:{'batch' if case[0] else 'product'}", "--signature", signature, "--target", target,
                    "--emit", "ptx", "--num-warps", str(warps), "-o", out], check=True)
    ptx = out.read_text()
    matrix = len(re.findall(r"\b(?:mma\.sync|wgmma\.mma_async)", ptx))
    lanes = len(re.findall(r"\bfma\.rn\.f(?:32|64)\b", ptx))
    ptxas = find_tool("ptxas")
    if not ptxas:
        return matrix, lanes, "", ""
    done = subprocess.run([ptxas, f"-arch={target}", "-v", out, "-o", out.with_suffix(".cubin")], capture_output=True, text=True)
    if done.returncode:  # perhaps an assembler older than the chip
        return matrix, lanes, "" if "is not defined for option" in done.stderr else done.stderr, ""
    spilled = re.search(r"(\d+) bytes spill stores", done.stderr)
    registers = re.search(r"Used (\d+) registers", done.stderr)
    if is_large(case) and target == WITHOUT_SPILLS:
        problem = f"and {spilled.group(1)} bytes of spilled registers; expected none" if int(spilled.group(1)) else ""
        return matrix, lanes, problem, f"{name(case):36} {registers.group(1)} registers, {spilled.group(1)} bytes spilled"
    return matrix, lanes, "", ""


def launch(nereid, case, device, steps, held, programs, *options, disable=""):
    operands, warps = case[4:]
    result, values, _ = TYPES[operands]
    lead = f"{case[0]}," if case[0] else ""
    _, m, n, k = case[:4]
    command = [nereid, "run", f"{SOURCE}:{'batch' if case[0] else 'product'}", f"a_ptr={values}:{operands}[{held},{lead}{m},{k}]",
               f"b_ptr={values}:{operands}[{held},{lead}{k},{n}]", f"c_ptr=zeros:{result}[{programs},{lead}{m},{n}]", f"n={steps}", f"held={held}",
               *(f"{key}={size}" for key, size in sizes(case)), f"num_warps={warps}", "--grid", str(programs), "--device", device, *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NEREID_DISABLE": disable})
    return done.returncode, done.stdout + done.stderr


def milliseconds(nereid, case, device, disable=""):
    status, text = launch(nereid, case, device, 512, 4, 1056, "--time", "--repeat", "10", disable=disable)
    found = re.search(r"median ([\d.e+-]+) ms", text)
    if status or not found:
        raise SystemExit(f"{name(case)}: {text}")
    return float(found.group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nereid")
    parser.add_argument("--device")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        work = [(case, target) for case in [*CASES, SCALAR] for target, generation in ARCHITECTURES.items()
                if generation >= TYPES[case[4]][2] and not (case[4] == "fp64" and target in OF_DESK)]
        for (case, target), (matrix, lanes, problem, remark) in zip(
                work, pool.map(lambda one: compiled(options.nereid, *one, folder), work)):
            if remark:
                print(remark)
            if (matrix == 0 or lanes) != (case is SCALAR) or problem:
                failures.append(f"{name(case)} for {target}: {matrix} matrix instructions, {lanes} on lanes {problem}")
    print(f"{len(CASES)} products, {sum(any(size & (size - 1) for _, size in sizes(case)) for case in CASES)} of sizes "
          f"that are no powers of two: code for {', '.join(ARCHITECTURES)}")
    if options.device:
        with ThreadPoolExecutor(8) as pool:
            checks = list(pool.map(lambda case: launch(options.nereid, case, options.device, 5, 3, 2, "--check"), [*CASES, SCALAR]))
        for case, (status, text) in zip([*CASES, SCALAR], checks):
            if status == 0:
                continue
            if "no NVIDIA driver" in text or "has no cuda devices" in text:
                print("skipped: no GPU here")
                sys.exit(77)
            failures.append(f"{name(case)}: {text}")
        for case in CASES:
            if is_large(case):
                own, lanes = (milliseconds(options.nereid, case, options.device, off) for off in ("", "matrix-instructions"))
                print(f"{name(case):36} {own:8.3f} ms, on lanes {lanes:8.3f} ms: {lanes / own:5.1f} times as fast")
                if lanes < FASTER * own:
                    failures.append(f"{name(case)}: {lanes / own:.1f} times as fast as on lanes; expected {FASTER}")
    print("\n".join(failures) if failures else "every product within bounds")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
