#!/usr/bin/env python3
"""The ladder on the simulated AMD GPU against the reference executor: each kernel on
one of CDNA and two of RDNA, on two of 1, 2, 4 and 8 waves, in turn.

    test/amd/simulated.py NEREID NEREID_AMD_RUN [--all] [TARGET...]     --all: on each number of waves

Exit status 0 or 1; 77 where NumPy is not there.
"""

import sys
import tempfile

import ladder


def main():
    nereid, simulator = sys.argv[1:3]
    is_whole = "--all" in sys.argv
    targets = [name for name in sys.argv[3:] if name != "--all"] or ladder.TARGETS
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(ladder.cases(np)):
            expected = ladder.amd_emulator.reference(np, nereid, folder, case)
            for turn, target in enumerate(targets, number):
                for waves in (1, 2, 4, 8) if is_whole else ((1, 4), (2, 8))[turn % 2]:
                    runs += 1
                    path = ladder.compile_case(nereid, folder, case, target, waves)
                    result = ladder.launch(np, simulator, folder, path, case, target, waves, ("--seed", str(runs)))
                    if isinstance(result, str):
                        off = result
                    else:
                        off = ladder.difference(np, result, expected)
                        if off <= case[-1]:
                            continue
                    failures += 1
                    print(f"{case[0]} for {target} on {waves} waves: {off}, allowed {case[-1]}", flush=True)
    print(f"{runs} launches, {failures} failed")
    sys.exit(1 if failures else 0)


main()
