#!/usr/bin/env python3
"""Mutants of code objects on the simulated AMD GPU: one wait counter lowered, one
barrier or one restore of the exec mask taken out, for kernels of the ladder on
several waves, each launched with all its elements and with fewer.

    test/amd/mutants.py NEREID NEREID_AMD_RUN [--quick] [--part I/N] [TARGET...]

--quick takes every fourth kernel, --part every Nth code object from the Ith on.

A wait is lowered by letting one more be on its way. Some of these do what the
original does in every execution: the trace of the original shows that nothing
needed the wait (executions.py), or that no two accesses are ordered by that barrier
alone. They are no mutants, and are counted apart.

Exit status 0 where the simulator reports at least 95 of 100, else 1; 77 without NumPy.
"""

import collections
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import executions
import ladder
import rungs

WAVES = {"gfx942": 2, "gfx1100": 4, "gfx1201": 4}
RESTORE = re.compile(r"s_or_b(32|64) exec(_lo)?, exec(_lo)?,|s_mov_b(32|64) exec(_lo)?,")


def listing(simulator, path):
    run = subprocess.run([simulator, "decode", path], capture_output=True, text=True, check=True)
    return {int(a, 16): text for a, _, text in (line.split(" ", 2) for line in run.stdout.splitlines())}


def offset_of(data, address):
    """In the file, of an address of the program."""
    start, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for i in range(count):
        kind, _, offset, begin, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", data, start + 56 * i)
        if kind == 1 and begin <= address < begin + size:
            return offset + address - begin
    raise AssertionError("no such address")


def lowered(text, word, target):
    """The waits that let one more be on its way: counter, the most before, the word."""
    fields = {"vmcnt": (10, 0x3f), "lgkmcnt": (4, 0x3f)}
    if target.startswith("gfx9"):
        fields = {"vmcnt": (0, 0xf), "lgkmcnt": (8, 0xf)}
    for counter, most in executions.waits_of(text).items():
        if text.startswith("s_waitcnt "):
            shift, limit = fields["vmcnt" if counter == "load" else "lgkmcnt"]
            if word >> shift & limit < limit:
                yield counter, most, word + (1 << shift)
        else:
            is_other = "_dscnt" in text and counter != "lds"
            yield counter, most, word + (0x100 if is_other else 1)


def mutants(data, lines, target):
    """kind, place in the file, word, address, text, and for a wait its counter and the most that it leaves."""
    nop = 0xbf800000
    for address, text in lines.items():
        at = offset_of(data, address)
        word, = struct.unpack_from("<I", data, at)
        for counter, most, changed in lowered(text, word, target):
            yield "wait", at, changed, address, f"{text} [{counter}]", (counter, most)
        if re.match(r"s_barrier$|s_barrier_wait", text):
            yield "barrier", at, nop, address, text, ()
        if RESTORE.match(text):
            yield "exec", at, nop, address, text, ()


def sizes(case):
    """The case with all its elements, and with fewer, so that each mask leaves lanes out in some launch."""
    numbers = case[4]
    fewer = [[max(1, n * parts // 8) for n in numbers] for parts in (8, 5, 2)]
    return [(*case[:4], found, *case[5:]) for found in fewer if numbers] or [case]


class Original:
    """A code object, what its launches give, and their traces, made when they are asked for."""

    def __init__(self, np, simulator, folder, path, case, target):
        self.arguments = np, simulator, folder
        self.path, self.target = path, target
        self.cases = sizes(case)
        self.lines = listing(simulator, path)
        self.results = [self.launch(path, one) for one in self.cases]
        for result in self.results:
            assert not isinstance(result, str), result
        self.traces = None

    def launch(self, path, case, options=("--most", "2000000")):
        np, simulator, folder = self.arguments
        return ladder.launch(np, simulator, folder, path, case, self.target, WAVES[self.target], options)

    def outcome(self, path):
        differs = False
        for case, expected in zip(self.cases, self.results):
            result = self.launch(path, case)
            if isinstance(result, str):
                return "reported"
            differs |= not self.arguments[0].array_equal(result, expected, equal_nan=True)
        return "another result" if differs else "nothing"

    def needs(self, kind, address, wait):
        """Why it is there; None where it does nothing in any execution."""
        if self.traces is None:
            self.traces = []
            for case in self.cases:
                self.launch(self.path, case, ("--trace", f"{self.path}.trace"))
                self.traces.append(executions.Execution(f"{self.path}.trace", self.lines, self.target))
        for trace in self.traces:
            reason = trace.needs_wait(address, *wait) if kind == "wait" else trace.needs_barrier(address)
            if reason:
                return reason
        return None


def main():
    nereid, simulator, *options = sys.argv[1:]
    targets = [one for one in options if one in WAVES] or list(WAVES)
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    counts = collections.Counter()
    cases = ladder.cases(np)
    with tempfile.TemporaryDirectory() as folder:
        chosen = cases[::4] if "--quick" in options else cases
        work = rungs.part_of([(case, target) for case in chosen for target in targets], options)
        for case, target in work:
            path = ladder.compile_case(nereid, folder, case, target, WAVES[target])
            original = Original(np, simulator, folder, path, case, target)
            data = Path(path).read_bytes()
            changed = f"{folder}/mutant.hsaco"
            for kind, at, word, address, text, wait in mutants(data, original.lines, target):
                Path(changed).write_bytes(data[:at] + struct.pack("<I", word) + data[at + 4:])
                outcome = original.outcome(changed)
                reason = ""
                if outcome == "nothing" and kind != "exec":
                    reason = original.needs(kind, address, wait)
                    outcome = outcome if reason else "no mutant"
                counts[kind, outcome] += 1
                if outcome in ("nothing", "another result"):
                    print(f"{outcome}: {case[0]} {case[5]} {target} {address:#x}: {text} {reason}", flush=True)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {count} {outcome}")
    total = sum(count for (_, outcome), count in counts.items() if outcome != "no mutant")
    found = sum(count for (_, outcome), count in counts.items() if outcome == "reported")
    print(f"{len(work)} code objects, {total} mutants, {found} reported ({100 * found / max(total, 1):.1f} %)")
    sys.exit(0 if found >= 0.95 * total else 1)


main()
