"""Every @triton.autotune and @triton.heuristics decorator of the public corpora: evaluated, or refused with a reason?

  decorators.py [--tool build/bin/nereid] [--corpora .corpora] [--jobs 2] [--only TEXT] [--least 95] [--verbose]

`nereid tune FILE --list` evaluates the decorators of a file: lists of configurations, keys, names of heuristics. With guessed
arguments it also runs their functions: heuristics, prune_configs_by, hooks. A decorator counts as evaluated when everything that
it says was; else the message must name what is missing, with its line. Guesses are of the kind that audit.py makes, so a function
that asks more of its arguments than a guess can answer (a dict, an object of the program's own) counts as refused too.
Files for other vendors' machines are evaluated as on a host with an NVIDIA GPU first; what is refused so, as on the machine that
hosts.json describes: variables of the environment, and what the vendor's library would answer. Both counts are printed.
Exit status 1 when fewer than --least percent are evaluated or a refusal says no line; 77 without corpora.
"""
import argparse
import ast
import collections
from concurrent.futures import ThreadPoolExecutor
import json
import os
from pathlib import Path
import re
import subprocess
import sys

from audit import POINTER, is_constexpr, pointers_of, compared_strings, guess_constexpr

ROOT = Path(__file__).resolve().parents[2]
HOSTS = json.loads((Path(__file__).parent / "hosts.json").read_text())
INTEGRAL = ("idx", "index", "indices", "offset", "len", "cu_", "table", "label", "seed")


def name_of(decorator):
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def decorated(path):
    """(function, [decorator]) of each function with a decorator that tunes."""
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = [d for d in node.decorator_list if isinstance(d, ast.Call) and name_of(d) in ("autotune", "heuristics")]
            if found:
                yield node, found


def guesses(function, text):
    """NAME=VALUE of every parameter, for heuristics and hooks to look at."""
    arguments = function.args
    pointers, strings = pointers_of(function), compared_strings(function)
    hooked = {argument.value for decorator in function.decorator_list for call in ast.walk(decorator)
              if isinstance(call, ast.Call) and "zero" in name_of(call)
              for argument in call.args if isinstance(argument, ast.Constant)}
    asked = hooked | set(re.findall(r"\[['\"](\w+)['\"]\]\.(?:dtype|shape|stride|numel|size|element_size|is_contiguous)", text))
    for parameter in arguments.posonlyargs + arguments.args + arguments.kwonlyargs:
        name = parameter.arg
        if is_constexpr(parameter.annotation):
            yield f"{name}={guess_constexpr(name, strings)}"
        elif name in pointers | asked or POINTER.search(name):
            yield f"{name}={'zeros:i32' if any(word in name.lower() for word in INTEGRAL) else 'zeros:f32'}[64,64]"
        elif any(word in name.lower() for word in ("eps", "scale", "alpha", "beta", "lr", "momentum", "value")):
            yield f"{name}=1.0"
        else:
            yield f"{name}=1024"


def why(texts, otherwise):
    """What could not be evaluated; a misspelt name is no reason."""
    return [text for text in texts if "has no parameter '" not in text or "triton.autotune has" in text] or texts or [otherwise]


def refusals(found, decorator):
    """What one decorator of a described kernel left open."""
    if "refused" in found:
        return [found["refused"]]
    launch = found.get("launch", {})
    if name_of(decorator) == "autotune":
        if not found["configs"]:
            return why(found["unknown"], "no configuration, and no reason")
        parts = [launch.get("left"), *launch.get("hooks", {}).values()]
    else:
        names = [k.value for d in ast.walk(decorator) if isinstance(d, ast.Dict) for k in d.keys if isinstance(k, ast.Constant)]
        if not found["heuristics"] or not set(names) <= set(found["heuristics"]):
            return why(found["unknown"], "no heuristic, and no reason")
        parts = [value for name, value in launch.get("heuristics", {}).items() if not names or name in names]
    return [part["refused"] for part in parts if isinstance(part, dict) and "refused" in part]


def run(tool, kernel, arguments, host=None):
    host = host or {}
    bindings = [part for name, value in host.get("bindings", {}).items() for part in ("--bind", f"{name}={value}")]
    command = [str(tool), "tune", kernel, *arguments, *bindings, "--list"]
    environment = {**os.environ, **host.get("environment", {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr)


def judge(tool, path, corpora):
    """(place, name, refusals, machine) of each decorator of a file: as on a host with an NVIDIA GPU, else as on the one described."""
    functions = list(decorated(path))
    if not functions:
        return []
    rows = judge_on(tool, path, corpora, functions, None)
    hosts = [host for host in HOSTS if str(path.relative_to(corpora)).startswith(host["files"])]
    for host in hosts if any(row[2] for row in rows) else []:
        rows = [row if not row[2] else (*row[:2], [*row[2], *other[2]], "") if other[2] else other
                for row, other in zip(rows, judge_on(tool, path, corpora, functions, host))]
    return rows


def judge_on(tool, path, corpora, functions, host):
    everything, error = run(tool, str(path), [], host)
    by_line = {found.get("line"): found for found in everything or []}
    by_name = {found["kernel"]: found for found in everything or []}
    rows = []
    for function, decorators in functions:
        found = by_line.get(function.lineno) or by_name.get(function.name)
        if found and "refused" not in found:
            launched, _ = run(tool, f"{path}:{function.name}", list(guesses(function, path.read_text())), host)
            found = launched[0] if launched else found
        for decorator in decorators:
            left = refusals(found, decorator) if found else [error or f"{path}:{function.lineno}: '{function.name}' is not among the kernels"]
            rows.append((f"{path.relative_to(corpora)}:{decorator.lineno}", f"{name_of(decorator)} of {function.name}", left,
                         host["machine"] if host else ""))
    return rows


def summary(text):
    line = next((l for l in text.splitlines() if re.search(r"(error|warning|note):", l)), text)
    return re.sub(r"^.*?(error|warning|note): ", "", line)[:150]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, default=ROOT / "build/bin/nereid")
    parser.add_argument("--corpora", type=Path, default=ROOT / ".corpora")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    corpora = options.corpora
    names = [line.split()[0] for line in (ROOT / "test/corpus/corpora.txt").read_text().splitlines() if line and line[0] != "#"]
    folders = [corpora / name for name in names if (corpora / name).is_dir()]
    if not folders:
        print("skipped: no corpora; scripts/fetch-corpora fetches them")
        return 77
    files = [path for folder in folders for path in sorted(folder.rglob("*.py")) if options.only in str(path)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [row for rows in pool.map(lambda path: judge(options.tool, path, corpora), files) for row in rows]
    refused = [row for row in rows if row[2]]
    for place, name, texts, _ in refused:
        print(f"{place}: {name}: {summary(texts[0])}")
        if options.verbose:
            print("".join("    " + line + "\n" for text in texts for line in text.splitlines()))
    nameless = [row for row in refused if not any(re.search(r"\.py:\d+", text) for text in row[2])]
    for place, name, *_ in nameless:
        print(f"{place}: {name}: the refusal names no line")
    share = 100 * (len(rows) - len(refused)) / max(len(rows), 1)
    described = collections.Counter(row[3] for row in rows if row[3] and not row[2])
    for machine, count in described.items():
        print(f"{count} evaluated as on {machine}")
    print(f"{len(rows) - len(refused) - sum(described.values())} evaluated as on a host with an NVIDIA GPU")
    print(f"{len(rows)} decorators: {len(rows) - len(refused)} evaluated ({share:.1f} %), {len(refused)} refused")
    return 1 if share < options.least or nameless else 0


if __name__ == "__main__":
    sys.exit(main())
