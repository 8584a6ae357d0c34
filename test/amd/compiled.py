#!/usr/bin/env python3
"""Every kernel of the project, compiled and linked for AMD's five architectures: the
operators (kernels/*/cases.txt), those of test/gpu/assemble.py, the ladder, the
lessons, what lit tests compile, and the public kernels of test/corpus where they are. A kernel that spills more than its form for
NVIDIA stands in docs/amd/Spills.md, with the most registers and the reason.

    test/amd/compiled.py NEREID                      every ninth kernel, each for one architecture
    test/amd/compiled.py NEREID --all [TARGET...]    every kernel for each
    test/amd/compiled.py NEREID --all --part 2/5     the second fifth of that
    test/amd/compiled.py NEREID --all --table        prints the page's rows

Exit status 0 or 1; 77 without NumPy. Spills of NVIDIA's form need ptxas; where there
is none, every spill has to be in the page.
"""

import ast
import collections
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ladder
import rungs

import amd_assemble  # noqa: E402  (ladder puts test/gpu into the path)
from check_sass import find_tool  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/amd/Spills.md"
TARGETS = amd_assemble.ARCHITECTURES
PEER = "sm_90a"
# What a kernel says that no GPU has, or no AMD one yet.
REFUSED = re.compile(r"no matrix instructions of that size|bytes of shared memory for a block|device_print|inline_asm|PTX|asm_volatile|not on AMD|"
                     r"expected a GPU of NVIDIA")
SIZES = {"BLOCK": 128, "BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "D": 64, "N": 1024}
CASES_OF_A_RUNG = 4
FRACTIONS = {"eps", "scale", "factor"}


def lessons():
    """Floats in aligned arrays, and blocks as the lessons launch them."""
    for path in sorted((ROOT / "tutorials").glob("*/*.py")):
        for one in ast.parse(path.read_text()).body:
            if isinstance(one, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in one.decorator_list):
                sizes = SIZES | ({"BLOCK": 32, "BLOCK_M": 64, "BLOCK_N": 64} if any(a.arg == "D" for a in one.args.args) else {})
                words = [str(sizes.get(a.arg, 128)) if a.annotation else "*fp32:16" if a.arg.endswith("_ptr")
                         else "fp32" if a.arg in FRACTIONS else "i32" for a in one.args.args]
                yield str(path.relative_to(ROOT)), one.name, ",".join(words), 4, ()


def lit():
    """What `RUN: nereid compile FILE:KERNEL` lines compile for a GPU; blocks for a CPU have up to a million elements."""
    found = {}
    for path in sorted([*ROOT.glob("nereid/**/test/*.py"), *ROOT.glob("test/**/*.py"), *ROOT.glob("tools/**/test/*.py")]):
        for line in re.findall(r"# RUN: nereid compile (.*)", re.sub(r"\\\n# RUN:", "", path.read_text())):
            if "--signature" not in line or "%s" not in line.split(" ")[0] or "%{" in line \
                    or not re.search(r"--target (sm_|gfx)", line):
                continue
            words = shlex.split(re.split(r" \| | 2>| && ", line)[0])
            kernel = words[0].partition(":")[2] or re.search(r"@triton.jit\s+def (\w+)", path.read_text()).group(1)
            warps = int(words[words.index("--num-warps") + 1]) if "--num-warps" in words else 4
            extra = tuple(word for at, word in enumerate(words) if "--bind" in (word, words[at - 1]))
            one = (str(path.relative_to(ROOT)), kernel, words[words.index("--signature") + 1], warps, extra)
            found[one] = None
    return list(found)


def kernels(np):
    """file, kernel, signature, warps of 32 lanes, other words of the command; each once."""
    found = {(*case[:4], ()): None for case in amd_assemble.CASES}
    ladder_file = str(Path(ladder.amd_emulator.KERNELS).relative_to(ROOT))
    for case in ladder.cases(np):
        found[ladder_file, case[0], ladder.signature_of(case), 4, ()] = None
    found |= dict.fromkeys(lessons()) | dict.fromkeys(lit())
    for launch in rungs.launches(CASES_OF_A_RUNG):
        found[str(launch.file.relative_to(ROOT)), launch.kernel, launch.signature, 4, ()] = None
    return list(found)


def spills(nereid, folder, one, target):
    """Registers that a thread of the form for `target` spills; or why there is none."""
    file, kernel, signature, warps, extra = one
    waves = max(1, warps // 2) if target.startswith("gfx9") else warps
    path = f"{folder}/{abs(hash(one))}-{target}"
    is_peer = target.startswith("sm_")
    run = subprocess.run([nereid, "compile", f"{ROOT}/{file}:{kernel}", "--signature", signature, "--num-warps", str(waves), *extra,
                          "--target", target, "--emit", "ptx" if is_peer else "hsaco", "-v", "-o", path], capture_output=True, text=True)
    if run.returncode not in (0, 1, 2):  # docs/EXIT-STATUSES.md
        sys.exit(f"error: '{' '.join(map(str, run.args))}' ends with status {run.returncode}: {run.stderr.strip()}")
    if run.returncode:
        return run.stderr.strip()
    if not is_peer:
        said = re.search(r"VGPRs.*?(\d+) and (\d+) spilled", run.stderr)
        return int(said.group(1)) if said else f"no registers are told: {run.stderr[-200:]}"
    ptxas = find_tool("ptxas")
    if not ptxas:
        return 0
    text = subprocess.run([ptxas, f"-arch={target}", "-v", path, "-o", f"{path}.cubin"], capture_output=True, text=True).stderr
    said = re.search(r"(\d+) bytes spill stores", text)
    return int(said.group(1)) // 4 if said else 0


def look(nereid, folder, one, target):
    """A failure, a refusal, or a row of the table; or nothing."""
    file, kernel, signature, _, _ = one
    what = f"{kernel}({signature}) {target}"
    ours = spills(nereid, folder, one, target)
    if isinstance(ours, str):
        theirs = spills(nereid, folder, one, PEER)
        is_refused = REFUSED.search(ours) or isinstance(theirs, str)
        last = ours.splitlines()[-1] if ours else "no message"
        return ("refused" if is_refused else "failed"), f"{what}: {last if is_refused else ours[-600:]}"
    if not ours:
        return None
    theirs = spills(nereid, folder, one, PEER)
    theirs = 0 if isinstance(theirs, str) else theirs
    return ("spilled", (file, kernel, signature, target, ours, theirs)) if ours > theirs else None


def known():
    """{(file:kernel, target): the most registers that it may spill}"""
    found = {}
    for line in PAGE.read_text().splitlines():
        words = [word.strip() for word in line.split("|")[1:-1]]
        if line.startswith("| `"):
            found |= {(words[0].strip("`"), target): int(count or 0) for target, count in zip(TARGETS, words[1:])}
    return found


def main():
    nereid, *options = sys.argv[1:]
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    targets = [one for one in options if one in TARGETS] or list(TARGETS)
    found = kernels(np)[::-1]  # the small ones first
    work = [(one, target) for one in found for target in targets] if "--all" in options else \
        [(one, TARGETS[i % len(TARGETS)]) for i, one in enumerate(found[::9])]
    work = rungs.part_of(work, options)
    allowed = known()
    most = collections.Counter()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for kind, what in filter(None, pool.map(lambda one: look(nereid, folder, *one), work)):
            counts[kind] += 1
            if kind != "spilled":
                print(f"{kind}: {what}", flush=True)
                continue
            file, kernel, signature, target, ours, theirs = what
            key = (f"{file}:{kernel}", target)
            most[key] = max(most[key], ours)
            if "--table" not in options and ours > allowed.get(key, 0):
                counts["failed"] += 1
                print(f"failed: {file}:{kernel}({signature}) for {target} spills {ours} registers, for {PEER} {theirs}; {PAGE.name} "
                      f"says {allowed.get(key, 'nothing')}", flush=True)
    if "--table" in options:
        for name in sorted({name for name, _ in most}):
            print(f"| `{name}` | " + " | ".join(str(most[name, target] or "") for target in TARGETS) + " | |")
    print(f"{len(work)} code objects of {len(found)} kernels, {counts['refused']} refused, {counts['spilled']} spill more than for {PEER}, "
          f"{counts['failed']} failed")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
