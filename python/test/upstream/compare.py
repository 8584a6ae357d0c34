#!/usr/bin/env python3
"""compare.py SAMPLE RESULTS: have the tests of run-sample come out as the sample says? Prints those that have not, with what they said."""
import json
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    expected = {}
    with open(sys.argv[1]) as file:
        for line in file:
            name, _, reason = line.rstrip("\n").partition("  # fails: ")
            expected[name] = reason
    found = {name: ("failed", "the process of this test died, or it was not found") for name in expected}
    with open(sys.argv[2]) as file:
        for line in file:
            name, outcome, error = json.loads(line)
            if name in found and found[name][0] != "failed" or "died" in found.get(name, ("", ""))[1]:
                found[name] = outcome, error
    wrong = 0
    for name, reason in expected.items():
        outcome, error = found[name]
        if (outcome == "failed") != bool(reason):
            wrong += 1
            print(f"{name}: " + (f"failed: {' '.join(error.split())[:400]}" if outcome == "failed" else
                                 f"{outcome}, and sample.txt says that it fails: {reason}"))
    counts = {kind: sum(outcome == kind for outcome, _ in found.values()) for kind in ("passed", "skipped", "failed")}
    print(f"{len(expected)} tests: {counts['passed']} passed, {counts['skipped']} skipped by themselves, {counts['failed']} failed, {wrong} not as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
