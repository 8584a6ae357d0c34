#!/usr/bin/env python3
"""test/gpu/explain_counters.py on counters that are made up: what explain says itself agrees, and what is off is marked."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import CASES

SCRIPT = Path(__file__).resolve().parents[2] / "gpu" / "explain_counters.py"
sys.path.insert(0, str(SCRIPT.parent))
import explain_counters  # noqa: E402


def counted(report, us):
    """The counters of a GPU that does what explain says."""
    def total(key, space, kinds):
        return explain_counters.access_sum(report, space, kinds, key)

    row = {explain_counters.TIME: us * 1e3, "dram__bytes_read.sum": report["moved_bytes_read"],
           "dram__bytes_write.sum": report["moved_bytes_written"],
           "launch__registers_per_thread": report["registers"], "launch__block_size": report["threads"],
           "launch__shared_mem_per_block_dynamic": report["shared_bytes"],
           explain_counters.CONFLICTS.format("ld"): explain_counters.conflicts_of(report)}
    for (op, *_), kinds in explain_counters.KINDS.items():
        row[explain_counters.GLOBAL.format("sectors", op)] = total("sectors", "global", kinds)
        row[explain_counters.GLOBAL.format("requests", op)] = total("requests", "global", kinds)
    for by in ("blocks", "registers", "shared_mem", "warps"):
        row[f"launch__occupancy_limit_{by}"] = report["theoretical_warps"] * 32 / report["threads"]
    return row


def compare(nereid, rows):
    names = ["ID", "Kernel Name", *explain_counters.LAUNCH, *explain_counters.WANTED]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counters.csv"
        with path.open("w") as file:
            file.write("==PROF== what ncu says in front\n")
            writer = csv.DictWriter(file, names, restval="0", quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerow({explain_counters.TIME: "ns"})
            for kernel, row in rows.items():
                writer.writerow({"ID": 1, "Kernel Name": kernel, **{name: f"{value:,}" for name, value in row.items()}})
        command = [sys.executable, SCRIPT, nereid, "--csv", path, "--reread", "--only", "partial"]
        return subprocess.run(command, capture_output=True, text=True)


def main():
    nereid = sys.argv[1]
    reports = {case.kernel: case.explain(nereid) for case in CASES if "partial" in case.kernel}
    if not all(report["registers"] for report in reports.values()):
        print("skipped: no ptxas")
        sys.exit(77)
    rows = {kernel: counted(report, report["predicted_us"]) for kernel, report in reports.items()}
    right = compare(nereid, rows)
    assert right.returncode == 0 and "0 are." in right.stdout, right.stdout + right.stderr
    rows["partial"]["dram__bytes_read.sum"] *= 1.2
    wrong = compare(nereid, rows)
    assert wrong.returncode == 1 and "/ 644 !" in wrong.stdout and "1 are." in wrong.stdout, wrong.stdout + wrong.stderr
    print("what agrees passes, and what does not is marked")


main()
