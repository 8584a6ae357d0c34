#!/usr/bin/env python3
"""`nereid compile --emit sass` and the machine code of `nereid explain`, beside what nvdisasm prints of `--emit cubin`.

    test/explain/kernels/machine_code.py build/bin/nereid

Exits with 77 where there is no ptxas or no nvdisasm.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gpu"))
from check_sass import find_tool  # noqa: E402

KERNEL = '''import triton
import triton.language as tl


@triton.jit
def twice(x):
    return tl.exp(x) * 2


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    for k in range(n):
        x += tl.sum(twice(x))
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def plus(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z_ptr + i, tl.load(x_ptr + i, mask=i < n) + tl.load(y_ptr + i, mask=i < n), mask=i < n)
'''
SIGNATURE = ["--signature", "*fp32:16, *fp32:16, i32, 256"]


def oracle(nvdisasm, cubin):
    """[(line, instruction)] of `nvdisasm -c -g`, read by two expressions."""
    text = subprocess.run([nvdisasm, "-c", "-g", cubin], check=True, capture_output=True, text=True).stdout
    found, line = [], 0
    for place, instruction in re.findall(r'//## File "[^"]*", line (\d+)|/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;', text):
        line = int(place) if place else line
        if instruction:
            found.append((line, instruction))
    return found


def printed(text, path):
    """[(line, instruction)] of `--emit sass`, whose lines of the source are the file's own."""
    source, found, line = path.read_text().splitlines(), [], 0
    for row in text.splitlines():
        if row.startswith("// "):
            place = re.match(r"// k\.py:(\d+): (.*)", row)
            assert place and source[int(place[1]) - 1] == place[2], row
            line = int(place[1])
        elif row.startswith("    "):
            found.append((line, row.strip()))
        else:
            assert re.fullmatch(r"\.L_\w+:", row), row
    return found


def main():
    nereid, tools = str(Path(sys.argv[1]).resolve()), {name: find_tool(name) for name in ("ptxas", "nvdisasm")}
    for name, path in tools.items():
        if not path:
            print(f"skipped: no {name}" + (" (scripts/test-venv installs one)" if name == "nvdisasm" else ""))
            sys.exit(77)
    environment = {**os.environ, "NEREID_PTXAS": tools["ptxas"], "NEREID_NVDISASM": tools["nvdisasm"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernel = folder / "k.py"
        kernel.write_text(KERNEL)

        def run(*words):
            return subprocess.run([nereid, *words], check=True, capture_output=True, text=True, cwd=folder, env=environment).stdout

        for architecture in ("sm_80", "sm_90a"):
            compiled = ["compile", "k.py:add", *SIGNATURE, "--target", architecture]
            run(*compiled, "--emit", "cubin", "-o", "k.cubin")
            wanted, got = oracle(tools["nvdisasm"], folder / "k.cubin"), printed(run(*compiled, "--emit", "sass"), kernel)
            assert len(wanted) > 20 and got == wanted, (architecture, [pair for pair in zip(got, wanted) if pair[0] != pair[1]][:3], len(got), len(wanted))
            assert {7, 13, 16} <= {line for line, _ in got}, "of a function that is called, too"
        run("explain", "k.py:add", "x_ptr=randn:f32[256]", "y_ptr=empty:f32[256]", "n=3", "BLOCK=256", "--grid", "1",
            "--json", "k.json", "--html", "k.html")
        report, page = json.loads((folder / "k.json").read_text()), (folder / "k.html").read_text()
        counts = Counter(one["line"] for one in report["machine_code"] if one["file"] == "k.py" and one["line"])
        assert report["no_machine_code"] == "" and {7, 13, 16} <= set(counts), report["machine_code"][:3]
        shown = re.findall(r"<summary>(\d+) SASS instructions?</summary>(.*?)</details>", page)
        assert sorted(int(count) for count, _ in shown) == sorted(counts.values()), (shown, counts)
        assert all(text.count("<br>") == int(count) for count, text in shown)
        # A kernel without branches: a warp executes each instruction up to the first EXIT once.
        run("explain", "k.py:plus", "x_ptr=randn:f32[4096]", "y_ptr=randn:f32[4096]", "z_ptr=empty:f32[4096]", "n=4096", "BLOCK=1024",
            "--grid", "4", "--json", "k.json")
        report = json.loads((folder / "k.json").read_text())
        texts = [one["text"] for one in report["machine_code"]]
        sass = next(index for index, text in enumerate(texts) if re.match(r"EXIT\b", text)) + 1
        ptx = report["instructions"] / (report["programs"] * report["threads"] / 32)
        assert 0 < sass < ptx, f"the assembler makes {sass} instructions of {ptx} of PTX; docs/Explain.md says that it makes fewer"
    print("machine code is that of nvdisasm, line by line")


if __name__ == "__main__":
    main()
