#!/usr/bin/env python3
"""The simulated AMD GPU against tinygrad's emulator (test/mockgpu/amd of its
repository): the same code objects and arrays, the same bits of what is written. Where
they differ, by no more than what the kernel's approximate functions may be off.

    test/amd/emulated.py NEREID NEREID_AMD_RUN [--random FUZZ COUNT] [TARGET...]     gfx1100 and gfx942 without one

The kernels of the ladder on 1, 2 and 4 waves, and random ones of FUZZ, which is
nereid-source-fuzz. What the emulator has no instruction for is reported and does not
count, nor does what ends it with a signal (test/gpu/amd_emulator.py says what), nor
where the reference executor agrees with the simulator and not with the emulator.
NEREID_TINYGRAD names a checkout; exit status 77, with the reason, without one, or
without NumPy. The emulator calls `clang`.
"""

import collections
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import ladder
import random_kernels

amd_code = ladder.amd_emulator.amd_code
DEFAULT = ("gfx1100", "gfx942")
# Of random kernels, which chain a few approximate functions.
RELATIVE = 1e-5


class OfLadder:
    def __init__(self, np, tools, folder, case, target, waves):
        self.np, self.tools, self.folder, self.case, self.target, self.waves = np, tools, folder, case, target, waves
        self.name = f"{case[0]}{case[5]} for {target} on {waves} waves"
        self.allowed = case[-1]

    def theirs(self, run_asm):
        return ladder.amd_emulator.emulate(self.np, self.tools[0], self.folder, run_asm, self.case, self.target, self.waves)

    def ours(self):
        path = ladder.compile_case(self.tools[0], self.folder, self.case, self.target, self.waves)
        return ladder.launch(self.np, self.tools[1], self.folder, path, self.case, self.target, self.waves)

    def expected(self):
        return ladder.amd_emulator.reference(self.np, self.tools[0], self.folder, self.case)

    def difference(self, result, expected):
        return ladder.difference(self.np, result, expected)


class OfRandom:
    """What a launch writes is one array of bytes here, one parameter after the other."""
    allowed = RELATIVE

    def __init__(self, np, tools, folder, launch, target, waves):
        self.np, self.tools, self.folder, self.launch, self.target, self.waves = np, tools, folder, launch, target, waves
        self.name = f"{launch.name} for {target} on {waves} waves"
        self.path, self.refused = random_kernels.compile_launch(tools[0], folder, launch, target, waves)

    def joined(self, data):
        return self.np.frombuffer(b"".join(data[i] for i in self.launch.expected), self.np.uint8)

    def split(self, joined):
        found, at = {}, 0
        for i, data in self.launch.expected.items():
            found[i] = joined[at:at + len(data)].tobytes()
            at += len(data)
        return found

    def theirs(self, run_asm):
        arrays = [self.np.frombuffer(bytearray(one), self.np.uint8) if isinstance(one, bytes) else one for one in self.launch.values]
        values = [("i", one) if isinstance(one, int) else ("P", one.ctypes.data) for one in arrays]
        lanes = 64 if self.target.startswith("gfx9") else 32
        code = amd_code.CodeObject(Path(self.path).read_bytes(), self.launch.kernel)
        code.run(run_asm, self.target, tuple(self.launch.grid), self.waves * lanes, values)
        return self.joined({i: arrays[i].tobytes() for i in self.launch.expected})

    def ours(self):
        found = random_kernels.simulate(self.tools[1], self.folder, self.path, self.launch, self.target, self.waves)
        return found if isinstance(found, str) else self.joined(found)

    def expected(self):
        return self.joined(self.launch.expected)

    def difference(self, result, expected):
        return self.launch.difference(self.np, self.split(result), self.split(expected))


def emulate(path, one):
    try:
        result = one.theirs(amd_code.find_emulator())
    except Exception as error:  # of the emulator, whatever it raises
        result = one.np.array(f"{type(error).__name__}: {str(error)[:200]}")
    one.np.save(path, result)


def in_a_process(one):
    """The emulator's result, or why it gives none; it may end with a signal."""
    path = Path(one.folder) / "emulated.npy"
    path.unlink(missing_ok=True)
    process = multiprocessing.get_context("fork").Process(target=emulate, args=(path, one))
    process.start()
    process.join()
    if not path.exists():
        return f"ended with {process.exitcode}"
    result = one.np.load(path)
    return str(result) if result.dtype.kind == "U" else result


def judge(one):
    """The outcome, and its reason where it is not plain."""
    theirs = in_a_process(one)
    if isinstance(theirs, str):
        return "not emulated", theirs
    ours = one.ours()
    if isinstance(ours, str):
        return "failed", ours
    if ours.tobytes() == theirs.tobytes():
        return "the same bits", ""
    off = one.difference(ours, theirs)
    if off <= one.allowed:
        return "within what its functions are exact to", ""
    if one.difference(ours, one.expected()) <= one.allowed:
        return "the emulator alone is off", f"by {off}"
    return "failed", f"off by {off}, allowed {one.allowed}"


def jobs(np, tools, folder, targets, options):
    for case in ladder.cases(np):
        for target in targets:
            for waves in (1, 2, 4):
                yield OfLadder(np, tools, folder, case, target, waves)
    if "--random" in options:
        fuzz, count = options[options.index("--random") + 1:][:2]
        for i, launch in enumerate(random_kernels.make(fuzz, folder, int(count), 1)):
            for target in targets:
                one = OfRandom(np, tools, folder, launch, target, (1, 4, 8)[i % 3])
                if one.path:
                    yield one


def main():
    tools, options = sys.argv[1:3], sys.argv[3:]
    targets = [one for one in options if one.startswith("gfx")] or DEFAULT
    try:
        import numpy as np
        found = amd_code.find_emulator()
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not found:
        print(f"skipped: {amd_code.ABSENT}")
        sys.exit(77)
    os.environ.pop("NEREID_DISABLE", None)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for one in jobs(np, tools, folder, targets, options):
            outcome, reason = judge(one)
            counts[outcome, one.target] += 1
            if reason:
                print(f"{outcome}: {one.name}: {reason}", flush=True)
    print(f"{sum(counts.values())} code objects")
    for outcome in sorted({outcome for outcome, _ in counts}):
        print(f"{outcome}: " + ", ".join(f"{counts[outcome, target]} on {target}" for target in targets))
    sys.exit(1 if any(outcome == "failed" for outcome, _ in counts) else 0)


main()
