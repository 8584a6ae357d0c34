#!/usr/bin/env python3
"""Compiles the kernels of the tests for every architecture that is simulated, and
looks whether the simulator knows each instruction.

    test/gpu/simulated_instructions.py NEREID NEREID_FUZZ         each kernel for one of them, in turn
    test/gpu/simulated_instructions.py NEREID NEREID_FUZZ --all   for all

Exit status: 0, or 1 with a line for each PTX that cannot be run.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assemble import CASES, ROOT


def architectures(nereid):
    """What the compiler names in its message, but for sm_70, whose instructions are not simulated."""
    run = subprocess.run([nereid, "compile", f"{ROOT}/tutorials/01_vector_add/vector_add.py:add_kernel", "--signature",
                          "*fp32,*fp32,*fp32,i32,1024", "--target", "sm_1", "--emit", "ptx"], capture_output=True, text=True)
    names = re.findall(r"sm_\d+a?", run.stderr.split("expected one of")[1])
    return [name for name in names if name != "sm_70"]


def main():
    nereid, fuzz = sys.argv[1:3]
    names = architectures(nereid)
    count = len(names) if "--all" in sys.argv else 1
    wanted = [(case, names[(number * count + i) % len(names)]) for number, case in enumerate(CASES) for i in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        def compile_one(number):
            (file, kernel, signature, warps, _), architecture = wanted[number]
            path = f"{folder}/{number}-{kernel}-{architecture}.ptx"
            run = subprocess.run([nereid, "compile", f"{ROOT}/{file}:{kernel}", "--signature", signature, "--num-warps",
                                  str(warps), "--target", architecture, "--emit", "ptx", "-o", path],
                                 capture_output=True, text=True)
            if run.returncode:
                return f"{kernel}({signature}) {architecture}: {run.stderr.strip()}\n"
            run = subprocess.run([fuzz, "--decode", path], capture_output=True, text=True)
            return run.stdout if run.returncode == 1 else run.stdout + run.stderr

        with ThreadPoolExecutor(2) as pool:
            wrong = [text for text in pool.map(compile_one, range(len(wanted))) if text.strip()]
    print("".join(wrong) + f"{len(wanted)} compilations for {len(names)} architectures, {len(wrong)} cannot be simulated")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
