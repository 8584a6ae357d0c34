#!/usr/bin/env python3
"""Compiles the project's kernels (those of assemble.py) to code objects for AMD's
architectures: LLVM makes the machine code, lld links it, and the metadata must be
read back. Spills of kernels that are bound by memory are reported: products take no
matrix instructions yet, and keep their tiles in registers.

    test/gpu/amd_assemble.py NEREID          every fourth kernel, for one of CDNA and one of RDNA
    test/gpu/amd_assemble.py NEREID --all    every kernel for every architecture

Exit status 0 or 1.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import assemble

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
FAMILIES = ("gfx942", "gfx1100")
# Registers that a thread asks for are another vendor's word (minnreg).
CASES = [case for case in assemble.CASES if "minnreg" not in case[2]]


def look(nereid, folder, case, architecture):
    """A failure, or what is to be reported of the kernel; one of the two, or neither."""
    file, kernel, signature, warps, memory_bound = case
    waves = max(1, warps // 2) if architecture.startswith("gfx9") else warps
    what = f"{kernel}({signature}) num_warps={waves} {architecture}"
    run = subprocess.run([nereid, "compile", f"{ROOT}/{file}:{kernel}", "--signature", signature, "--num-warps", str(waves),
                          "--target", architecture, "--emit", "hsaco", "-v", "-o", f"{folder}/{CASES.index(case)}-{architecture}"],
                         capture_output=True, text=True)
    if run.returncode:
        is_too_large = re.search(r"bytes of shared memory for a block", run.stderr)
        last = run.stderr.strip().splitlines()[-1:] or ["no message"]
        return (None, f"{what}: {last[0]}") if is_too_large else (f"{what}: {run.stderr.strip()[-600:]}", None)
    said = re.search(r"(\d+) VGPRs.*?(\d+) and (\d+) spilled", run.stderr)
    if not said:
        return f"{what}: no registers are told: {run.stderr.strip()[-300:]}", None
    if memory_bound and int(said.group(2)):
        return None, f"{what}: {said.group(2)} registers spilled"
    return None, None


def main():
    nereid = sys.argv[1]
    is_all = "--all" in sys.argv[2:]
    architectures, cases = (ARCHITECTURES, CASES) if is_all else (FAMILIES, CASES[::4])
    work = [(case, architecture) for case in cases for architecture in architectures]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: look(nereid, folder, *one), work))
    failures = [failure for failure, _ in found if failure]
    told = [reason for _, reason in found if reason]
    for line in failures:
        print(line)
    for line in told:
        print("note:", line)
    print(f"{len(cases)} kernels for {len(architectures)} architectures: {len(work) - len(failures)} compiled, "
          f"{len(told)} of them with a note, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
