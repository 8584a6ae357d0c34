#!/usr/bin/env python3
"""The simulated AMD GPU against tinygrad's emulator (test/mockgpu/amd of its
repository): the same code objects and arrays, the same bits of what is written. Where
they differ, by no more than what the kernel's approximate functions may be off.

    test/amd/emulated.py NEREID NEREID_AMD_RUN [--rungs COUNT] [--random FUZZ COUNT] [--part I/N] [TARGET...]

gfx1100 and gfx942 without a target; --part 2/5 takes every fifth kernel, from the second on.

The kernels of the ladder on 1, 2 and 4 waves; of each public kernel of test/corpus up
to COUNT cases, and random kernels of FUZZ, which is nereid-source-fuzz, on 1, 4 or 8. What the emulator has no instruction for is counted by
instruction and does not count, nor does what ends it with a signal
(test/gpu/amd_emulator.py says what), nor where the simulator alone agrees with the
reference executor, or with the bounds of test/corpus. NEREID_TINYGRAD names a checkout; exit
status 77, with the reason, without one, or without NumPy. The emulator calls
`clang`.
"""

import collections
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ladder
import random_kernels
import rungs

amd_code = ladder.amd_emulator.amd_code
DEFAULT = ("gfx1100", "gfx942")
# What the emulator says that it has not: a control of an instruction, or the instruction.
NAMED = (r"NotImplementedError: (.*?) not implemented", r"unimplemented instruction type: (.*)", r"(unknown \w+ format word=\w+)",
         r"Failed to compile (?:\w+\.)*(\w+)")


class OfLadder:
    def __init__(self, np, tools, folder, case, target, waves):
        self.np, self.tools, self.folder, self.case, self.target, self.waves = np, tools, folder, case, target, waves
        self.name = f"{case[0]}{case[5]} for {target} on {waves} waves"
        self.allowed = case[-1]
        self.path = ladder.compile_case(tools[0], folder, case, target, waves)

    def work(self):
        kernel, grid, inputs, output, numbers, _, _ = self.case
        return kernel, (grid, ), [*(one.tobytes() for one in [*inputs, output]), *numbers], [len(inputs)]

    def theirs(self, written):
        output = self.case[3]
        return self.np.frombuffer(written, output.dtype).reshape(output.shape)

    def ours(self):
        return ladder.launch(self.np, self.tools[1], self.folder, self.path, self.case, self.target, self.waves)

    def is_right(self, result):
        expected = ladder.amd_emulator.reference(self.np, self.tools[0], self.folder, self.case)
        return self.difference(result, expected) <= self.allowed

    def difference(self, result, expected):
        return ladder.difference(self.np, result, expected)


class OfLaunch:
    """Of a random or a public kernel. What a launch writes is one array of bytes here, one parameter after the other."""
    allowed = random_kernels.RELATIVE

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

    def work(self):
        return self.launch.kernel, self.launch.grid, self.launch.values, list(self.launch.expected)

    def theirs(self, written):
        return self.np.frombuffer(written, self.np.uint8)

    def ours(self):
        found = random_kernels.simulate(self.tools[1], self.folder, self.path, self.launch, self.target, self.waves)
        return found if isinstance(found, str) else self.joined(found)

    def is_right(self, result):
        return self.launch.is_right(self.np, self.split(result))

    def difference(self, result, expected):
        return self.launch.difference(self.np, self.split(result), self.split(expected))


def emulate(run_asm, path, target, waves, kernel, grid, values, outputs):
    """The bytes of the outputs, after each other."""
    arrays = [bytearray(one) if isinstance(one, bytes) else one for one in values]
    views = [amd_code.ctypes.c_char.from_buffer(one) if isinstance(one, bytearray) else None for one in arrays]
    passed = [("P", amd_code.ctypes.addressof(view)) if view is not None else ("f" if isinstance(one, float) else "i", one)
              for one, view in zip(arrays, views)]
    lanes = 64 if target.startswith("gfx9") else 32
    code = amd_code.CodeObject(Path(path).read_bytes(), kernel)
    code.run(run_asm, target, (*grid, 1, 1)[:3], waves * lanes, passed)
    return b"".join(arrays[i] for i in outputs)


def serve(pipe):
    run_asm = amd_code.find_emulator()
    while True:
        try:
            pipe.send(emulate(run_asm, *pipe.recv()))
        except EOFError:
            return
        except Exception as error:  # of the emulator, whatever it raises
            pipe.send(f"{type(error).__name__}: {error}")


class Emulator:
    """In a process of its own, which keeps the instructions that it has compiled. A kernel may end it with a signal."""

    def __init__(self):
        self.process, self.asked = None, 0

    def start(self):
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process, self.asked = context.Process(target=serve, args=(theirs, ), daemon=True), 0
        self.process.start()
        theirs.close()

    def stop(self):
        if self.process:
            self.pipe.close()
            self.process.kill()
            self.process.join()
        self.process = None

    def run(self, one):
        """The result, or why there is none."""
        if not self.process:
            self.start()
        self.asked += 1
        try:
            self.pipe.send((one.path, one.target, one.waves, *one.work()))
            said = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            said = f"ended with {self.process.exitcode}"
            self.process = None
        return said if isinstance(said, str) else one.theirs(said)


def lacking(reason):
    """The instruction that the emulator has not; or nothing."""
    found = (re.search(one, reason) for one in NAMED)
    return next((one.group(1) for one in found if one), None)


def reads_ten_bits(one):
    """The emulator has another sum there, and the bounds of test/corpus are those of operands that are rounded: XF32 cuts them
    off. programs.py judges such products, by bounds that know it."""
    decoded = subprocess.run([one.tools[1], "decode", one.path], capture_output=True, text=True, check=True).stdout
    return "_xf32" in decoded


def judge(one, emulator):
    """The outcome, and its reason where it is not plain."""
    theirs = emulator.run(one)
    ours = one.ours()
    if isinstance(theirs, str) or isinstance(ours, str) or ours.tobytes() != theirs.tobytes():
        # An earlier kernel may have spoilt the process.
        if emulator.asked > 1 and not (isinstance(theirs, str) and lacking(theirs)):
            emulator.stop()
            theirs = emulator.run(one)
    if isinstance(theirs, str):
        return "not emulated", theirs
    if isinstance(ours, str):
        return "failed", ours
    if ours.tobytes() == theirs.tobytes():
        return "the same bits", ""
    emulator.stop()
    off = one.difference(ours, theirs)
    if off <= one.allowed:
        return "within what its functions are exact to", ""
    if one.is_right(ours):
        return ("within what its functions are exact to", "") if one.is_right(theirs) else ("the emulator alone is off", f"by {off}")
    if reads_ten_bits(one):
        return "not emulated", "unimplemented instruction type: a product of XF32"
    return "failed", f"off by {off}, allowed {one.allowed}"


def jobs(np, tools, folder, targets, options):
    for case in rungs.part_of(ladder.cases(np), options):
        for target in targets:
            for waves in (1, 2, 4):
                yield OfLadder(np, tools, folder, case, target, waves)
    launches = []
    if "--rungs" in options:
        most = int(options[options.index("--rungs") + 1])
        launches += rungs.launches(most)
    if "--random" in options:
        fuzz, count = options[options.index("--random") + 1:][:2]
        launches += random_kernels.make(fuzz, folder, int(count), 1)
    for i, launch in rungs.part_of(enumerate(launches), options):
        for target in targets if launch.is_runnable else ():
            one = OfLaunch(np, tools, folder, launch, target, (1, 4, 8)[i % 3])
            if one.path:
                yield one
            else:
                print(f"does not compile: {one.name}: {one.refused.splitlines()[-1]}", flush=True)


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
    counts, lacked = collections.Counter(), collections.Counter()
    emulator = Emulator()
    with tempfile.TemporaryDirectory() as folder:
        for one in jobs(np, tools, folder, targets, options):
            outcome, reason = judge(one, emulator)
            counts[outcome, one.target] += 1
            if outcome == "not emulated":
                lacked[lacking(reason) or reason.splitlines()[0][:100], one.target] += 1
            elif reason:
                print(f"{outcome}: {one.name}: {reason}", flush=True)
    emulator.stop()
    for (what, target), count in sorted(lacked.items()):
        print(f"not emulated for {target}: {what}: {count}")
    print(f"{sum(counts.values())} code objects")
    for outcome in sorted({outcome for outcome, _ in counts}):
        print(f"{outcome}: " + ", ".join(f"{counts[outcome, target]} on {target}" for target in targets))
    sys.exit(1 if any(outcome == "failed" for outcome, _ in counts) else 0)


main()
