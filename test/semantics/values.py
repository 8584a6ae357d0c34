#!/usr/bin/env python3
"""Values of element-wise operators against upstream's interpreter.

    values.py --nereid build/bin/nereid [--device cpu]

For every pair of types, every operator that the version's table allows runs on all
pairs of awkward values: zeros of both signs, the ends of the ranges,
infinities, NaN, halves. What the language leaves undefined is not asked: integer
division by zero, shifts by the width or more, conversions out of range.
Integers must be equal; floats too, NaN for NaN, except that a quotient may be
off by two units in the last place of its type, and that minimum and maximum
may return either zero. Where one operand of those two is NaN, that interpreter
gives NaN, unlike upstream's GPUs and this project; there the other operand is
expected.

Exit status: 0 equal, 1 different, 77 no upstream Triton is installed (skipped).
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TRITON_INTERPRET"] = "1"
HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77

# Not bf16: that interpreter computes with its bits.
TYPES = ["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "fp32", "fp64"]
MANTISSA = {"fp16": 10, "fp32": 23, "fp64": 52}
SMALLEST = {"fp16": 2.0**-14, "fp32": 2.0**-126, "fp64": 2.0**-1022}
NUMPY = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}
COUNT = 16
BINARY = ["x + y", "x - y", "x * y", "x / d", "x // d", "x % d", "x & y", "x | y", "x ^ y", "x << s", "x >> s",
          "x == y", "x != y", "x < y", "x >= y", "tl.minimum(x, y)", "tl.maximum(x, y)", "tl.where(x == x, x, y)",
          "z.to(y.dtype)"]
UNARY = ["-x", "~x", "tl.abs(x)"]


def width(name):
    return 1 if name == "i1" else int(name.lstrip("ifpub"))


def is_float(name):
    return "f" in name


def awkward(name):
    """COUNT values of the type."""
    if name == "i1":
        return [0, 1] * (COUNT // 2)
    if is_float(name):
        big = {"fp16": 65504.0, "fp32": 3.4028234663852886e38, "fp64": 1.7976931348623157e308}[name]
        return [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan"), big, -big,
                SMALLEST[name], -SMALLEST[name], 7.75, -100.0]
    bits = width(name)
    top = 2**bits - 1 if name[0] == "u" else 2**(bits - 1) - 1
    low = 0 if name[0] == "u" else -2**(bits - 1)
    middle = [3, 7, 13, 100] if name[0] == "u" else [-1, -7, -13, -100]
    return [0, 1, 2, top, low, top - 1, low + 1, top // 2, 5, 31, 64, 127] + middle


def divisors(name):
    """No integer 0 or -1; floats as they are."""
    if is_float(name):
        return awkward(name)
    return [v if v not in (0, -1) else (1 if name == "i1" else 3) for v in awkward(name)]


def small(name):
    """What every type has room for."""
    values = [0, 1, 2, 3, 5, 7, 9, 15, 16, 31, 64, 100, 0.5, 1.5, 126.75, 99.25]
    return [v if name != "i1" else v % 2 >= 1 for v in (values if is_float(name) else map(int, values))]


def counts(name, limit):
    return [v % limit for v in range(COUNT)]


def load_table(path):
    """(expression, x, y) -> result, without the form."""
    table, types = {}, []
    for line in path.read_text().splitlines():
        if line.startswith("types "):
            types = line.split()[1:]
        elif not line.startswith("#"):
            expressions, x, results = line.split("\t")
            for expression in expressions.split("; "):
                for other, result in zip(types, results.split()):
                    key = (expression, other, "") if x == "*" else (expression, x, other)
                    table[key] = result.split("/")[0]
    return table


def operators(table, x, y):
    """(expression, result type) of those that the pair has."""
    chosen = []
    for expression in BINARY + (UNARY if x == y else []):
        if expression in UNARY:
            result = table[expression, x, ""]
        else:
            known = expression.replace(" d", " y").replace(" s", " y").replace("z.to", "x.to")
            result = table[known, x, y]
        shifts = "s" in expression.split()
        # int1 as an operand of a shift or a division has no use, and NumPy another idea of it.
        # That interpreter refuses these by mistake, and adds booleans by "or".
        both = {x, y} == {"i1"} and expression in ("x + y", "x - y", "-x")
        if both or (expression == "~x" and x[0] == "u"):
            continue
        if result in "-!" or ("i1" in (x, y) and expression.split()[1:2] in (["<<"], [">>"], ["//"], ["%"])):
            continue
        if shifts and width(result) > 64:
            continue
        chosen.append((expression, result))
    return chosen


def kernel_text(name, chosen):
    lines = ["@triton.jit", f"def {name}(a, b, c, e, f, ints, floats, N: tl.constexpr):",
             "    i = tl.arange(0, N)", "    j = tl.arange(0, N * N)",
             "    x = tl.load(a + j // N)", "    y = tl.load(b + j % N)", "    d = tl.load(c + j % N)",
             "    s = tl.load(e + j % N)", "    z = tl.load(f + j // N)"]
    for n, (expression, result) in enumerate(chosen):
        wide, place = ("float64", "floats") if is_float(result) else ("int64", "ints")
        lines.append(f"    tl.store({place} + {n} * N * N + j, ({expression}).to(tl.{wide}))")
    return "\n".join(lines) + "\n\n\n"


def arrays(x, y, chosen, torch):
    dtypes = {"i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
              "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "fp16": torch.float16,
              "fp32": torch.float32, "fp64": torch.float64}
    limit = min([width(r) for e, r in chosen if "s" in e.split()], default=8)
    limit = max(1, min(limit, 8))
    size = len(chosen) * COUNT * COUNT
    return {"a": torch.tensor(awkward(x), dtype=dtypes[x]), "b": torch.tensor(awkward(y), dtype=dtypes[y]),
            "c": torch.tensor(divisors(y), dtype=dtypes[y]), "e": torch.tensor(counts(y, limit), dtype=dtypes[y]),
            "f": torch.tensor(small(x), dtype=dtypes[x]), "ints": torch.zeros(size, dtype=torch.int64),
            "floats": torch.zeros(size, dtype=torch.float64)}


def signature(x, y):
    return {"a": x, "b": y, "c": y, "e": y, "f": x, "ints": "i64", "floats": "fp64"}


def same(expression, result, old, new, operands):
    """Elementwise; NumPy arrays of the results and of x and y in the wider type."""
    import numpy as np

    if not is_float(result):
        # The right shift of a signed number that is promoted to an unsigned type: that interpreter
        # keeps the sign afterwards, compiled code the bits of the type.
        unit = 64 - width(result) if expression == "x >> s" else 0
        return (old.astype(np.uint64) << np.uint64(unit)) == (new.astype(np.uint64) << np.uint64(unit))
    equal = (old == new) | (np.isnan(old) & np.isnan(new))
    if expression.startswith("tl.m"):
        equal |= np.isnan(old) & ((new == operands[0]) | (new == operands[1]))
    if expression in ("x + y", "x - y", "x * y", "-x"):
        equal &= (np.signbit(old) == np.signbit(new)) | np.isnan(old)
    if expression == "x / d":
        unit = np.maximum(np.abs(old), SMALLEST[result]) * 2.0**-MANTISSA[result]
        equal |= np.abs(old - new) <= 2 * unit
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nereid", required=True)
    parser.add_argument("--device", default="cpu,interp", help="cpu, interp, cuda:0, ...; several with commas")
    options = parser.parse_args()
    try:
        import numpy as np
        import torch
        import triton
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIP
    language = ".".join(triton.__version__.split(".")[:2])
    path = HERE / f"upstream_types_{language}.txt"
    if not path.exists():
        print(f"skipped: there is no {path.name}")
        return SKIP
    table = load_table(path)
    pairs = [(x, y) for x in TYPES for y in TYPES]
    chosen = {pair: operators(table, *pair) for pair in pairs}
    differences, compared = [], 0
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = "import triton\nimport triton.language as tl\n\n\n"
        text += "".join(kernel_text(f"{x}_{y}", chosen[x, y]) for x, y in pairs)
        (folder / "k.py").write_text(text)
        spec = importlib.util.spec_from_file_location("k", folder / "k.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        launches, expected = [], {}
        for x, y in pairs:
            values = arrays(x, y, chosen[x, y], torch)
            types = signature(x, y)
            storages = []
            for name, value in values.items():
                raw = value.view(torch.uint8).numpy().tobytes()
                storage = {"hex": raw.hex()} if name not in ("ints", "floats") else {
                    "bytes": len(raw), "out": f"{x}_{y}_{name}.DEVICE"}
                storages.append(storage)
            launches.append({"id": f"{x}_{y}", "kernel": f"k.py:{x}_{y}", "grid": [1], "storages": storages,
                             "arguments": {name: {"tensor": {"dtype": types[name], "shape": [len(values[name])],
                                                             "storage": n}} for n, name in enumerate(values)} |
                             {"N": COUNT}})
            try:
                getattr(module, f"{x}_{y}")[(1,)](*values.values(), N=COUNT)
            except Exception as error:
                differences.append(f"upstream's interpreter fails for {x}, {y}: {error!r}"[:300])
                continue
            expected[x, y] = values["ints"].numpy(), values["floats"].numpy()
        for device in options.device.split(","):
            list_file = folder / f"{device.replace(':', '_')}.jsonl"
            tag = list_file.stem
            list_file.write_text("".join(json.dumps(launch).replace("DEVICE", tag) + "\n" for launch in launches))
            done = subprocess.run([os.path.abspath(options.nereid), "run", "--launch", str(list_file), "--device", device],
                                  capture_output=True, text=True, cwd=folder,
                                  env=os.environ | {"NEREID_LANGUAGE": language})
            for line in done.stdout.splitlines():
                result = json.loads(line)
                if result["status"] != "ok":
                    differences.append(f"{device}: {result['id']}: {result['error']}"[:400])
            for (x, y), (ints, floats) in expected.items():
                paths = [folder / f"{x}_{y}_{name}.{tag}" for name in ("ints", "floats")]
                if not all(path.exists() for path in paths):
                    differences.append(f"{device}: {x}, {y}: no result {done.stderr[-300:]}")
                    continue
                mine = np.fromfile(paths[0], np.int64), np.fromfile(paths[1], np.float64)
                for n, (expression, result) in enumerate(chosen[x, y]):
                    part = slice(n * COUNT * COUNT, (n + 1) * COUNT * COUNT)
                    old, new = (floats, mine[1]) if is_float(result) else (ints, mine[0])
                    operands = [np.array(v).astype(NUMPY[result]).astype(np.float64) if is_float(result) else None
                                for v in (np.repeat(awkward(x), COUNT), np.tile(awkward(y), COUNT))]
                    good = same(expression, result, old[part], new[part], operands)
                    compared += good.size
                    for bad in np.flatnonzero(~good)[:1]:
                        left, right = awkward(x)[bad // COUNT], awkward(y)[bad % COUNT]
                        differences.append(f"{device}: {expression} of {x} {left} and {y} {right}: upstream "
                                           f"{old[part][bad]}, here {new[part][bad]} ({(~good).sum()} such)")
    print("\n".join(differences))
    print(f"{compared} values compared, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
