#!/usr/bin/env python3
"""What upstream Triton's language has, and what of it Nereid accepts.

  test/upstream/names.py --write          names.json from the installed triton
  test/upstream/names.py --check NEREID   every name and parameter is accepted,
                                          but for those of excluded.json
  test/upstream/names.py --markdown NEREID  docs/UPSTREAM.md

names.json has the functions with their parameters, and the other names, of
upstream 3.6. Where triton is installed --check compares it with that too.
"""
import argparse
import inspect
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Upstream's own arguments, which its compiler fills in.
INTERNAL = {"_semantic", "_generator", "_builder", "self"}

# What a name that is no function means in a kernel, as a check of it there.
TYPES = ("bfloat16 float16 float32 float64 float8e4nv float8e5 int1 int8 int16 int32 int64 uint8 uint16 uint32 "
         "uint64").split()
PROBES = {
    **{name: f"tl.static_assert(tl.zeros([4], tl.{name}).dtype == tl.{name})" for name in TYPES},
    "PropagateNan": "tl.maximum(1.0, 2.0, propagate_nan=tl.PropagateNan.ALL)",
    "TRITON_MAX_TENSOR_NUMEL": "tl.static_assert(tl.TRITON_MAX_TENSOR_NUMEL == 1048576)",
    "tensor_descriptor": "isinstance(p, tl.tensor_descriptor)",
    "const": "p.to(tl.pointer_type(tl.float32))",
    "constexpr": "x: tl.constexpr = 3\n    tl.arange(0, x + 1)",
    "constexpr_type": "isinstance(3, tl.constexpr_type)",
    "dtype": "tl.static_assert(isinstance(tl.float32, tl.dtype))",
    "extra": "tl.extra.cuda.num_warps()",
    "math": "tl.math.exp(tl.zeros([4], tl.float32))",
    "pi32_t": "p.to(tl.pi32_t)",
    "slice": "isinstance(p, tl.slice)",
    "target_info": "tl.static_assert(not tl.target_info.is_hip())",
    "tensor": "tl.static_assert(isinstance(tl.arange(0, 4), tl.tensor))",
    "tuple": "tl.static_assert(isinstance((1, 2), tl.tuple))",
    "void": "isinstance(p, tl.dtype)",
}
# Values that a descriptor carries.
DESCRIPTOR = ("d = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [8, 8])\n    tl.static_assert(d.block_shape[0] == 8 "
              "and d.dtype == tl.float32 and d.block_type.shape[0] == 8)")


def parameters(function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [p.name for p in signature.parameters.values() if p.name not in INTERNAL]


def upstream():
    import triton
    import triton.language as tl
    import triton.language.extra.cuda as cuda
    import triton.language.extra.cuda.libdevice as libdevice
    import triton.language.target_info as target_info

    def functions(module, names):
        result = {}
        for name in names:
            value = getattr(module, name)
            is_function = callable(value) and not inspect.isclass(value)
            value = getattr(value, "fn", value)
            result[name] = parameters(value) if is_function else None
        return dict(sorted(result.items()))

    def public(module):
        return [n for n, v in vars(module).items()
                if not n.startswith("_") and callable(v) and getattr(v, "__module__", "").startswith("triton")
                and v.__module__ == module.__name__]

    members = [n for n in dir(tl.tensor) if not n.startswith("_") and n != "T"]
    descriptor = [n for n in dir(tl.tensor_descriptor) if not n.startswith("_")]
    return {
        "version": triton.__version__,
        "tl": functions(tl, tl.__all__),
        "tl.math": functions(tl.math, public(tl.math)),
        "tl.extra.cuda": functions(cuda, [n for n in cuda.__all__ if n != "libdevice"]),
        "libdevice": functions(libdevice, public(libdevice)),
        "tl.target_info": functions(target_info, ["cuda_capability_geq", "current_target", "is_cuda", "is_hip",
                                                  "is_hip_cdna3", "is_hip_cdna4"]),
        "tensor": {n: None for n in members},
        "tensor_descriptor": {n: None for n in descriptor},
    }


HEADINGS = {
    "triton.language": ["tl"],
    "triton.language.math": ["tl.math"],
    "triton.language.extra.libdevice": ["libdevice"],
    "triton.language.extra.cuda": ["tl.extra.cuda"],
    "triton.language.target_info": ["tl.target_info"],
    "Methods of tensor descriptors": ["tensor_descriptor"],
}


def ours(nereid):
    """module -> name -> parameters; and the methods of tensors."""
    text = subprocess.run([nereid, "builtins", "--markdown"], check=True, capture_output=True, text=True).stdout
    accepted, refused = {}, {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        heading = section.split("\n", 1)[0]
        module = HEADINGS.get(heading, [heading])[0]
        for line in section.split("\n"):
            row = re.match(r"\| `(\w+)(?:\((.*)\))?` \|.*\| (.*) \|$", line.replace("\\|", "/"))
            if row:
                names = [re.split(r"[:=]", p)[0].strip().lstrip("*") for p in (row[2] or "").split(",")]
                accepted.setdefault(module, {})[row[1]] = names
                if "method" in row[3] and module == "triton.language" or module == "tl":
                    accepted.setdefault("tensor", {})
                    if "method" in row[3]:
                        accepted["tensor"][row[1]] = names
        found = re.search(r"^Refused with a message: (.*)\.$", section, flags=re.M)
        refused[module] = re.findall(r"`(\w+)`", found[1]) if found else []
    # Functions that stand in several modules have one row.
    accepted["tl.math"] = {**accepted["tl"], **accepted.get("tl.math", {})}
    accepted["libdevice"] = {**accepted["tl"], **accepted["libdevice"]}
    return accepted, refused


def probe(nereid, name, statement):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "probe.py"
        path.write_text("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(p):\n    "
                        f"{statement}\n")
        done = subprocess.run([nereid, "compile", f"{path}:k", "--signature", "*fp32", "--emit", "tile", "-o",
                               str(pathlib.Path(folder) / "out")], capture_output=True, text=True)
        return None if done.returncode == 0 else f"tl.{name} in a kernel: {done.stderr.strip()}"


def check(nereid, names, excluded):
    accepted, refused = ours(nereid)
    problems = []
    used = set()
    for module, entries in names.items():
        if module == "version":
            continue
        for name, wanted in entries.items():
            full = f"{module}.{name}"
            if full in excluded:
                used.add(full)
                continue
            have = accepted.get(module, {}).get(name)
            if have is None and module == "tl" and name in PROBES:
                problem = probe(nereid, name, PROBES[name])
                problems += [problem] if problem else []
            elif have is None and module == "tensor_descriptor" and name in ("block_shape", "block_type", "dtype"):
                problem = probe(nereid, name, DESCRIPTOR)
                problems += [problem] if problem else []
            elif have is None:
                problems.append(f"{full} is not accepted")
            else:
                missing = [p for p in wanted or [] if p not in have and f"{full}({p})" not in excluded
                           and module not in ("libdevice", "tl.math")]
                used.update(f"{full}({p})" for p in wanted or [] if f"{full}({p})" in excluded)
                problems += [f"{full} has no parameter '{p}'" for p in missing]
    for module, list_of_names in refused.items():
        problems += [f"{module}.{name} is refused and not in excluded.json" for name in list_of_names
                     if f"{module}.{name}" not in excluded]
    problems += [f"excluded.json has {full}, which upstream has not" for full in excluded if full not in used]
    return problems


def markdown(nereid, names, excluded):
    accepted, _ = ours(nereid)
    lines = ["# What upstream has and Nereid has not", "",
             f"Made by `test/upstream/names.py --markdown` from the names of triton {names['version']}, the table of "
             "built-ins and", "`test/upstream/excluded.json`; a test keeps it current. Everything else that upstream's "
             "language exports is", "accepted on every target.", "", "| module | names upstream | accepted |",
             "|---|---|---|"]
    for module, entries in names.items():
        if module != "version":
            out = sum(f"{module}.{name}" in excluded for name in entries)
            lines.append(f"| {module} | {len(entries)} | {len(entries) - out} |")
    lines += ["", "| not accepted | reason |", "|---|---|"]
    lines += [f"| `{name}` | {reason} |" for name, reason in excluded.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", metavar="NEREID")
    parser.add_argument("--markdown", metavar="NEREID")
    options = parser.parse_args()
    if options.write:
        (HERE / "names.json").write_text(json.dumps(upstream(), indent=1) + "\n")
        return
    names = json.loads((HERE / "names.json").read_text())
    excluded = json.loads((HERE / "excluded.json").read_text())
    if options.markdown:
        sys.stdout.write(markdown(options.markdown, names, excluded))
        return
    problems = check(options.check, names, excluded)
    try:
        installed = upstream()
    except ImportError:
        installed = None
    if installed and installed["version"] == names["version"] and installed != names:
        problems.append("names.json differs from the installed triton; run names.py --write")
    count = sum(len(entries) for module, entries in names.items() if module != "version")
    print("\n".join(problems) or f"{count - len(excluded)} of {count} names of triton {names['version']} are accepted, "
          f"{len(excluded)} excluded with a reason")
    sys.exit(bool(problems))


main()
