#!/usr/bin/env python3
"""Each kernel that wastes something gets the hint for it at its line, and its fixed form does not."""

import sys
from concurrent.futures import ThreadPoolExecutor

from cases import CASES


def errors(case, report):
    hints = {(hint["line"], hint["text"]) for hint in report["hints"]}
    for line, words in case.losses:
        if not any(at == line and words in text for at, text in hints):
            yield f"{case.file}:{line}: {case.kernel} has no hint with '{words}', only {sorted(hints)}"
    if not case.is_fixed and not case.losses:
        yield f"{case.file}: no line says what {case.kernel} wastes"
    slow = next(other for other in CASES if other.kernel == case.kernel.removesuffix("_fixed"))
    for _, words in slow.losses if case.is_fixed else ():
        if any(words in text for _, text in hints):
            yield f"{case.file}: {case.kernel} still has the hint with '{words}': {sorted(hints)}"


def main():
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda case: case.explain(sys.argv[1]), CASES))
    found = [error for case, report in zip(CASES, reports) for error in errors(case, report)]
    print("\n".join(found) or f"{len(CASES)} kernels have the hints that they should have")
    sys.exit(bool(found))


main()
