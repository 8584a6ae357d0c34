"""The public kernels of test/corpus (34, unchanged, in .corpora), as test/amd launches them."""

import ast
import functools
import importlib
import sys
import zlib
from pathlib import Path

import random_kernels

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def corpus():
    """test/corpus/ladder.py with its rungs, beside this folder's module of the same name."""
    own = sys.modules.pop("ladder", None)
    sys.path[:0] = [str(ROOT / "test/corpus"), str(ROOT / "test/harness")]
    found = importlib.import_module("ladder")
    for kind in ("elementwise", "matmul", "misc", "reduction"):
        importlib.import_module(f"rungs_{kind}")
    if own:
        sys.modules["ladder"] = own
    return found


def computed(function, arguments):
    """What @triton.heuristics makes of the arguments."""
    found = {}
    for decorator in function.decorator_list:
        is_heuristics = isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("heuristics")
        if is_heuristics and isinstance(decorator.args[0], ast.Dict):
            for key, value in zip(decorator.args[0].keys, decorator.args[0].values):
                made = eval(ast.unparse(value), {})  # noqa: S307  (a pinned file's lambda of numbers)
                found[key.value] = made({**arguments, **found})
    return found


class Launch(random_kernels.Launch):
    """A case of a rung. Its arrays begin at multiples of 16 bytes and hold what test/corpus puts there."""

    def __init__(self, rung, case, number):
        self.file = ROOT / ".corpora" / rung.corpus / rung.file
        self.kernel, self.case = rung.kernel, case
        self.name = f"rung {rung.number} {rung.kernel}, {case.label}"
        self.stem = f"rung-{rung.number}-{number}"
        self.grid = list(case.grid)
        self.is_runnable = not case.extra and "interp" in case.devices
        function, = (one for one in ast.parse(self.file.read_text()).body
                     if isinstance(one, ast.FunctionDef) and one.name == self.kernel)
        arguments = {**computed(function, case.arguments), **case.arguments}
        words, self.values, self.types, self.expected, self.arrays = [], [], [], {}, {}
        for argument in function.args.args:
            if argument.arg not in arguments:
                continue
            value = arguments[argument.arg]
            is_static = argument.annotation and "constexpr" in ast.unparse(argument.annotation)
            if isinstance(value, corpus().Pointers):
                word, self.is_runnable = "*u64:16", False
            elif isinstance(value, corpus().Array):
                word = f"*{value.dtype}:16"
                value.place("aligned")
                self.arrays[len(self.values)] = value
                self.types.append(value.dtype)
                self.values.append(value.raw[value._start:value._start + value._size].tobytes())
            elif value is None or isinstance(value, bool) or is_static:
                word = repr(value) if value is None or isinstance(value, (bool, int, float, str)) else value.name
            elif isinstance(value, (int, float)):
                word = "fp32" if isinstance(value, float) else "i32"
                self.types.append(word)
                self.values.append(value)
            else:
                raise TypeError(f"the value of {argument.arg}")
            words.append(f"{argument.arg}={word}")
        self.expected = {i: self.values[i] for i, array in self.arrays.items() if array.written}
        self.signature = ",".join(words)

    def is_right(self, np, data):
        """By the bounds of test/corpus."""
        for i, array in self.arrays.items():
            if i in data:
                array.raw[array._start:array._start + array._size] = np.frombuffer(data[i], np.uint8)
        return not corpus().judge(self.case, "cuda").message


def launches(most):
    """Up to `most` cases of each kernel; none where .corpora is not there, or a part of it."""
    if not (ROOT / ".corpora").is_dir():
        return
    import numpy as np
    for _, rung in sorted(corpus().RUNGS.items()):
        if (ROOT / ".corpora" / rung.corpus / rung.file).exists():
            cases = rung.cases(np.random.default_rng(zlib.crc32(rung.kernel.encode())))
            yield from (Launch(rung, case, i) for i, case in zip(range(most), cases))


def part_of(items, options):
    """Of --part I/N every Nth, from the Ith on; without it all."""
    part, parts = map(int, options[options.index("--part") + 1].split("/")) if "--part" in options else (1, 1)
    return [*items][part - 1::parts]
