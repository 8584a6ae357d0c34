#!/usr/bin/env python3
"""Code objects with wrong bytes, cut short or changed in a place: the simulated AMD
GPU refuses them, or runs what they say to an end, a fault or its limit, and never
ends with a signal.

    test/amd/broken.py NEREID NEREID_AMD_RUN
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "gpu" / "amd_kernels.py"
ENDS = (0, 1, 2)


def changed(data, draw):
    """A copy with one thing wrong."""
    if draw.random() < 0.2:
        return data[:draw.randrange(len(data))]
    copy = bytearray(data)
    for _ in range(draw.choice((1, 1, 4))):
        at = draw.randrange(draw.choice((64, 0x600, len(data))))
        copy[at] = draw.choice((0, 0xff, copy[at] ^ 1 << draw.randrange(8)))
    return bytes(copy)


def main():
    nereid, simulator = sys.argv[1:3]
    draw = random.Random(7)
    failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        array = Path(folder) / "array.bin"
        array.write_bytes(bytes(4096))
        for target, threads in (("gfx942", 128), ("gfx1100", 64), ("gfx1201", 64)):
            path = Path(folder) / f"{target}.hsaco"
            run = subprocess.run([nereid, "compile", f"{KERNELS}:softmax", "--signature", "*fp32:16,*fp32:16,i32,256", "--num-warps",
                                  "2", "--target", target, "--emit", "hsaco", "-o", path], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            data = path.read_bytes()
            for _ in range(60):
                path.write_bytes(changed(data, draw))
                run = subprocess.run([simulator, "run", path, "softmax", "2", str(threads), "--most", "20000", f"file:{array}",
                                      f"file:{array}", "i32:200"], capture_output=True, text=True)
                runs += 1
                if run.returncode not in ENDS or (run.returncode and not run.stderr):
                    failures += 1
                    print(f"{target}, number {runs}: exit status {run.returncode}: {run.stderr[:200]}")
    print(f"{runs} broken code objects, {failures} ended otherwise than by a message")
    sys.exit(1 if failures else 0)


main()
