#!/usr/bin/env python3
"""Is the tuner's choice right while others use the machine?

    bench/tune_under_load.py build/bin/nereid [--loops 2] [--seconds 1] [--json FILE]

Twenty lists of configurations are tuned on the CPU while processes that only
count keep cores busy. Then, without them, every configuration of a list is
measured at length by `nereid bench`, in rounds. A choice is *right* within 5 %
of the best, *not certain* where the tuner says so. Status 1 where more than one
choice in twenty is neither.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HEADER = """import triton
import triton.language as tl


"""

ELEMENTWISE = """def k(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, {value}, mask=i < n)
"""
ROWS = """def k(y, x, n, CHUNK: tl.constexpr):
    at = tl.program_id(0) * n
    m = -float("inf")
    for c in range(0, n, CHUNK):
        i = c + tl.arange(0, CHUNK)
        m = tl.maximum(m, tl.max(tl.load(x + at + i, mask=i < n, other=-float("inf"))))
    s = 0.0
    for c in range(0, n, CHUNK):
        i = c + tl.arange(0, CHUNK)
        s += tl.sum(tl.exp(tl.load(x + at + i, mask=i < n, other=-float("inf")) - m))
    for c in range(0, n, CHUNK):
        i = c + tl.arange(0, CHUNK)
        v = tl.load(x + at + i, mask=i < n)
        tl.store(y + at + i, tl.exp(v - m) / s, mask=i < n)
"""
SUM = """def k(y, x, n, CHUNK: tl.constexpr):
    at = tl.program_id(0) * n
    s = tl.zeros((CHUNK,), tl.float32)
    for c in range(0, n, CHUNK):
        i = c + tl.arange(0, CHUNK)
        s += tl.load(x + at + i, mask=i < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(s))
"""
PRODUCT = """def k(y, a, b, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    s = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, n, BK):
        k = k0 + tl.arange(0, BK)
        s += tl.dot(tl.load(a + r[:, None] * n + k[None, :]), tl.load(b + k[:, None] * n + c[None, :]))
    tl.store(y + r[:, None] * n + c[None, :], s)
"""
TRANSPOSE = """def k(y, x, n, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    tl.store(y + c[None, :] * n + r[:, None], tl.load(x + r[:, None] * n + c[None, :]))
"""


def product(**values):
    return [dict(zip(values, row)) for row in itertools.product(*values.values())]


def lists():
    """Name, body, arguments with the grid, configurations."""
    for n, blocks in ((1 << 16, (64, 256, 1024, 4096)), (1 << 20, (32, 128, 512, 2048, 8192)), (3 << 20, (256, 4096))):
        for name, value in (("gelu", "v * tl.sigmoid(1.702 * v)"), ("copy", "v + 1")):
            yield (f"{name}_{n}", ELEMENTWISE.format(value=value),
                   [f"y=empty:f32[{n}]", f"x=randn:f32[{n}]", f"n={n}", "--grid", "cdiv(n,BLOCK)"],
                   product(BLOCK=blocks))
    for rows, n, chunks in ((256, 1000, (32, 128, 512, 1024)), (64, 8192, (64, 256, 1024, 4096, 8192)),
                            (2048, 256, (16, 64, 256)), (512, 4096, (128, 2048))):
        yield (f"softmax_{rows}x{n}", ROWS,
               [f"y=empty:f32[{rows},{n}]", f"x=randn:f32[{rows},{n}]", f"n={n}", "--grid", str(rows)],
               product(CHUNK=chunks))
    for rows, n, chunks in ((1024, 1024, (8, 32, 128, 1024)), (128, 16384, (16, 64, 256, 1024, 4096)),
                            (4096, 100, (4, 16, 128)), (16, 100000, (64, 512, 4096))):
        yield (f"sum_{rows}x{n}", SUM,
               [f"y=empty:f32[{rows}]", f"x=randn:f32[{rows},{n}]", f"n={n}", "--grid", str(rows)],
               product(CHUNK=chunks))
    for n, values in ((128, dict(BM=(16, 32, 64), BN=(32, 64), BK=(32,))), (256, dict(BM=(16, 64), BN=(16, 64, 128), BK=(16, 64))),
                      (384, dict(BM=(32, 64, 128), BN=(64, 128), BK=(32, 64)))):
        yield (f"product_{n}", PRODUCT,
               [f"y=empty:f32[{n},{n}]", f"a=randn:f32[{n},{n}]", f"b=randn:f32[{n},{n}]", f"n={n}", "--grid", "cdiv(n,BM),cdiv(n,BN)"],
               product(**values))
    for n, blocks in ((512, (16, 32, 64)), (1024, (8, 32, 128)), (2048, (16, 64))):
        yield (f"transpose_{n}", TRANSPOSE,
               [f"y=empty:f32[{n},{n}]", f"x=randn:f32[{n},{n}]", f"n={n}", "--grid", "cdiv(n,BR),cdiv(n,BC)"],
               product(BR=blocks, BC=blocks))


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def words(config):
    return [f"{name}={value}" for name, value in config.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--loops", type=int, default=2, help="processes that keep cores busy while it tunes")
    parser.add_argument("--seconds", type=float, default=1, help="of measuring a configuration at length")
    parser.add_argument("--json", help="FILE for what was measured")
    options = parser.parse_args()
    nereid = os.path.abspath(options.nereid)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, NEREID_CACHE_DIR=folder + "/cache")
        for name, body, arguments, configs in lists():
            path = pathlib.Path(folder) / f"{name}.py"
            listed = ", ".join(f"triton.Config({config})" for config in configs)
            path.write_text(f"{HEADER}@triton.autotune(configs=[{listed}], key=[])\n@triton.jit\n{body}")
            kernel = f"{path}:k"
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.loops)]
            try:
                record = json.loads(run([nereid, "tune", kernel, *arguments, "--json", "-"], env=environment))
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
            chosen = {key: record["config"][key] for key in configs[0]}
            others = [word for config in configs[1:] for word in ("--against", " ".join([kernel, *words(config)]))]
            table = json.loads(run([nereid, "bench", kernel, *arguments, *words(configs[0]), *others, "--times-only",
                                    "--seconds", str(options.seconds), "--json", "-"], env=environment))
            times = [row["time [ms]"] for row in table["rows"]]
            if len(times) != len(configs) or None in times:
                sys.exit(f"{name}: {len(configs)} configurations, {times}")
            loss = times[configs.index(chosen)] / min(times) - 1
            row = dict(name=name, configs=len(configs), chosen=" ".join(words(chosen)), loss=loss,
                       uncertain=record.get("rivals", 0), seconds=record["seconds"])
            rows.append(row)
            says = f"not certain ({row['uncertain']})" if row["uncertain"] else "certain"
            print(f"{name:18} {len(configs):2} configurations, {row['seconds']:5.1f} s: {row['chosen']:24} "
                  f"{100 * loss:6.1f} % above the best, {says}", flush=True)
    right = sum(row["loss"] <= 0.05 for row in rows)
    unsure = sum(row["loss"] > 0.05 and row["uncertain"] > 0 for row in rows)
    wrong = len(rows) - right - unsure
    print(f"{len(rows)} lists: {right} within 5 %, {unsure} others called not certain, {wrong} wrong")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return wrong > len(rows) / 20


if __name__ == "__main__":
    sys.exit(main())
