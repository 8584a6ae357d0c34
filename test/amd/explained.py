#!/usr/bin/env python3
"""What nereid explain says of AMD's chips against the simulator's own counts, and
against counts by hand.

    test/amd/explained.py NEREID NEREID_AMD_RUN

Each kernel is compiled and run by both: the sums over its accesses of requests,
bytes, half lines, lines and passes through LDS must be the same numbers, and so
must the registers that the code object states.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "gpu" / "amd_kernels.py"
CHIPS = {"mi300x": "gfx942", "rx7900xtx": "gfx1100", "rx9070xt": "gfx1201"}
WAVES = 4

# kernel, grid, (name, type, elements) of arrays, numbers, constants.
CASES = (
    ("add", 3, (("f32", 700), ("f32", 700), ("f32", 700)), (700,), (256,)),
    ("softmax", 2, (("f32", 400), ("f32", 400)), (200,), (256,)),
    ("transpose", 1, (("f32", 512), ("f32", 512)), (), (32, 16)),
    ("product", 1, (("f32", 512), ("f32", 512), ("f32", 256)), (), (16, 16, 32)),
    ("scanned", 1, (("i32", 256), ("i32", 256)), (), (256,)),
    ("histogram", 1, (("i32", 256), ("i32", 16)), (), (256, 16)),
)
COUNTS = ("requests", "bytes", "requests_64", "requests_128", "passes", "least_passes")


def parameters(kernel):
    text = KERNELS.read_text()
    head = text[text.index(f"def {kernel}("):]
    return [one.split(":")[0].strip() for one in head[head.index("(") + 1:head.index("):")].split(",")]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def explained(nereid, chip, case):
    kernel, grid, arrays, numbers, constants = case
    names = parameters(kernel)
    values = [*(f"zeros:{kind}[{count}]" for kind, count in arrays), *map(str, numbers), *map(str, constants)]
    return json.loads(run(nereid, "explain", f"{KERNELS}:{kernel}", *map("=".join, zip(names, values)), f"num_warps={WAVES}",
                          "--grid", str(grid), "--chip", chip, "--json", "-"))


def simulated(nereid, simulator, folder, target, case):
    kernel, grid, arrays, numbers, constants = case
    signature = ",".join([*({"f32": "*fp32:16", "i32": "*i32:16"}[kind] for kind, _ in arrays),
                          *("i32:16" if number % 16 == 0 else "i32" for number in numbers), *map(str, constants)])
    path = f"{folder}/{kernel}-{target}.hsaco"
    run(nereid, "compile", f"{KERNELS}:{kernel}", "--signature", signature, "--num-warps", str(WAVES), "--target", target,
        "--emit", "hsaco", "-o", path)
    arguments = []
    for i, (_, count) in enumerate(arrays):
        # They begin at multiples of 512 bytes in both.
        Path(f"{folder}/{i}.bin").write_bytes(bytes(4 * count))
        arguments.append(f"file:{folder}/{i}.bin")
    arguments += [f"i32:{number}" for number in numbers]
    threads = WAVES * (64 if target.startswith("gfx9") else 32)
    return json.loads(run(simulator, "run", path, kernel, str(grid), str(threads), "--counts", *arguments))


def sums(accesses):
    return {name: sum(one.get(name, 0) for one in accesses) for name in COUNTS}


def check(nereid, simulator, folder, chip, case):
    """What differs."""
    target = CHIPS[chip]
    ours, own = explained(nereid, chip, case), simulated(nereid, simulator, folder, target, case)
    for one in own["accesses"]:
        one["requests"] += one["shared_requests"]
    wrong = []
    expected, told = sums(own["accesses"]), sums(ours["accesses"])
    wrong += [f"{name}: {told[name]}, the simulator has {expected[name]}" for name in COUNTS if told[name] != expected[name]]
    for name, of in (("registers", "vgprs"), ("accumulation_registers", "agprs"), ("scalar_registers", "sgprs"),
                     ("shared_bytes", "lds"), ("scratch_bytes", "scratch")):
        if ours[name] != own[of]:
            wrong.append(f"{name}: {ours[name]}, the code object has {own[of]}")
    if ours["target"] != target or ours["predicted_us"] is not None or not ours["no_prediction"]:
        wrong.append("the report predicts a time, or is of another target")
    if not all(one["line"] for one in ours["accesses"]):
        wrong.append("an access without a source line")
    return wrong


def of_add(nereid):
    """By hand: 700 words of each array, 256 a program, begin at multiples of 512 bytes."""
    report = explained(nereid, "mi300x", CASES[0])
    lines = {}
    for one in report["accesses"]:
        lines.setdefault(one["access"], []).append(one)
    half = sum(one["requests_64"] for one in lines["load"])
    assert half == 2 * -(-700 * 4 // 64), half
    assert sum(one["requests_64"] for one in lines["store"]) == -(-700 * 4 // 64)
    assert sum(one["requests_128"] for one in lines["store"]) == -(-700 * 4 // 128)
    assert report["compulsory_bytes_read"] == 2 * 2800 and report["compulsory_bytes_written"] == 2800


def main():
    nereid, simulator = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for chip in CHIPS:
            for case in CASES:
                for wrong in check(nereid, simulator, folder, chip, case):
                    failures += 1
                    print(f"{case[0]} on {chip}: {wrong}", flush=True)
        of_add(nereid)
    print(f"{len(CHIPS) * len(CASES)} launches, {failures} differences")
    sys.exit(1 if failures else 0)


main()
