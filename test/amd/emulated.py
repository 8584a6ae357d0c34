#!/usr/bin/env python3
"""The simulated AMD GPU against tinygrad's emulator (test/mockgpu/amd of its
repository): the same code objects and arrays, the same bits of what is written. Where
they differ, by no more than what the kernel's approximate functions may be off.

    test/amd/emulated.py NEREID NEREID_AMD_RUN [TARGET...]     gfx1100 and gfx942 without one

What the emulator has no instruction for is reported and does not count, nor does
what ends it with a signal (test/gpu/amd_emulator.py says what), nor where the
reference executor agrees with the simulator and not with the emulator.
NEREID_TINYGRAD names a checkout; exit status 77, with the reason, without one, or
without NumPy. The emulator calls `clang`.
"""

import multiprocessing
import sys
import tempfile
from pathlib import Path

import ladder

DEFAULT = ("gfx1100", "gfx942")


def emulate(path, nereid, folder, case, target, waves):
    import numpy as np
    try:
        run_asm = ladder.amd_emulator.amd_code.find_emulator()
        result = ladder.amd_emulator.emulate(np, nereid, folder, run_asm, case, target, waves)
    except Exception as error:  # of the emulator, whatever it raises
        result = np.array(f"{type(error).__name__}: {str(error)[:200]}")
    np.save(path, result)


def in_a_process(np, nereid, folder, case, target, waves):
    """The emulator's result, or why it gives none; it may end with a signal."""
    path = Path(folder) / "emulated.npy"
    path.unlink(missing_ok=True)
    process = multiprocessing.get_context("fork").Process(target=emulate, args=(path, nereid, folder, case, target, waves))
    process.start()
    process.join()
    if not path.exists():
        return f"ended with {process.exitcode}"
    result = np.load(path)
    return str(result) if result.dtype.kind == "U" else result


def main():
    nereid, simulator, targets = sys.argv[1], sys.argv[2], sys.argv[3:] or DEFAULT
    try:
        import numpy as np
        found = ladder.amd_emulator.amd_code.find_emulator()
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not found:
        print(f"skipped: {ladder.amd_emulator.amd_code.ABSENT}")
        sys.exit(77)
    equal = near = failures = left_out = outvoted = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in ladder.cases(np):
            expected = ladder.amd_emulator.reference(np, nereid, folder, case)
            for target in targets:
                for waves in (1, 2, 4):
                    what = f"{case[0]} for {target} on {waves} waves"
                    theirs = in_a_process(np, nereid, folder, case, target, waves)
                    if isinstance(theirs, str):
                        left_out += 1
                        print(f"not emulated: {what}: {theirs}", flush=True)
                        continue
                    path = ladder.compile_case(nereid, folder, case, target, waves)
                    ours = ladder.launch(np, simulator, folder, path, case, target, waves)
                    off = ours if isinstance(ours, str) else ladder.difference(np, ours, theirs)
                    is_off = isinstance(off, str) or not off <= case[-1]
                    if is_off and not isinstance(ours, str) and ladder.difference(np, ours, expected) <= case[-1]:
                        outvoted += 1
                        print(f"the emulator alone is off: {what}: by {off}", flush=True)
                    elif is_off:
                        failures += 1
                        print(f"{what}: off by {off}, allowed {case[-1]}", flush=True)
                    elif ours.tobytes() == theirs.tobytes():
                        equal += 1
                    else:
                        near += 1
    print(f"{equal} launches with the same bits, {near} within what their functions are exact to, {left_out} not emulated, "
          f"{outvoted} where the emulator alone is off, {failures} failed")
    sys.exit(1 if failures else 0)


main()
