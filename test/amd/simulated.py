#!/usr/bin/env python3
"""The ladder on the simulated AMD GPU against the reference executor: each kernel on
1, 2, 4 and 8 waves, on one of CDNA and two of RDNA.

    test/amd/simulated.py NEREID NEREID_AMD_RUN [TARGET...]

Exit status 0 or 1; 77 where NumPy is not there.
"""

import sys
import tempfile

import ladder


def main():
    nereid, simulator, targets = sys.argv[1], sys.argv[2], sys.argv[3:] or ladder.TARGETS
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in ladder.cases(np):
            expected = ladder.amd_emulator.reference(np, nereid, folder, case)
            for target in targets:
                for waves in (1, 2, 4, 8):
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
