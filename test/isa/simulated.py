#!/usr/bin/env python3
"""Every instruction that LLVM prints for NVPTX: simulated, or named in docs/Simulator.md with its reason. No more is named there.

    test/isa/simulated.py build/bin/nereid-llvm-ptx docs/Simulator.md

An instruction is its first word, "fma.rn.f32": simulated where one of LLVM's definitions that print it is. --list prints those that are not.
"""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path


def instructions(program):
    """(simulated, refused), as sets of words."""
    simulated, refused = set(), set()
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        text, verdict = line.rsplit("\t", 1)
        words = [word for word in text.split() if not word.startswith("@")]
        word = words[0].rstrip(";") if words else ""
        if re.match(r"[a-z]", word):  # else a label's, a table's, or an operand alone
            (simulated if verdict == "simulated" else refused).add(word)
    return simulated, refused - simulated


def table(page):
    """The patterns of the page's table."""
    section = page.read_text().split("## What is not there")[1].split("\n## ")[0]
    return [pattern for row in re.findall(r"^\| (`.*`) \| \S", section, re.M) for pattern in re.findall(r"`([^`]+)`", row)]


def main():
    simulated, refused = instructions(sys.argv[1])
    if "--list" in sys.argv:
        print("\n".join(sorted(refused)))
        return
    patterns = table(Path(sys.argv[2]))
    problems = [f"{word}: neither simulated nor in the table" for word in sorted(refused)
                if not any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns)]
    for pattern in patterns:
        if not fnmatch.filter(refused, pattern):
            problems.append(f"{pattern}: of the table, and nothing that is refused is so called")
        problems += [f"{word}: {pattern} of the table, and simulated" for word in sorted(fnmatch.filter(simulated, pattern))]
    # A printer that prints nothing would find nothing.
    for word in ("add.s32", "ld.u8", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "bar.sync"):
        if word not in simulated:
            problems.append(f"{word}: expected among what is printed and simulated")
    if len(refused) < 1000 or problems:
        sys.exit("\n".join(problems) or f"only {len(refused)} are refused")
    print(f"{len(simulated)} instructions are simulated, {len(refused)} are in the table")


if __name__ == "__main__":
    main()
