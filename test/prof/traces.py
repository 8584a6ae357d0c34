#!/usr/bin/env python3
"""Traces of the fused layer norm and of the unfused chain of the same launches, against the bench that made them.

    test/prof/traces.py build/bin/nereid --bound 0.05               # on cpu
    test/prof/traces.py build/bin/nereid --device cuda:0 --keep .   # on a GPU; leaves layer_norm.json and bench.json

`nereid bench layer_norm --trace` measures and records the same runs. The trace must keep the format's rules. With --bound, what
the device's tracks say a run took must agree with the table within it: of the kernels of a run, from the begin of the first to
the end of the last, the least, or with --median the median. Traces of nereid run and nereid tune are checked for the rules and
for what they hold; with --bound, also that of a worker that is ended after a second.
"""

import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from check_trace import check

AUTOTUNED = """
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)

@triton.autotune(configs=[triton.Config({"HANGS": 0}), triton.Config({"HANGS": 1}, num_warps=8)], key=["n"])
@triton.jit
def hanging(x, y, flag, n, HANGS: tl.constexpr):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    if HANGS:
        while tl.atomic_add(flag, 0) == 0:
            pass
    tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)
"""


def run(nereid, folder, *words):
    environment = {**os.environ, "NEREID_CACHE_DIR": os.path.join(folder, "cache")}
    done = subprocess.run([nereid, *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"nereid {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done


def tracks_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return check(json.load(file))


def require(holds, what):
    if not holds:
        sys.exit(what)


def runs_of(tracks, device):
    """Milliseconds on the device of every run of each provider. A range is a run: what was launched in it is found by its time
    on host devices, and by its arrow's number, which is its order, on GPUs."""
    ranges, launches = [], []
    for (process, _, track), slices in tracks.items():
        for event in slices:
            begin, end = event["ts"], event["ts"] + event["dur"]
            if process == "host" and event["cat"] == "range":
                ranges.append((begin, end, event["name"]))
            elif process == "host" and event["cat"] == "queue":
                launches.append((begin, event["name"]))
    kernels = sorted((event["ts"], event["ts"] + event["dur"]) for (process, _, _), slices in tracks.items() if process == device
                     for event in slices if event["cat"] == "kernel")
    queued = sorted(begin for begin, name in launches if name not in ("fill", "copy from the host", "copy to the host", "copy"))
    starts = queued if device.startswith("cuda") else [begin for begin, _ in kernels]
    require(len(starts) == len(kernels), f"{len(starts)} launches were queued, {len(kernels)} kernels ran")
    found = collections.defaultdict(list)
    at = 0
    for begin, end, name in sorted(ranges):
        while at < len(starts) and starts[at] < begin:
            at += 1
        first = at
        while at < len(starts) and starts[at] <= end:
            at += 1
        if at > first:
            found[name].append((kernels[at - 1][1] - kernels[first][0]) / 1e3)
    return found


def check_bench(options, folder):
    run(options.nereid, folder, "bench", "layer_norm", f"M={options.rows}", f"N={options.columns}", "--device", options.device,
        "--times-only", "--seconds", str(options.seconds), "--json", "bench.json", "--trace", "layer_norm.json")
    with open(os.path.join(folder, "bench.json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    runs = runs_of(tracks_of(folder, "layer_norm.json"), options.device)
    column = "time [ms]" if options.median else "least [ms]"
    failed = False
    print(f"| provider | runs | trace ms | bench {column} | off |\n|---|--:|--:|--:|--:|")
    for row in rows:
        # A range has the point's values after the provider's name.
        named = [name for name in runs if name.split(" ")[0] == row["provider"]]
        times = [time for name in named for time in runs[name]]
        require(all(f"N={options.columns}" in name for name in named), f"the runs {named} do not name their point")
        require(times, f"the trace has no runs of {row['provider']}")
        traced = statistics.median(times) if options.median else min(times)
        off = traced / row[column] - 1
        failed |= options.bound is not None and abs(off) > options.bound
        print(f"| {row['provider']} | {len(times)} | {traced:.4f} | {row[column]:.4f} | {off:+.1%} |")
    require(not failed, f"the trace and the table are further apart than {options.bound}")


def check_run(options, folder):
    with open(os.path.join(folder, "tuned.py"), "w", encoding="utf-8") as file:
        file.write(AUTOTUNED)
    run(options.nereid, folder, "run", "tuned.py:add", "x=randn:f32[1000]", "y=empty:f32[1000]", "n=1000", "--grid", "cdiv(n, BLOCK)",
        "--device", options.device, "--trace", "run.json")
    tracks = tracks_of(folder, "run.json")
    kinds = {event["cat"] for slices in tracks.values() for event in slices}
    require({"compile", "stage", "cache", "launch", "kernel"} <= kinds, f"nereid run --trace records only {sorted(kinds)}")


def check_tune(options, folder):
    run(options.nereid, folder, "tune", "tuned.py:add", "x=randn:f32[100000]", "y=empty:f32[100000]", "n=100000", "--grid",
        "cdiv(n, BLOCK)", "--limit", "3600", "--again", "--device", options.device, "--trace", "tune.json")
    tracks = tracks_of(folder, "tune.json")
    forms = {event["args"]["compiled for"] for slices in tracks.values() for event in slices if event["cat"] == "kernel"}
    require(len({form.split(",")[0] for form in forms}) == 2, f"nereid tune --trace has the forms {sorted(forms)}")
    ranges = {event["name"] for slices in tracks.values() for event in slices if event["cat"] == "range"}
    for name in (r"choice: BLOCK=\d+", r"\d+ rounds? of \d+ configurations?"):
        require(any(re.match(name, each) for each in ranges), f"nereid tune --trace has no range '{name}', only {sorted(ranges)}")


def check_limit(options, folder):
    """A worker that takes longer than the limit is ended, and its part of the trace is missing."""
    run(options.nereid, folder, "tune", "tuned.py:hanging", "x=randn:f32[1000]", "y=empty:f32[1000]", "flag=zeros:i32[1]", "n=1000",
        "--grid", "16", "--limit", "1", "--again", "--device", options.device, "--trace", "hanging.json")
    tracks_of(folder, "hanging.json")
    with open(os.path.join(folder, "hanging.json"), encoding="utf-8") as file:
        told = json.load(file)["otherData"]
    require(any("HANGS=1" in text and "is missing" in text for text in told.values()), f"a worker that was ended is not told: {told}")


def check_failure(options, folder):
    """A command that fails leaves the trace of what it did."""
    words = [options.nereid, "run", "tuned.py:add", "x=randn:f32[1000]", "y=empty:f32[1000]", "n=1000", "--grid", "8",
             "BLOCK=0", "--device", options.device, "--trace", "failed.json"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    require(done.returncode == 1 and "error: " in done.stderr, f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
    names = [event["name"] for slices in tracks_of(folder, "failed.json").values() for event in slices]
    require("read add" in names and "add" in names, f"the trace of a failed run has only {names}")


def check_errors(options, folder):
    """Whatever keeps a trace from being written is reported before the work, or, of a full disk, leaves nothing."""
    launch = ["tuned.py:add", "x=randn:f32[1000]", "y=empty:f32[1000]", "n=1000", "--grid", "8", "--device", options.device]
    for command in (["run"], ["bench", "--times-only", "--seconds", "0"], ["tune"]):
        for file, reason in (("none/trace.json", "error: --trace: cannot write 'none/trace.json': there is no folder 'none'"),
                             (".", "error: --trace: cannot write '.': expected a file, got a folder"),
                             ("/dev/full", "error: cannot write '/dev/full': No space left on device")):
            words = [options.nereid, command[0], *launch, *command[1:], "--trace", file]
            before = set(os.listdir(folder))
            environment = {**os.environ, "NEREID_CACHE_DIR": os.path.join(folder, "cache")}
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
            require(done.returncode == 1 and reason in done.stderr, f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
            require(set(os.listdir(folder)) == before, f"{' '.join(words)} leaves {set(os.listdir(folder)) - before}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--columns", default="2048")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--median", action="store_true", help="compare medians instead of the fastest runs: on a quiet machine")
    parser.add_argument("--bound", type=float, help="a share, such as 0.05: for the speed ring")
    parser.add_argument("--keep", help="a folder for the traces")
    options = parser.parse_args()
    options.nereid = os.path.abspath(options.nereid)
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(options.keep or temporary)
        check_bench(options, folder)
        check_run(options, folder)
        check_tune(options, folder)
        if options.bound is not None:
            check_limit(options, folder)
        check_failure(options, folder)
        check_errors(options, folder)


if __name__ == "__main__":
    main()
