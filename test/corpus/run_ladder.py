#!/usr/bin/env python3
"""Compiles and runs rungs 1 to 34 of the ladder of public kernels, unchanged, on
every device, at awkward sizes, and compares with float64 within derived bounds.

    test/corpus/run_ladder.py                      all rungs on cpu and interp
    test/corpus/run_ladder.py --rungs 1-5,13 --device cpu --verbose
    test/corpus/run_ladder.py --device cuda:0      all rungs on a GPU
    test/corpus/run_ladder.py --check              nereid run --check of all of them

Needs .corpora (scripts/fetch-corpora), NumPy, and the target NereidBridge.
Exit status: 0 all passed, 1 something failed, 77 nothing to run with.
"""

import argparse
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77


def skip(reason):
    print(f"corpus ladder skipped: {reason}")
    sys.exit(SKIPPED)


try:
    import numpy as np
except ImportError:
    skip("this Python has no NumPy (scripts/test-venv makes one that has)")

sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]
import bridge  # noqa: E402
import rungs_elementwise  # noqa: E402,F401
import rungs_matmul  # noqa: E402,F401
import rungs_misc  # noqa: E402,F401
import rungs_reduction  # noqa: E402,F401
from device_memory import DeviceMemory  # noqa: E402
from ladder import RUNGS, Pointers, Verdict, judge  # noqa: E402
from memory import Array  # noqa: E402

PLACEMENTS = ("aligned", "edge")


def cases_of(rung):
    """The same cases, whichever other rungs run."""
    return list(rung.cases(np.random.default_rng(zlib.crc32(rung.kernel.encode()))))


def runs_on(case, device):
    """Some cases are too slow for the interpreter."""
    return device.startswith("cuda") or device in case.devices


def run_case(library, rung, case, device, placement):
    for array in case.extra.values():
        array.place(placement)
    memory = None
    if device.startswith("cuda") and any(isinstance(a, Pointers) for a in case.arrays().values()):
        memory = DeviceMemory()
        for array in case.extra.values():
            memory.copy(array)
    arguments = {name: value.place(placement) if isinstance(value, Array) else value
                 for name, value in case.arguments.items()}
    launch = library.prepare(ROOT / ".corpora" / rung.corpus / rung.file, rung.kernel, case.grid, arguments, device)
    launch.run()
    if memory:
        memory.read_back()
    return judge(case, device)


def check_case(library, rung, case, devices):
    """The same launch, judged by the reference executor's error bounds."""
    reachable = {name: array.place("aligned") for name, array in case.extra.items()}
    arguments = {name: value.place("aligned") if isinstance(value, Array) else value
                 for name, value in case.arguments.items()}
    launch = library.prepare(ROOT / ".corpora" / rung.corpus / rung.file, rung.kernel, case.grid, arguments, "cpu")
    passed, text = launch.check(devices, reachable)
    return Verdict(message="" if passed else text)


def worker(rung, device, first, options, pipe, complaints):
    """Runs the cases from number `first` on; one JSON line a case. What the
    compiler prints (warnings, the text of an assertion) goes to `complaints`."""
    os.dup2(complaints.fileno(), 2)
    library = bridge.Bridge(options.build)
    with os.fdopen(pipe, "w") as out:
        placements = ("aligned",) if options.check else PLACEMENTS
        jobs = [(case, placement) for case in cases_of(rung) for placement in placements]
        for number, (case, placement) in enumerate(jobs):
            # The reference of a check is the interpreter.
            if number < first or not runs_on(case, "interp" if options.check else device):
                continue
            record = {"number": number, "case": f"{case.label}, {placement}", "error": 0.0, "ratio": 0.0, "message": ""}
            complaints.truncate(0)
            print(json.dumps({"start": number, "case": record["case"]}), file=out, flush=True)
            try:
                if options.check:
                    verdict = check_case(library, rung, case, [device])
                else:
                    verdict = run_case(library, rung, case, device, placement)
                record.update(error=verdict.error, ratio=verdict.ratio, message=verdict.message)
            except bridge.Error as error:
                record["message"] = str(error).strip()
            print(json.dumps(record), file=out, flush=True)


def run_rung(rung, device, options):
    """A child process runs the cases, so that a crash or a hang of one case is
    one failure: the next child starts after it."""
    records, first = [], 0
    while True:
        reader, writer = os.pipe()
        complaints = tempfile.TemporaryFile("ab+")
        child = os.fork()
        if child == 0:
            os.close(reader)
            status = 1
            try:
                worker(rung, device, first, options, writer, complaints)
                status = 0
            except Exception:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(status)
        os.close(writer)
        started, timed_out = _collect(reader, records, options.timeout, child)
        _, status = os.waitpid(child, 0)
        complaints.seek(0)
        last = complaints.read().decode(errors="replace").splitlines()[-6:]
        if started is None:
            if status and not records:
                records.append({"number": 0, "case": "-", "error": 0, "ratio": 0,
                                "message": "\n".join(["the worker failed to start"] + last)})
            return records
        how = f"no end after {options.timeout:g} s" if timed_out else (
            f"died: {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else
            f"exit status {os.waitstatus_to_exitcode(status)}")
        records.append({**started, "error": 0, "ratio": 0, "message": "\n".join([how] + last)})
        first = started["number"] + 1


def _collect(reader, records, timeout, child):
    """Reads records until the child ends. Returns the case it was in, if it
    did not finish it, and whether it was killed for taking too long."""
    started, text = None, b""
    deadline = time.monotonic() + timeout
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            os.close(reader)
            return started, True
        chunk = os.read(reader, 65536)
        if not chunk:
            os.close(reader)
            return started, False
        deadline = time.monotonic() + timeout
        text += chunk
        *lines, text = text.split(b"\n")
        for line in lines:
            record = json.loads(line)
            if "start" in record:
                started = {"number": record["start"], "case": record["case"]}
            else:
                started = None
                records.append(record)


def parse_rungs(text):
    chosen = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        chosen += range(int(low), int(high or low) + 1)
    return chosen


def report(rung, device, records, options):
    failed = [r for r in records if r["message"]]
    worst = max((r["ratio"] for r in records), default=0)
    largest = max((r["error"] for r in records), default=0)
    state = "ok" if not failed else "FAILED"
    print(f"{rung.number:>3}  {rung.kernel:<36} {device:<7} {len(records) - len(failed):>3}/{len(records):<3} "
          f"{largest:>9.2e} {worst:>8.3g}  {state}", flush=True)
    if options.verbose:
        for r in records:
            print(f"       {r['case']:<64} {r['error']:>9.2e} {r['ratio']:>8.3g}  {'ok' if not r['message'] else 'FAILED'}")
    shown = failed if options.verbose else failed[:options.failures]
    for r in shown:
        print(f"     {r['case']}")
        for line in r["message"].splitlines()[:12]:
            print(f"       {line}")
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rungs", type=parse_rungs, default=sorted(RUNGS), help="such as 1-5,13")
    parser.add_argument("--device", action="append", help="cpu, interp, cuda:0; several times")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--timeout", type=float, default=60, help="seconds a case may take")
    parser.add_argument("--failures", type=int, default=1, help="failures shown a rung")
    parser.add_argument("--verbose", action="store_true", help="one line a case")
    parser.add_argument("--check", action="store_true",
                        help="judge by the reference executor's bounds instead, as nereid run --check does")
    parser.add_argument("--json", help="write every record here")
    options = parser.parse_args()
    if not (ROOT / ".corpora").is_dir():
        skip("no .corpora (scripts/fetch-corpora gets the public kernels)")
    if not os.path.exists(bridge.library_path(options.build)):
        skip(f"{bridge.library_path(options.build)} is not built")
    print(f"{'':>3}  {'kernel':<36} {'device':<7} {'cases':>7} {'max error':>9} {'/ bound':>8}")
    everything, failures, cases = {}, 0, 0
    for number in options.rungs:
        for device in options.device or ("cpu", "interp"):
            records = run_rung(RUNGS[number], device, options)
            everything[f"{number} {device}"] = records
            cases += len(records)
            failures += report(RUNGS[number], device, records, options)
    if options.json:
        Path(options.json).write_text(json.dumps(everything, indent=1))
    print(f"{cases - failures} cases passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
