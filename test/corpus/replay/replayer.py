"""Replays launches and classes the results.

A launch that crashes, differs, or whose two upstream runs differ is run again with NEREID_CHECK=oob. If that finds an
access outside of the arguments' memory, the recorded launch itself is `invalid`: it read or wrote a neighbour's memory
upstream, so no replay of it can be judged. So is a launch whose `nereid run` warns that it leaves its arrays; a warning of an
access that the check does not find is `wrong`.
"""
import argparse
from concurrent.futures import ThreadPoolExecutor
import json
import os
from pathlib import Path
import re
import shutil
import sys
import tempfile
import time

from replay import compare, launchfile, report
from replay.batch import Tool
from replay.traces import Sources, Trace, identity, name_of

PERTURBED = 4  # runs on inputs that differ in their last bits
CHECK_AGAIN = ("crash", "wrong", "unstable")


def read_options(words):
    parser = argparse.ArgumentParser(prog="replay run")
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16, help="launches a process")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a launch")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds in all")
    parser.add_argument("--only", default="", help="SUITE:FILE:KERNEL contains this")
    parser.add_argument("--sample", type=int, default=0, help="about so many launches, spread over all")
    parser.add_argument("--most-bytes", type=int, default=0, help="leaves out launches with more memory")
    parser.add_argument("--most-programs", type=int, default=0, help="leaves out launches with more programs")
    parser.add_argument("--set", default="", help="launch options in place of the recorded ones: num_warps=8,num_stages=2")
    parser.add_argument("--time", type=int, default=0, help="times so many further launches (device clock)")
    parser.add_argument("--cache", default="", help="where compiled kernels are kept; a fresh folder when absent")
    parser.add_argument("--longest", action="store_true", help="of each kernel the launch that took upstream the longest")
    parser.add_argument("--again", default="", help="an earlier --json: only what was not right there is run, the rest is taken over")
    return parser.parse_args(words)


def jobs_of(options, scratch):
    """[(trace, row)] that the options ask for, each launch once."""
    jobs, seen = [], set()
    for folder in options.traces:
        trace = Trace(folder, scratch)
        for number, row in enumerate(trace.rows):
            row["number"] = f"{Path(folder).name}:{number}"
            key = identity(row)
            if options.only in name_of(row) and key not in seen:
                seen.add(key)
                jobs.append((trace, row))
    if getattr(options, "again", ""):
        right = {r["number"] for r in right_rows(options.again)}
        jobs = [job for job in jobs if job[1]["number"] not in right]
    if getattr(options, "most_bytes", 0):
        jobs = [job for job in jobs if job[1]["bytes"] <= options.most_bytes]
    if getattr(options, "most_programs", 0):
        jobs = [job for job in jobs if programs_of(job[1]) <= options.most_programs]
    if getattr(options, "longest", False):
        longest = {}
        for job in jobs:
            kept = longest.setdefault(name_of(job[1]), job)
            if job[1].get("upstream_ms", 0) > kept[1].get("upstream_ms", 0):
                longest[name_of(job[1])] = job
        jobs = list(longest.values())
    if getattr(options, "sample", 0):
        jobs = jobs[::max(1, len(jobs) // options.sample)]
    return jobs


def right_rows(path):
    return [row for row in json.loads(Path(path).read_text())["rows"] if row["status"] in report.RIGHT] if path else []


def programs_of(row):
    product = 1
    for n in row["grid"]:
        product *= n
    return product


def result_of(row):
    return dict(number=row["number"], suite=row["suite"], file=row["file"], kernel=row["kernel"], line=row["line"], grid=row["grid"],
                types=[a["dtype"] if a["kind"] == "tensor" else a["kind"] for a in row["args"]], bytes=row["bytes"])


class Batch:
    """Some launches in a folder of their own."""

    def __init__(self, tool, sources, jobs, scratch, forced, timed=0):
        self.tool, self.sources, self.forced, self.timed = tool, sources, forced, timed
        self.jobs = {f"L{n}": job for n, job in enumerate(jobs)}
        self.scratch = scratch

    def run(self):
        folder = Path(tempfile.mkdtemp(prefix="batch-", dir=self.scratch))
        try:
            return self.replay(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def replay(self, folder):
        results, launches = {}, []
        for name, (trace, row) in self.jobs.items():
            results[name] = result_of(row)
            try:
                launch = launchfile.describe(trace, row, self.sources.path_of(trace, row), folder, name)
                launch["options"].update(self.forced)
                if self.timed:
                    launch["repeat"] = self.timed
                launches.append(launch)
            except launchfile.Inexpressible as error:
                results[name].update(status="inexpressible", message=str(error))
            except OSError as error:
                results[name].update(status="tool-error", message=str(error)[:300])
        for name, answer in self.tool.run(launches, folder).items():
            results[name].update(self.judge(folder, name, answer))
        for one in launches:
            if results[one["id"]]["status"] == "wrong":
                results[one["id"]].update(self.judge_perturbed(folder, one))
        warned = {name for name in self.jobs if results[name].pop("warned", False)}
        suspects = [launchfile.widened(one) for one in launches
                    if results[one["id"]]["status"] in CHECK_AGAIN or one["id"] in warned]
        if suspects:
            for name, answer in self.tool.run(suspects, folder, NEREID_CHECK="oob").items():
                found = re.search(r"out-of-bounds access[^\n]*", answer.get("error", ""))
                # What a table of pointers points at belongs to no argument: the check knows nothing of it.
                tables = any(s.get("pointers") for s in self.jobs[name][1]["storages"])
                if found and not (tables and "outside every argument" in found.group(0)):
                    results[name].update(status="invalid", was=results[name]["status"], message=found.group(0)[:200])
                elif name in warned:
                    results[name].update(status="wrong", message="nereid run warned of an access outside, and there is none")
        return list(results.values())

    def judge_perturbed(self, folder, launch):
        """The verdict with a tolerance that knows how much the launch's results move with its inputs' last bits."""
        trace, row = self.jobs[launch["id"]]
        views, runs = launchfile.typed_views(row), []
        for seed in range(PERTURBED):
            storages = []
            for number, storage in enumerate(launch["storages"]):
                file = Path(storage["file"] + f".{seed}")
                file.write_bytes(compare.perturbed(Path(storage["file"]).read_bytes(), views[number], seed))
                storages.append(dict(storage, file=str(file), out=storage["out"] + f".{seed}"))
            runs.append(dict(launch, storages=storages, id=f"{launch['id']}.{seed}"))
        answers = self.tool.run(runs, folder)
        if any(answers[run["id"]]["status"] != "ok" for run in runs):
            return {}
        others = {n: [Path(run["storages"][n]["out"]).read_bytes() for run in runs] for n in range(len(launch["storages"]))}
        status, detail = judge_memory(trace, row, folder, launch["id"], "dot" in self.text_of(trace, row), others)
        return dict(status=status, message=detail[:500], perturbed=True)

    def judge(self, folder, name, answer):
        trace, row = self.jobs[name]
        found = {k: answer[k] for k in ("first_ms", "fastest_ms", "median_ms") if k in answer}
        found["warned"] = "warnings" in answer
        if "upstream_ms" in row:
            found["upstream_ms"] = row["upstream_ms"]
        if answer["status"] != "ok":
            message = answer.get("error", "").replace(str(folder), "D").replace(str(self.sources.corpora), "S")
            status = "refused" if answer["status"] == "failed" else answer["status"]
            return dict(found, status=status, message=short(message), detail=message[:1500])
        try:
            status, detail = judge_memory(trace, row, folder, name, "dot" in self.text_of(trace, row))
        except (OSError, ValueError) as error:
            return dict(found, status="tool-error", message=f"{type(error).__name__}: {error}"[:300])
        return dict(found, status=status, message=detail[:500])

    def text_of(self, trace, row):
        return self.sources.path_of(trace, row).read_text(errors="replace")


def judge_memory(trace, row, folder, name, dot, others=None):
    status, details = "ok", []
    views = launchfile.typed_views(row)
    for storage in row["storages"]:
        before, want, again = trace.images(storage)
        got = launchfile.output_file(folder, name, storage["number"]).read_bytes()[:len(want)]
        result, detail = compare.storage_status(got, want, before, again, views[storage["number"]], dot,
                                                (others or {}).get(storage["number"], ()))
        status = compare.worse(status, result)
        if detail:
            names = [a["name"] for a in row["args"] if a["kind"] == "tensor" and a["storage"] == storage["number"]]
            details.append(f"{', '.join(names) or 'storage'} ({detail})")
    return status, "; ".join(details)


def short(text):
    """The first diagnostic, without its place."""
    found = re.search(r"(?:error|Error): (.*)", text)
    return (found.group(1) if found else text.strip().split("\n")[0])[:300]


def forced_options(text):
    values = {}
    for entry in filter(None, text.split(",")):
        name, _, value = entry.partition("=")
        values[name] = json.loads(value)
    return values


def main(words):
    options = read_options(words)
    scratch = tempfile.mkdtemp(prefix="replay-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        return replay_all(options, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def replay_all(options, scratch):
    sources = Sources(options.corpora, scratch)
    tool = Tool(str(Path(options.tool).resolve()), options.device, options.timeout, options.threads,
                options.cache or Path(scratch) / "cache")
    jobs = jobs_of(options, scratch)
    size = max(1, options.batch)
    parts = [jobs[n:n + size] for n in range(0, len(jobs), size)]
    forced, start, rows = forced_options(options.set), time.time(), right_rows(options.again)

    def work(part):
        if time.time() - start > options.limit:
            return [dict(result_of(row), status="not-run", message="no time left") for _, row in part]
        return Batch(tool, sources, part, scratch, forced, options.time).run()

    def save():
        if options.json:
            Path(options.json).write_text(json.dumps(dict(device=options.device, set=forced, rows=rows), indent=0))

    with ThreadPoolExecutor(options.jobs) as pool:
        for n, results in enumerate(pool.map(work, parts)):
            rows += results
            if n % 8 == 7:
                print(f"{len(rows)} of {len(jobs)}, {time.time() - start:.0f} s", file=sys.stderr, flush=True)
                save()
    save()
    print(report.counts(rows))
    if options.time:
        print(report.speeds(rows))
    return 0


def main_show(words):
    parser = argparse.ArgumentParser(prog="replay show")
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--corpora", required=True)
    parser.add_argument("--only", default="", help="SUITE:FILE:KERNEL or TRACE:NUMBER contains this")
    parser.add_argument("--to", required=True)
    options = parser.parse_args(words)
    target = Path(options.to).resolve()
    target.mkdir(parents=True, exist_ok=True)
    sources = Sources(options.corpora, target)
    only, options.only = options.only, ""
    for trace, row in jobs_of(options, target):
        if only == row["number"] or only in name_of(row):
            name = f"{row['kernel']}-{row['number'].split(':')[-1]}"
            launch = launchfile.describe(trace, row, sources.path_of(trace, row), target, name)
            for storage, image in zip(launch["storages"], sorted(row["storages"], key=lambda s: s["number"])):
                Path(storage["out"].replace(".out", ".want")).write_bytes(trace.images(image)[1])
            (target / f"{name}.json").write_text(json.dumps(launch, indent=1))
            print(target / f"{name}.json")
    return 0
