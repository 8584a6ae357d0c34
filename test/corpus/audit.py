"""Compiles every @triton.jit function of a folder to Tile IR, with guessed signatures, and lists what is refused.

  audit.py --tool build/bin/nereid [--jobs N] [--only TEXT] [--json OUT] [--verbose] FOLDER...

It finds what host code around a kernel (imports, globals, decorators, defaults) and the language's front end refuse. Types
and constants are guessed from names and from uses, so a kernel may also be refused because of a bad guess: the table's
rows are messages with what varies taken out, and those that name the host are the compiler's business.
Exit status 1 when a compilation crashes or does not end; refusals are a matter of the table.
"""
import argparse
import ast
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path
import re
import subprocess
import sys

POINTER = re.compile(r"(^|_)(ptr|pointer|addr)s?($|_)|_ptr|Ptr$")
FLAG = re.compile(r"^(IS|HAS|USE|EVEN|DO|ENABLE|STORE|WITH|NEED|CAUSAL|TRANS|REVERSE|HEAD_FIRST|INCLUDE|APPLY|OUTPUT|SAVE)(_|$)")
MEMORY = {"load", "store", "atomic_add", "atomic_cas", "atomic_xchg", "atomic_max", "atomic_min", "make_block_ptr", "make_tensor_descriptor"}


def says_jit(decorator):
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return isinstance(decorator, ast.Attribute) and decorator.attr == "jit" or isinstance(decorator, ast.Name) and decorator.id == "jit"


def is_constexpr(annotation):
    return annotation is not None and "constexpr" in ast.unparse(annotation)


def base_names(node):
    """Names that an address expression is computed from: p in p + i * stride."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return base_names(node.left)
    return set()


def pointers_of(function):
    """Parameters that reach a memory operation, also through assignments and calls of the same names."""
    origin, found = defaultdict(set), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            origin[node.targets[0].id] |= base_names(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
            origin[node.target.id] |= set()
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            first = node.args[:1] + [k.value for k in node.keywords if k.arg in ("pointer", "base")]
            if name in MEMORY:
                for argument in first:
                    found |= base_names(argument)
    while True:
        more = set().union(*(origin[name] for name in found)) - found if found else set()
        if not more:
            return found
        found |= more


def compared_strings(function):
    """name -> a string it is compared with."""
    strings = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            for other in node.comparators:
                if isinstance(other, ast.Constant) and isinstance(other.value, str):
                    strings.setdefault(node.left.id, other.value)
    return strings


def guess_constexpr(name, strings):
    lower = name.lower()
    if name in strings:
        return f'"{strings[name]}"'
    if "dtype" in lower or lower.endswith("type"):
        return "fp32"
    if FLAG.match(name.upper()) and not any(word in lower for word in ("size", "num", "block", "dim")):
        return "true"
    if "eps" in lower or "scale" in lower:
        return "1.0"
    if "num_stages" in lower or "unroll" in lower or "group" in lower:
        return "2"
    if any(word in lower for word in ("block", "size", "dim", "head", "tile", "chunk", "pow2")) or name.isupper() and len(name) <= 3:
        return "32"
    return "16"


def signature_of(function):
    arguments = function.args
    parameters = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    pointers, strings = pointers_of(function), compared_strings(function)
    positional = arguments.posonlyargs + arguments.args
    defaults = {p.arg for p in positional[len(positional) - len(arguments.defaults):]}
    defaults |= {p.arg for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None}
    entries = []
    for parameter in parameters:
        name = parameter.arg
        if is_constexpr(parameter.annotation):
            if name not in defaults:
                entries.append(f"{name}={guess_constexpr(name, strings)}")
        elif name in pointers or POINTER.search(name):
            integral = any(word in name.lower() for word in ("idx", "index", "indices", "offset", "len", "cu_", "table", "label", "seed"))
            entries.append(f"{name}={'*i32' if integral else '*fp32'}:16")
        elif any(word in name.lower() for word in ("eps", "scale", "alpha", "beta", "lr", "momentum", "value")) or name in ("p", "theta"):
            entries.append(f"{name}=fp32")
        else:
            entries.append(f"{name}=i32")
    return ", ".join(entries)


def kernels_of(path):
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(map(says_jit, node.decorator_list)):
            yield node.name, signature_of(node)


def compile_kernel(tool, path, kernel, signature, timeout):
    command = [tool, "compile", f"{path}:{kernel}", "--emit", "tile", "--signature", signature]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if done.returncode == 0:
        return "ok", ""
    if done.returncode < 0 or done.returncode == 3:
        return "crash", done.stderr[-2000:]
    return "refused", done.stderr


def summary(text):
    """The message with what varies taken out."""
    first = next((line for line in text.splitlines() if "error:" in line), text.splitlines()[0] if text else "")
    message = first.split("error:", 1)[-1].strip()
    message = re.sub(r"'[^']*'", "'*'", message)
    return re.sub(r"\b\d+\b", "N", re.sub(r"(u?int|float|bfloat)\d+(\[[\d, ]*\])?", "T", message))[:140]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tool", default="build/bin/nereid")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    work = []
    for folder in options.folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            work += [(path, kernel, signature) for kernel, signature in kernels_of(path) if options.only in f"{path}:{kernel}"]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda w: compile_kernel(options.tool, *w, options.timeout), work))

    rows, refused = [], defaultdict(list)
    for (path, kernel, signature), (state, text) in zip(work, results):
        rows.append({"kernel": f"{path}:{kernel}", "signature": signature, "state": state, "text": text})
        if state != "ok":
            refused[(state, summary(text))].append(f"{path}:{kernel}")
    for (state, message), kernels in sorted(refused.items(), key=lambda item: -len(item[1])):
        print(f"{len(kernels):4} {state:8} {message}")
        for kernel in kernels if options.verbose else kernels[:1]:
            print(f"              {kernel}")
    counts = defaultdict(int)
    for row in rows:
        counts[row["state"]] += 1
    print(f"{len(rows)} kernels: " + ", ".join(f"{n} {state}" for state, n in sorted(counts.items())))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if counts["crash"] or counts["timeout"] else 0


if __name__ == "__main__":
    sys.exit(main())
