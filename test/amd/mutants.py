#!/usr/bin/env python3
"""Mutants of code objects on the simulated AMD GPU: one wait counter lowered, one
barrier or one restore of the exec mask taken out, for kernels of the ladder on
several waves. What the simulator reports, and what changes the result, is counted.

    test/amd/mutants.py NEREID NEREID_AMD_RUN [--most N]

A wait is lowered by letting one more be on its way. What is not found is printed;
many of these do what the original did: a wait after one that covers as much, a
restore of lanes that do nothing afterwards.

Exit status 0 where at least 95 of 100 are found, else 1; 77 without NumPy.
"""

import collections
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import ladder

NOP = 0xbf800000
RESTORE = re.compile(r"s_or_b(32|64) exec(_lo)?, exec(_lo)?,|s_mov_b(32|64) exec(_lo)?,|s_xor_b(32|64) exec(_lo)?, exec")


def listing(simulator, path):
    run = subprocess.run([simulator, "decode", path], capture_output=True, text=True, check=True)
    return [(int(a, 16), text) for a, _, text in (line.split(" ", 2) for line in run.stdout.splitlines())]


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
    """The waits that let one more be on its way, each with its name."""
    fields = {"vmcnt": (10, 0x3f), "lgkmcnt": (4, 0x3f)}
    if target.startswith("gfx9"):
        fields = {"vmcnt": (0, 0xf), "lgkmcnt": (8, 0xf)}
    if text.startswith("s_waitcnt "):
        for name, (shift, most) in fields.items():
            if name in text and word >> shift & most < most:
                yield name, word + (1 << shift)
    elif re.match(r"s_wait(cnt_vscnt|_loadcnt|_dscnt|_kmcnt|_storecnt)\b", text):
        yield text.split(" ")[0], word + 1
        if re.match(r"s_wait_\w+_dscnt", text):
            yield text.split(" ")[0] + " (the other)", word + 0x100


def mutants(data, lines, target):
    for address, text in lines:
        at = offset_of(data, address)
        word, = struct.unpack_from("<I", data, at)
        for name, changed in lowered(text, word, target):
            yield "wait", at, changed, f"{address:#x}: {text} [{name}]"
        if re.match(r"s_barrier$|s_barrier_wait", text):
            yield "barrier", at, NOP, f"{address:#x}: {text}"
        if RESTORE.match(text):
            yield "exec", at, NOP, f"{address:#x}: {text}"


def main():
    nereid, simulator = sys.argv[1:3]
    most = int(sys.argv[sys.argv.index("--most") + 1]) if "--most" in sys.argv else 1 << 30
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    counts = collections.Counter()
    survivors = []
    kernels = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in ladder.cases(np):
            for target, waves in (("gfx942", 2), ("gfx1100", 4)):
                kernels += 1
                path = ladder.compile_case(nereid, folder, case, target, waves)
                data = Path(path).read_bytes()
                expected = ladder.launch(np, simulator, folder, path, case, target, waves)
                assert not isinstance(expected, str), expected
                changed = f"{folder}/mutant.hsaco"
                for kind, at, word, text in list(mutants(data, listing(simulator, path), target))[:most]:
                    Path(changed).write_bytes(data[:at] + struct.pack("<I", word) + data[at + 4:])
                    result = ladder.launch(np, simulator, folder, changed, case, target, waves, ("--most", "2000000"))
                    if isinstance(result, str):
                        counts[kind, "reported"] += 1
                    elif not np.array_equal(result, expected, equal_nan=True):
                        counts[kind, "another result"] += 1
                    else:
                        counts[kind, "nothing"] += 1
                        survivors.append(f"{case[0]} {target} {text}")
    for line in survivors:
        print("not found:", line)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {count} {outcome}")
    total = sum(counts.values())
    found = total - sum(count for (_, outcome), count in counts.items() if outcome == "nothing")
    print(f"{kernels} kernels, {total} mutants, {found} found ({100 * found / max(total, 1):.1f} %)")
    sys.exit(0 if found >= 0.95 * total else 1)


main()
