#!/usr/bin/env python3
"""What upstream Triton's language has, and what of it Nereid accepts.

  test/upstream/names.py --write            names.json from the installed triton
  test/upstream/names.py --check NEREID     every name, with its parameters, their
                                            order and defaults, in a kernel of its
                                            own (examples.py), but for those of
                                            excluded.json
  test/upstream/names.py --oracle           the same kernels through upstream's
                                            front end; names.json is current
  test/upstream/names.py --markdown NEREID  docs/UPSTREAM.md

names.json has the functions with their parameters, and the other names, of
upstream's newest version. `--package FOLDER` takes the triton unpacked there,
`--fetch FOLDER` fetches its wheel into that folder where another version, or
none, is installed. Exit status 77: the oracle's triton is neither installed nor fetched.
"""
import argparse
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import examples
import wheel

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "3.9.0"
SKIP = 77
# Upstream's own arguments, which its compiler fills in.
INTERNAL = {"_semantic", "_generator", "_builder", "self"}
# Members of dtypes that are for its compiler, not for kernels.
COMPILERS = {"FP_TYPES", "KIND", "OTHER_TYPES", "SIGNEDNESS", "SINT_TYPES", "STANDARD_FP_TYPES", "UINT_TYPES",
             "cache_key_part", "codegen_name", "is_dtype", "is_void", "mangle", "to_ir", "with_element_ty"}


def parameters(function):
    """As a call has them: "x", "axis=None", "*args", and "*" in front of those that have to be named."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    texts, is_named = [], False
    for p in signature.parameters.values():
        if p.name in INTERNAL:
            continue
        if p.kind == p.KEYWORD_ONLY and not is_named:
            texts.append("*")
        is_named |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={getattr(p.default, 'value', p.default)!r}"
        texts.append(stars + p.name + default)
    return texts


def split_parameters(text):
    """[(name without stars, default or None)] of "x: tensor, axis: static=None, sep: str=', '"; a lone "*" stays."""
    parts = re.findall(r"""((?:'[^']*'|\([^()]*\)|[^,'(])+)(?:,\s*|$)""", text or "")
    fields = [re.match(r"(\**\w*)\s*(?::\s*\w+\s*)?(?:=(.*))?$", part.strip()) for part in parts]
    return [(field[1] if field[1] == "*" else field[1].lstrip("*"), field[2]) for field in fields]


# Defaults that are written in another way, and mean the same: of upstream, of ours.
SAME = {("0", "False"), ("<PROPAGATE_NAN.NONE: 0>", "None"), ("0", "None"), ("triton.language.float32", "None")}


def signature_problems(full, wanted, have):
    """What a call in upstream's way would not find in our parameters: names, places, defaults."""
    ours, place = dict(have), 0
    for name, default in split_parameters(", ".join(wanted)):
        if name == "*":
            place = None
            continue
        if name not in ours:
            yield f"{full}({name})"
            continue
        if place is not None:
            if have[place][0] != name:
                yield f"{full}({name}) is not parameter {place + 1}"
            place += 1
        own = ours[name]
        if default is not None and own != default and (default, own) not in SAME:
            yield f"{full}({name}) has the default {own}, upstream {default}"


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
        return [n for n, v in vars(module).items() if not n.startswith("_") and callable(v) and not inspect.isclass(v)
                and getattr(v, "__module__", "") == module.__name__]

    def members(cls, more=()):
        return {n: None for n in sorted([n for n in dir(cls) if not n.startswith("_")] + list(more))}

    # What the package has beside __all__: functions and classes of its own, no modules.
    own = [n for n, v in vars(tl).items() if not n.startswith("_") and n not in ("str_to_ty", "TYPE_CHECKING")
           and getattr(v, "__module__", "").startswith("triton.language")]
    return {
        "version": triton.__version__,
        "tl": functions(tl, sorted({*tl.__all__, *own})),
        "tl.math": functions(tl.math, public(tl.math)),
        "tl.extra.cuda": functions(cuda, [n for n in cuda.__all__ if n != "libdevice"]),
        "libdevice": {name: types for name in sorted(public(libdevice))
                      for types in [first_types(getattr(libdevice, name))]},
        "tl.target_info": functions(target_info, public(target_info)),
        "tensor": members(tl.tensor, ["dtype", "numel", "shape", "type"] + ["T"] * ("T" not in dir(tl.tensor))),
        "tensor_descriptor": members(tl.tensor_descriptor),
        "dtype": {n: None for n in sorted({*dir(tl.dtype)} - COMPILERS | {"element_ty", "int_bitwidth", "itemsize", "name",
                                                                           "primitive_bitwidth"}) if n[0] != "_"},
        "triton": functions(triton, triton.__all__) | {"Config": parameters(triton.Config)},
    }


def first_types(function):
    """The argument types in the first row of a libdevice function's table."""
    source = inspect.getsource(getattr(function, "fn", function))
    row = re.search(r"\(((?:\s*core\.dtype\(\"\w+\"\),?\s*)+)\)\s*:", source)
    return re.findall(r'"(\w+)"', row[1])


def ours(nereid):
    """module -> name -> parameters of the table of built-ins; and what it refuses."""
    text = subprocess.run([nereid, "builtins", "--markdown"], check=True, capture_output=True, text=True).stdout
    headings = {"triton.language": "tl", "triton.language.math": "tl.math",
                "triton.language.extra.libdevice": "libdevice", "triton.language.extra.cuda": "tl.extra.cuda",
                "triton.language.target_info": "tl.target_info", "Methods of tensor descriptors": "tensor_descriptor"}
    accepted, refused = {}, {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        heading = section.split("\n", 1)[0]
        module = headings.get(heading, heading)
        for line in section.split("\n"):
            row = re.match(r"\| `(\w+)(?:\((.*)\))?` \|.*\| (.*) \|$", line.replace("\\|", "/"))
            if row:
                accepted.setdefault(module, {})[row[1]] = split_parameters(row[2])
        found = re.search(r"^Refused with a message: (.*)\.$", section, flags=re.M)
        refused[module] = re.findall(r"`(\w+)`", found[1]) if found else []
    accepted["tl.math"] = {**accepted["tl"], **accepted.get("tl.math", {})}
    return accepted, refused


def kernels(names, excluded):
    """(full name, the kernel's name, its text) of every name that is not excluded; and of features of syntax."""
    number = 0
    for module, entries in [*names.items(), ("syntax", examples.SYNTAX)]:
        for name in entries if module != "version" else ():
            full = f"{module}.{name}"
            if full in excluded:
                continue
            if module == "libdevice":
                statement = examples.libdevice(name, entries[name])
            else:
                statement = examples.MODULES[module].get(name)
            number += 1
            yield full, f"k{number}", statement and examples.kernel(f"k{number}", name, statement)


def compile_kernels(nereid, folder, wanted):
    """Problems of kernels in one file. One kernel that calls all of them is compiled first; where that fails, each one."""
    path = folder / "examples.py"
    plain = [kernel for _, kernel, text in wanted if text.startswith("@triton.jit\n")]
    calls = "".join(f"    {kernel}({', '.join(examples.PARAMETERS)})\n" for kernel in plain)
    path.write_text(examples.FILE + "".join(text for _, _, text in wanted) +
                    f"@triton.jit\ndef every({', '.join(examples.PARAMETERS)}):\n{calls}")
    signature = ", ".join(examples.PARAMETERS.values())

    def problem(item):
        full, kernel, _ = item
        done = subprocess.run([nereid, "compile", f"{path}:{kernel}", "--signature", signature, "--emit", "tile", "-o",
                               str(folder / f"{kernel}.out")], capture_output=True, text=True)
        return f"{full}: {done.stderr.strip()}" if done.returncode else None

    if not problem(("every", "every", "")):
        wanted = [item for item in wanted if item[1] not in plain]
    return [p for p in map(problem, wanted) if p]


def check(nereid, names, excluded):
    accepted, refused = ours(nereid)
    problems, missing = [], set()
    for module, entries in names.items():
        for name, wanted in entries.items() if module not in ("version", "libdevice", "triton", "tl.math") else ():
            have = accepted.get(module, {}).get(name)
            if have is not None:
                missing |= set(signature_problems(f"{module}.{name}", wanted or [], have))
    problems += [name if " " in name else f"{name} is not accepted" for name in sorted(missing) if name not in excluded]
    for module, listed in refused.items():
        problems += [f"{module}.{name} is refused and not in excluded.json" for name in listed
                     if f"{module}.{name}" not in excluded]
    every = {f"{module}.{name}" for module, entries in names.items() if module != "version" for name in entries}
    problems += [f"excluded.json has {full}, which upstream has not" for full in excluded
                 if full not in every | missing]
    found = list(kernels(names, excluded))
    problems += [f"{full} has no kernel in examples.py" for full, _, text in found if text is None]
    with tempfile.TemporaryDirectory() as folder:
        problems += compile_kernels(nereid, pathlib.Path(folder), [item for item in found if item[2]])
    return problems


def oracle(names, excluded):
    """Problems of the kernels in upstream's front end, and of names.json."""
    import importlib.util
    import warnings

    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    class Driver:
        """Without a GPU: what target_info asks."""

        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

    triton.runtime.driver.set_active(Driver())
    problems = [] if upstream() == names else ["names.json is not current; run names.py --write"]
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({})
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = pathlib.Path(folder) / "examples.py"
        found = [item for item in kernels(names, excluded) if item[2]]
        path.write_text(examples.FILE + "".join(text for _, _, text in found))
        spec = importlib.util.spec_from_file_location("kernels_of_names", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for full, kernel, _ in found:
            if full in examples.STUBS:
                continue
            function = getattr(module, kernel)
            while not isinstance(function, triton.JITFunction):
                function = function.fn
            context = ir.context()
            ir.load_dialects(context)
            backend.load_dialects(context)
            try:
                constants = {"EVEN": True} if "EVEN" in function.arg_names else {}
                source = ASTSource(function, examples.PARAMETERS | dict.fromkeys(constants, "constexpr"), constants)
                source.make_ir(backend.target, options, backend.get_codegen_implementation(options),
                               backend.get_module_map(), context)
            except Exception as error:
                problems.append(f"upstream refuses the kernel of {full}: {error}")
    return problems


def markdown(nereid, names, excluded):
    lines = ["# Upstream's language and Nereid's", "",
             "Made by `test/upstream/names.py --markdown` from the names of triton " f"{names['version']}, "
             "`test/upstream/excluded.json` and", "`test/upstream/versions.json`; a test keeps it current.", "",
             "## Versions", "", *examples_of_versions(), "", "## Names", "",
             "Everything that the language of this version exports is accepted on every target, but for the last table. A "
             "test compiles a", "kernel of its own for every name (`test/upstream/examples.py`), which upstream's front end "
             "accepts as well, and", "compares parameters: their names, order and defaults. What earlier versions had and "
             "later ones removed stays: block", "pointers (`tl.make_block_ptr`, `tl.advance`, `boundary_check`, "
             "`padding_option`) and `can_reorder`.",
             "", "| module | names upstream | accepted |", "|---|---|---|"]
    for module, entries in names.items():
        if module != "version":
            out = sum(f"{module}.{name}" in excluded for name in entries)
            lines.append(f"| {module} | {len(entries)} | {len(entries) - out} |")
    lines += ["", "| not accepted | reason |", "|---|---|"]
    lines += [f"| `{name}` | {reason} |" for name, reason in excluded.items()]
    return "\n".join(lines) + "\n"


def examples_of_versions():
    """The section of versions."""
    table = json.loads((HERE / "versions.json").read_text())
    lines = [*table["text"], "", "| where | before | since | then |", "|---|---|---|---|"]
    lines += [f"| {row['where']} | {row['before']} | {row['since']} | {row['then']} |" for row in table["differences"]]
    lines += ["", *table["accepted"]]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", metavar="NEREID")
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("--markdown", metavar="NEREID")
    parser.add_argument("--package", metavar="FOLDER")
    parser.add_argument("--fetch", metavar="FOLDER")
    options = parser.parse_args()
    if options.package:
        sys.path.insert(0, options.package)
    if options.write:
        (HERE / "names.json").write_text(json.dumps(upstream(), indent=1) + "\n")
        return 0
    names = json.loads((HERE / "names.json").read_text())
    excluded = json.loads((HERE / "excluded.json").read_text())
    if options.markdown:
        sys.stdout.write(markdown(options.markdown, names, excluded))
        return 0
    if options.oracle:
        os.environ.pop("TRITON_INTERPRET", None)
        reason = wheel.make_importable(VERSION, options.fetch)
        if reason:
            print(f"skipped: {reason}")
            return SKIP
        problems = oracle(names, excluded)
    else:
        problems = check(options.check, names, excluded)
    count = sum(len(entries) for module, entries in names.items() if module != "version")
    print("\n".join(problems) or f"{count - len(excluded)} of {count} names of triton {names['version']} are accepted, "
          f"{len(excluded)} excluded with a reason")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
