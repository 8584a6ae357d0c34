#!/usr/bin/env python3
"""Every test that docs/testing/TrainerFaults.md names exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = "apps/gpt2", "nereid/Bench"


def cases():
    """Suite.name of each GoogleTest case."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*Test.cpp"):
            for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text(), flags=re.M):
                yield f"{suite}.{name}"


def main():
    known, missing, tests = set(cases()), [], 0
    rows = [line for line in (ROOT / "docs/testing/TrainerFaults.md").read_text().splitlines() if line.startswith("| ")]
    faults = [line for line in rows if re.match(r"\| \d+ ", line)]
    if [int(line.split()[1]) for line in faults] != list(range(1, 41)):
        sys.exit("error: expected faults 1 to 40")
    for line in rows:
        column = line.split("|")[-2]
        for name, function in re.findall(r"`([\w.]+)`(?: (\w+))?", column):
            tests += 1
            if name.endswith(".py"):
                path = ROOT / "apps/gpt2/test" / name
                exists = path.exists() and re.search(rf"^ *def {function}\(", path.read_text(), flags=re.M)
            else:
                exists = name in known
            if not exists:
                missing.append(f"{name} {function}".strip())
    if missing:
        sys.exit("error: docs/testing/TrainerFaults.md names tests that do not exist: " + ", ".join(missing))
    print(f"{tests} tests of {len(faults)} faults exist")


main()
