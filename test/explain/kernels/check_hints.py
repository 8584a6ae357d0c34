#!/usr/bin/env python3
"""Each kernel that wastes something gets the hint for it at its line, and its fixed form does not.

    check_hints.py NEREID [CHIP...]      as of an H200, or of these chips
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor

from cases import CASES

AMD = ("mi210", "mi300x", "mi350x", "rx7900xtx", "rx9070xt")
# What is no waste on a chip.
NONE = {
    ("mi300x", "spills"): "512 registers of a lane hold the row",
}


def of_chip(words, chip):
    """What a hint calls it there."""
    if chip in AMD:
        words = re.sub("sectors", "half lines", re.sub("thread", "lane", words))
    return words


def errors(case, chip, report):
    hints = {(hint["line"], hint["text"]) for hint in report["hints"]}
    slow = next(other for other in CASES if other.kernel == case.kernel.removesuffix("_fixed"))
    unwanted = slow.losses if case.is_fixed or (chip, slow.kernel) in NONE else ()
    for line, words in () if unwanted else case.losses:
        if not any(at == line and of_chip(words, chip) in text for at, text in hints):
            yield f"{case.file}:{line}: {case.kernel} has no hint with '{of_chip(words, chip)}' on {chip}, only {sorted(hints)}"
    if not case.is_fixed and not case.losses:
        yield f"{case.file}: no line says what {case.kernel} wastes"
    for _, words in unwanted:
        if any(of_chip(words, chip) in text for _, text in hints):
            yield f"{case.file}: {case.kernel} has the hint with '{of_chip(words, chip)}' on {chip}: {sorted(hints)}"


def main():
    # Products of AMD's chips take minutes, and no loads of theirs are copied ahead.
    launches = [(case, chip) for chip in sys.argv[2:] or ["h200"] for case in CASES if chip not in AMD or case.bound == "memory"]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda one: one[0].explain(sys.argv[1], "--chip", one[1]), launches))
    found = [error for (case, chip), report in zip(launches, reports) for error in errors(case, chip, report)]
    print("\n".join(found) or f"{len(launches)} launches have the hints that they should have")
    sys.exit(bool(found))


main()
