#!/usr/bin/env python3
"""Ctrl-C during a bench: what is measured is printed and written, and the status is 130."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = """import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i, mask=i < n)
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.py").write_text(KERNEL)
        command = [sys.argv[1], "bench", "k.py:fill", "x_ptr=empty:f32[n]", "BLOCK=64", "--grid", "cdiv(n, BLOCK)", "--vary",
                   "n=64..64000+64", "--seconds", "0.1", "--times-only", "--csv", "t.csv", "--trace", "t.json"]
        # Its progress on a terminal says when the second point is being measured.
        ours, theirs = pty.openpty()
        bench = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, text=True,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        seen = b""
        while b"[2/1000]" not in seen:
            seen += os.read(ours, 4096)
        bench.send_signal(signal.SIGINT)
        out = bench.communicate()[0]
        assert bench.returncode == 130, (bench.returncode, out, seen)
        assert re.search(r"Stopped by a signal(: \d+ of 1000 points| before)", out), out
        rows = (Path(folder) / "t.csv").read_text().splitlines()
        assert rows[1].startswith("64,fill,") and 2 <= len(rows) < 1000, len(rows)
        assert (Path(folder) / "t.json").stat().st_size > 0
    print("what was measured is written")


main()
