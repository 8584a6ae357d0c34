"""Tables of replays."""
import argparse
import json
import math
from pathlib import Path
import re

RIGHT = ("ok", "ok-rounding", "unstable")
UNJUDGED = ("invalid", "inexpressible", "not-run", "unstable")
NAMES = ["ok", "ok-rounding", "unstable", "wrong", "refused", "crash", "timeout", "inexpressible", "invalid", "tool-error", "not-run"]
SEVERITY = {name: n for n, name in enumerate(["ok", "ok-rounding", "unstable", "not-run", "invalid", "inexpressible", "timeout",
                                              "refused", "wrong", "crash", "tool-error"])}


def kernels_of(rows):
    """(suite, file, kernel) -> its worst status."""
    kernels = {}
    for row in rows:
        key = (row["suite"], row["file"], row["kernel"])
        kernels[key] = max(kernels.get(key, "ok"), row["status"], key=SEVERITY.get)
    return kernels


def counts(rows):
    out = [f"{'suite':18} {'kernels':>7} {'right':>6} {'launches':>8} " + " ".join(f"{n:>11}" for n in NAMES)]
    for suite in sorted({row["suite"] for row in rows}) + ["all"]:
        mine = [row for row in rows if suite in (row["suite"], "all")]
        kernels = kernels_of(mine)
        right = sum(status in RIGHT for status in kernels.values())
        out.append(f"{suite:18} {len(kernels):7} {right:6} {len(mine):8} " +
                   " ".join(f"{sum(row['status'] == n for row in mine):11}" for n in NAMES))
    judged = [row for row in rows if row["status"] not in UNJUDGED]
    good = sum(row["status"] in RIGHT for row in judged)
    if judged:
        out.append(f"{good} of {len(judged)} launches that can be judged are right: {100 * good / len(judged):.2f} %")
    return "\n".join(out)


def speeds(rows):
    """Nereid's time over upstream's, the fastest launch of each; one row a kernel, its longest launch."""
    kernels = {}
    for row in rows:
        if row["status"] in RIGHT and row.get("fastest_ms") and row.get("upstream_ms"):
            key = (row["suite"], Path(row["file"]).name, row["kernel"])
            if key not in kernels or row["upstream_ms"] > kernels[key]["upstream_ms"]:
                kernels[key] = row
    if not kernels:
        return "no launch was timed by both compilers"
    ratios = sorted((row["fastest_ms"] / row["upstream_ms"], key) for key, row in kernels.items())
    lines = ["| suite | kernels | geometric mean | at most 1.1 | at most 1.5 | over 2 |", "|---|--:|--:|--:|--:|--:|"]
    for suite in sorted({key[0] for key in kernels}) + ["all"]:
        mine = [ratio for ratio, key in ratios if suite in (key[0], "all")]
        mean = math.exp(sum(map(math.log, mine)) / len(mine))
        lines.append(f"| {suite} | {len(mine)} | {mean:.2f} | {sum(r <= 1.1 for r in mine)} | {sum(r <= 1.5 for r in mine)} | "
                     f"{sum(r > 2 for r in mine)} |")
    lines += ["", "| nereid / triton | kernel | nereid us | triton us |", "|--:|---|--:|--:|"]
    for ratio, key in reversed(ratios):
        row = kernels[key]
        lines.append(f"| {ratio:.2f} | `{key[1]}:{key[2]}` | {row['fastest_ms'] * 1e3:.1f} | {row['upstream_ms'] * 1e3:.1f} |")
    return "\n".join(lines)


def explanation(row, rules):
    """The first rule whose patterns all fit: {kernel, message, status: regular expression; why}."""
    for rule in rules:
        if all(re.search(rule[key], str(row.get(key, ""))) for key in ("kernel", "message", "status", "file", "device") if key in rule):
            return rule["why"]
    return ""


def markdown(runs, rules):
    lines = ["| device | kernels | launches | judged | right | % | rounding | unstable | invalid | refused | wrong | crash, timeout |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for device, rows in runs:
        number = lambda *names: sum(row["status"] in names for row in rows)
        judged = [row for row in rows if row["status"] not in UNJUDGED]
        good = sum(row["status"] in RIGHT for row in judged)
        lines.append(f"| {device} | {len(kernels_of(rows))} | {len(rows)} | {len(judged)} | {good} | {100 * good / max(len(judged), 1):.2f} | "
                     f"{number('ok-rounding')} | {number('unstable')} | {number('invalid')} | {number('refused', 'inexpressible')} | "
                     f"{number('wrong')} | {number('crash', 'timeout', 'tool-error')} |")
    lines += ["", "| device | status | kernel | launches | what happens | why |", "|---|---|---|--:|---|---|"]
    for device, rows in runs:
        groups = {}
        for row in rows:
            if row["status"] not in ("ok", "ok-rounding", "not-run"):
                why = explanation(dict(row, device=device), rules)
                groups.setdefault((row["status"], row["file"], row["kernel"], why), []).append(row)
        for (status, file, kernel, why), members in sorted(groups.items()):
            message = members[0]["message"].replace("|", "\\|").replace("\n", " ")[:160]
            lines.append(f"| {device} | {status} | `{Path(file).name}:{kernel}` | {len(members)} | {message} | {why} |")
    return "\n".join(lines)


def main(words):
    parser = argparse.ArgumentParser(prog="replay table")
    parser.add_argument("results", nargs="+")
    parser.add_argument("--explained", default="", help="a list of rules: what kernel, message, status, file, device mean")
    options = parser.parse_args(words)
    runs = [(data["device"], data["rows"]) for data in (json.loads(Path(p).read_text()) for p in options.results)]
    print(markdown(runs, json.loads(Path(options.explained).read_text()) if options.explained else []))
    return 0
