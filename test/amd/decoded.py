#!/usr/bin/env python3
"""The decoder of the simulated AMD GPU against LLVM's disassembler, over every
instruction of the code objects of the project's kernels (those of
test/gpu/assemble.py): the same addresses, sizes and text.

    test/amd/decoded.py NEREID NEREID_AMD_RUN                         every twelfth kernel
    test/amd/decoded.py NEREID NEREID_AMD_RUN --all [--random FUZZ COUNT]    every kernel, for every architecture
    test/amd/decoded.py NEREID NEREID_AMD_RUN --all --part 2/5 ...           every fifth of them, from the second on

--all takes those that emulated.py runs as well: the ladder, the public kernels of
test/corpus, and random kernels of FUZZ, which is nereid-source-fuzz.

Exit status 0 or 1; 77 where llvm-objdump is not there.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))

import amd_assemble  # noqa: E402

import random_kernels  # noqa: E402
import rungs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("gfx942", "gfx1100", "gfx1201")
EVERY = 100  # cases of a public kernel
# Hints for the processor, whose numbers LLVM prints as words.
HINTS = ("s_delay_alu", "s_waitcnt_depctr", "s_wait_alu", "s_sendmsg", "s_getreg_b32", "s_setreg")
PLACE = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)")


def plain(text):
    if text.startswith(HINTS):
        return text.split(" ")[0]
    if text.startswith(("v_fmamk_f16", "v_fmaak_f16")):  # LLVM extends the sign of a literal
        text = re.sub(r"0xffff([0-9a-f]{4})", r"0x\1", text)
    return re.sub(r" offset:swizzle\(.*\)", "", re.sub(r"(ds_swizzle_b32.*) offset:\d+", r"\1", text))


def theirs(objdump, path, target):
    run = subprocess.run([objdump, "-d", f"--mcpu={target}", path], capture_output=True, text=True, check=True)
    lines = {}
    for line in run.stdout.splitlines():
        found = PLACE.match(line)
        if found:
            lines[int(found.group(2), 16)] = (4 * len(found.group(3).split()), plain(found.group(1)))
    return lines


def ours(simulator, path):
    run = subprocess.run([simulator, "decode", path], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    lines = {}
    for line in run.stdout.splitlines():
        address, size, text = line.split(" ", 2)
        lines[int(address, 16)] = (int(size), plain(text))
    return lines


def compare(nereid, simulator, objdump, folder, case, target):
    """Instructions, and differences."""
    number, file, kernel, signature, waves = case
    path = f"{folder}/{number}-{target}.hsaco"
    run = subprocess.run([nereid, "compile", f"{file}:{kernel}", "--signature", signature, "--num-warps", str(waves),
                          "--target", target, "--emit", "hsaco", "-o", path], capture_output=True, text=True)
    if run.returncode:
        return 0, []  # more LDS than the chip has: test/gpu/amd_assemble.py tells
    them, us = theirs(objdump, path, target), ours(simulator, path)
    Path(path).unlink()
    if isinstance(us, str):
        return len(them), [f"{kernel} {us}"]
    return len(them), [f"{kernel} {target} {at:#x}: LLVM has {them.get(at)}, the decoder {us.get(at)}"
                       for at in sorted(them.keys() | us.keys())
                       if them.get(at) != us.get(at)]


def of_project(cases):
    """Of CDNA half as many waves."""
    for file, kernel, signature, warps, _ in cases:
        yield f"{ROOT}/{file}", kernel, signature, {target: max(1, warps // 2) if target.startswith("gfx9") else warps for target in TARGETS}


def emulated(folder, options):
    """What emulated.py runs."""
    try:
        import numpy as np
    except ImportError:
        return
    import ladder
    for case in ladder.cases(np):
        for waves in (1, 2, 4):
            yield ladder.amd_emulator.KERNELS, case[0], ladder.signature_of(case), dict.fromkeys(TARGETS, waves)
    launches = list(rungs.launches(EVERY))
    if "--random" in options:
        fuzz, count = options[options.index("--random") + 1:][:2]
        launches += random_kernels.make(fuzz, folder, int(count), 1)
    for i, launch in enumerate(launches):
        yield launch.file, launch.kernel, launch.signature, dict.fromkeys(TARGETS, (1, 4, 8)[i % 3])


def main():
    nereid, simulator = sys.argv[1:3]
    objdump = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
    if not objdump:
        print("skipped: no llvm-objdump")
        sys.exit(77)
    is_all = "--all" in sys.argv
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        cases = [*of_project(amd_assemble.CASES), *emulated(folder, sys.argv)] if is_all else of_project(amd_assemble.CASES[::12])
        cases = rungs.part_of(enumerate(cases), sys.argv)
        work = [((i, *case, waves[target]), target) for i, (*case, waves) in cases for target in TARGETS]
        found = list(pool.map(lambda one: compare(nereid, simulator, objdump, folder, *one), work))
    differences = [line for _, lines in found for line in lines]
    for line in differences[:40]:
        print(line)
    print(f"{len(work)} code objects, {sum(count for count, _ in found)} instructions, {len(differences)} differences")
    sys.exit(1 if differences else 0)


main()
