#!/usr/bin/env python3
"""What `nereid explain` says without a GPU, against the counters of one.

    test/gpu/explain_counters.py build/bin/nereid --csv counters.csv            # measures, and compares
    test/gpu/explain_counters.py build/bin/nereid --csv counters.csv --measure  # only fills the file
    test/gpu/explain_counters.py build/bin/nereid --csv counters.csv --reread   # compares with what is in the file

Each kernel of test/explain/kernels runs three times under `ncu`, from cold caches, at the clock that the GPU chooses; counts
are of the last run, times the medians. Exits with 77 where there is no GPU or no ncu, and with 1 where a number is further
off than it may be.
"""

import argparse
import csv
import json
import re
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "explain" / "kernels"))
from cases import CASES, FOLDER  # noqa: E402

TIME = "gpu__time_duration.sum"
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
# By what the counters call them: copies to shared memory (cp.async) are loads to them.
KINDS = {("ld",): ("load", "copy"), ("st",): ("store",), ("atom", "red"): ("atomic",)}
# All that uses the banks: also shuffles, copies, and what the tensor cores read.
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
# The counter also has conflicts that no address explains: kernels without any, by their addresses, show up to 13 % of their
# passes, most of them none. So many passes the two may differ.
UNEXPLAINED = 0.15
# Bytes that the second-level cache of an H200 (50 MB) still holds when a kernel ends: kernels that write 268 MB once, in
# whole lines, show 13 to 26.4 MB less.
KEPT = 27e6
# Bytes that the counter has of a kernel that writes four.
OTHERS = 2.5e6
# A launch gives a thread so many registers at least, whatever the assembler says that it uses.
LEAST_REGISTERS = 16
LAUNCH = [
    "launch__registers_per_thread", "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
    "launch__shared_mem_per_block_driver", "launch__occupancy_limit_blocks", "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem", "launch__occupancy_limit_warps", "launch__grid_size", "launch__block_size",
    "launch__waves_per_multiprocessor", "launch__thread_count"
]
WANTED = [
    TIME, "dram__bytes_read.sum", "dram__bytes_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__cycles_elapsed.max", "sm__cycles_active.avg",
    "smsp__inst_executed.sum", "smsp__issue_active.avg.pct_of_peak_sustained_active",
    *(GLOBAL.format(what, op) for what in ("sectors", "requests", "output_wavefronts")
      for op in ("ld", "st", "atom", "red")),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", SHARED,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__m_xbar2l1tex_read_sectors.sum", "l1tex__m_l1tex2xbar_write_sectors.sum",
    "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_ldgsts.sum", "l1tex__lsuin_requests.sum", "lts__t_sectors.sum",
    "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum", "lts__t_requests.sum", "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum", "lts__cycles_elapsed.avg", "dram__sectors_read.sum",
    "dram__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second",
    "sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_op_shared_ld.sum"
]


def has_gpu():
    smi = shutil.which("nvidia-smi")
    return bool(smi) and subprocess.run([smi], capture_output=True).returncode == 0


def launch_of(case):
    """A launch file's object, of what the command line says."""
    storages, arguments, options = [], {}, {}
    for text in case.arguments.split():
        name, value = text.split("=", 1)
        array = re.fullmatch(r".*:(\w+)\[([\d,]+)\]", value)
        if array:
            shape = [int(size) for size in array[2].split(",")]
            dtype = array[1].replace("f", "fp").replace("i", "int")
            arguments[name] = {"tensor": {"dtype": dtype, "shape": shape, "storage": len(storages)}}
            storages.append({"generate": value})
        elif name.startswith("num_"):
            options[name] = int(value)
        else:
            arguments[name] = int(value)
    grid = [int(size) for size in case.grid.split(",")]
    kernel = {"file": str(FOLDER / case.file), "name": case.kernel}
    return {"id": case.kernel, "kernel": kernel, "grid": grid, "storages": storages, "arguments": arguments,
            "options": options, "repeat": 2}


def known_metrics(ncu):
    """Those of WANTED that this ncu has: an unknown one would end the run."""
    listed = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True).stdout
    base = {line.split()[0] for line in listed.splitlines() if line.strip()}
    known = [metric for metric in WANTED if metric.split(".")[0] in base]
    if not known:
        sys.exit("ncu --query-metrics lists none of the counters:\n" + listed[-500:])
    missing = [metric for metric in WANTED if metric not in known]
    if missing:
        print("not counted by this ncu:", *missing)
    return LAUNCH + known


def measure(nereid, path):
    ncu = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if not ncu or not has_gpu():
        print("skipped: no", "GPU" if ncu else "ncu")
        sys.exit(77)
    launches = path.with_suffix(".launches.json")
    launches.write_text(json.dumps([launch_of(case) for case in CASES]))
    names = "|".join(case.kernel for case in CASES)
    command = [ncu, "--csv", "--page", "raw", "--log-file", path, "--print-units", "base", "--clock-control", "none",
               "--cache-control", "all", "--target-processes", "all", "--kernel-name", f"regex:^({names})$",
               "--metrics", ",".join(known_metrics(ncu)), nereid, "run", "--launch", launches, "--device", "cuda:0"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    refused = [line for line in done.stdout.splitlines() if '"status"' in line and '"ok"' not in line]
    if done.returncode or refused:
        sys.exit("\n".join(["ncu failed:", *refused, done.stderr[-2000:], path.read_text()[-2000:]]))


def number(text):
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return 0.0


def read_counters(path):
    """By kernel: the counters of its last run, with the median time in microseconds."""
    text = path.read_text()
    rows = list(csv.DictReader(text[text.index('"ID"'):].splitlines()))
    units, runs = rows[0], {}
    for row in rows[1:]:
        runs.setdefault(row["Kernel Name"].split("(")[0], []).append(row)
    scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "s": 1e6, "second": 1e6}[units[TIME]]
    counters = {}
    for kernel, of in runs.items():
        counters[kernel] = {name: number(value) for name, value in of[-1].items()}
        counters[kernel]["us"] = scale * statistics.median(number(row[TIME]) for row in of)
    return counters


class Comparison:
    """Numbers of both sides; what is too far apart is marked."""

    def __init__(self):
        self.failures = 0

    def cell(self, ours, theirs, within=0.0, digits=0, more=0.0, less=0.0):
        """Ours may differ by a share of theirs, and be so much more or less besides."""
        tolerance = within * abs(theirs) + 0.5 * 10**-digits
        off = not -tolerance - less <= ours - theirs <= tolerance + more
        self.failures += off
        is_exact = not (within or more or less)
        text = f"{ours:.{digits}f}" if is_exact and not off else f"{ours:.{digits}f} / {theirs:.{digits}f}"
        return text + (" !" if off else "")


def access_sum(report, space, kinds, key):
    return sum(access[key] for access in report["accesses"] if access["space"] == space and access["access"] in kinds)


def conflicts_of(report):
    """Passes beyond the least, of what the counters take for loads and stores of shared memory."""
    kinds = ("load", "store", "ldmatrix", "stmatrix")
    return access_sum(report, "shared", kinds, "passes") - access_sum(report, "shared", kinds, "least_passes")


def row_of(case, report, counted, compare):
    def sectors(*ops):
        kinds = KINDS[ops]
        requests = sum(counted.get(GLOBAL.format("requests", op), 0) for op in ops)
        theirs = sum(counted.get(GLOBAL.format("sectors", op), 0) for op in ops) / max(requests, 1)
        ours = access_sum(report, "global", kinds, "sectors") / max(access_sum(report, "global", kinds, "requests"), 1)
        return compare.cell(ours, theirs, digits=1)

    conflicts = conflicts_of(report)
    counted_conflicts = sum(counted.get(CONFLICTS.format(op), 0) for op in ("ld", "st"))
    shared = sum(counted.get(f"launch__shared_mem_per_block_{kind}", 0) for kind in ("static", "dynamic"))
    blocks = min(counted[f"launch__occupancy_limit_{by}"] for by in ("blocks", "registers", "shared_mem", "warps"))
    unexplained = UNEXPLAINED * counted.get(SHARED, 0) / 1e3
    within = 0.25 if case.bound == "memory" else 0.35
    return [
        case.kernel, sectors("ld"), sectors("st"), sectors("atom", "red"),
        compare.cell(conflicts / 1e3, counted_conflicts / 1e3, less=unexplained, more=unexplained),
        compare.cell(report["moved_bytes_read"] / 1e6, counted["dram__bytes_read.sum"] / 1e6, within=0.05),
        compare.cell(report["moved_bytes_written"] / 1e6, counted["dram__bytes_write.sum"] / 1e6, within=0.05,
                     more=KEPT / 1e6, less=OTHERS / 1e6),
        compare.cell(max(report["registers"], LEAST_REGISTERS), counted["launch__registers_per_thread"]),
        compare.cell(report["shared_bytes"], shared),
        compare.cell(report["theoretical_warps"], blocks * counted["launch__block_size"] / 32),
        compare.cell(report["predicted_us"], counted["us"], within=within, digits=1)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("--csv", type=Path, required=True, help="where the counters are kept, as ncu writes them")
    parser.add_argument("--measure", action="store_true", help="only run ncu")
    parser.add_argument("--reread", action="store_true", help="do not run ncu")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    arguments = parser.parse_args()
    if not arguments.reread:
        measure(arguments.nereid, arguments.csv)
    if arguments.measure:
        return
    counters = read_counters(arguments.csv)
    cases = [case for case in CASES if arguments.only in case.kernel and case.kernel in counters]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda case: case.explain(arguments.nereid), cases))
    compare = Comparison()
    head = ["kernel", "sectors a load", "a store", "an atomic", "1000 conflicts", "MB read", "MB written", "registers",
            "shared", "warps", "us", "faster"]
    rows = [head, ["---"] * len(head)]
    for case, report in zip(cases, reports):
        rows.append(row_of(case, report, counters[case.kernel], compare))
        slow = counters.get(case.kernel.removesuffix("_fixed"))
        ratio = slow["us"] / counters[case.kernel]["us"] if slow and case.is_fixed else 0
        compare.failures += bool(ratio) and ratio < 1.3
        rows[-1].append(f"{ratio:.2f}x" + (" !" if ratio < 1.3 else "") if ratio else "")
    missing = [case.kernel for case in CASES if arguments.only in case.kernel and case.kernel not in counters]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |")
    print(f"\nWhere two numbers stand, explain's is the first; ! is further off than it may be. {compare.failures} are.")
    if missing:
        print("not counted:", *missing)
    sys.exit(1 if compare.failures or missing else 0)


if __name__ == "__main__":
    main()
