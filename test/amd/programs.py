#!/usr/bin/env python3
"""test/amd/programs.py NEREID-FUZZ NEREID-SOURCE-FUZZ [--count N] [--seed S] [--targets T,...] [--waves W,...] [--kinds K,...]
                     [--minutes M] [--results FILE] [--jobs J]

Random programs (nereid-fuzz) and random kernels in the language (nereid-source-fuzz) on the simulated AMD GPU, against the
reference executor: N of each kind for each target, dealt to the numbers of waves in turns of 16 seeds. Prints each failure, and at
the end a table of targets, kinds and waves. Exit status 1 if a run fails.

What is done is kept in FILE, so that the next command with it goes on there; after M minutes the command stops between
two turns, with the table as far as it is. J turns run side by side, by default one.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TURN = 16
SUMMARY = re.compile(r"(\d+) runs agree, (\d+) are undecided, (\d+) fail")


def words(text):
    return text.split(",")


def turns(options):
    """(target, kind, waves, first seed, how many), a turn of each target and kind before the next turn."""
    for done in range(0, options.count, TURN):
        waves = options.waves[done // TURN % len(options.waves)]
        for kind in options.kinds:
            for target in options.targets:
                yield target, kind, waves, options.seed + done, min(TURN, options.count - done)


def run(programs, turn):
    """What stands in FILE of a turn."""
    target, kind, waves, seed, count = turn
    environment = dict(os.environ, NEREID_HIP_DRIVER="simulator", NEREID_SIMULATOR=f"{target},races,seed={seed}")
    command = [programs[kind], "--seed", str(seed), "--count", str(count), "--keep-going", "--executor", f"hip:{waves}"]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    found = SUMMARY.search(output)
    if not found:
        sys.exit(f"error: {' '.join(command)}: no summary in\n{output}")
    for line in output.splitlines():
        if line.startswith("seed "):
            print(f"{target} {kind}: {line}", flush=True)
    agreed, undecided, failed = map(int, found.groups())
    reasons = {name: int(number) for number, name in re.findall(r"(\d+) ([a-z ]+)", "".join(re.findall("^undecided: (.*)", output, re.M)))}
    if sum(reasons.values()) != undecided:
        sys.exit(f"error: {' '.join(command)}: {undecided} are undecided, and the reasons are {reasons}")
    return {"turn": list(turn), "agreed": agreed, "failed": failed, "undecided": reasons}


def print_table(options, results):
    print("| target | kind | waves | cases | agreed | undecided | failed |\n|---|---|---|---|---|---|---|")
    for target in options.targets:
        for kind in options.kinds:
            for waves in options.waves:
                rows = [one for one in results if one["turn"][:3] == [target, kind, waves]]
                reasons = {}
                for row in rows:
                    for name, number in row["undecided"].items():
                        reasons[name] = reasons.get(name, 0) + number
                text = ", ".join(f"{number} {name}" for name, number in sorted(reasons.items())) or "0"
                cases, agreed, failed = (sum(numbers) for numbers in (
                    (row["turn"][4] for row in rows), (row["agreed"] for row in rows), (row["failed"] for row in rows)))
                print(f"| {target} | {kind} | {waves} | {cases} | {agreed} | {text} | {failed} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuzz")
    parser.add_argument("source_fuzz")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", type=words, default=["gfx942", "gfx1100", "gfx1201"])
    parser.add_argument("--waves", type=lambda text: [int(word) for word in words(text)], default=[1, 4, 8])
    parser.add_argument("--kinds", type=words, default=["programs", "kernels"])
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse()
    programs = {"programs": options.fuzz, "kernels": options.source_fuzz}
    results = []
    if options.results and options.results.exists():
        results = [json.loads(line) for line in options.results.read_text().splitlines()]
    done = {tuple(one["turn"]) for one in results}
    wanted = [turn for turn in turns(options) if turn not in done]
    end = time.monotonic() + 60 * options.minutes if options.minutes else None
    left = len(wanted)

    def result(turn):
        return None if end and time.monotonic() > end else run(programs, turn)

    with ThreadPoolExecutor(options.jobs) as pool:
        for one in filter(None, pool.map(result, wanted)):
            results.append(one)
            left -= 1
            if options.results:
                with options.results.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    chosen = {tuple(turn) for turn in turns(options)}
    results = [one for one in results if tuple(one["turn"]) in chosen]
    print_table(options, results)
    if left:
        print(f"{left} turns of up to {TURN} are left")
    failed = sum(one["failed"] for one in results)
    print(f"{failed} runs fail" if failed else "no run fails")
    return failed > 0


sys.exit(main())
