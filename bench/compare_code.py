#!/usr/bin/env python3
"""The machine code that two compilers make of compare_gpu.py's cases. Needs PyTorch and ptxas, no GPU.

    bench/compare_code.py --before OLD/bin/nereid --after build/bin/nereid [--tutorials FOLDER] [--set general] [--only TEXT]

Every launch of every case is compiled by both. Where the PTX is the same, so is the speed; of the others a line tells
registers, spilled bytes, shared memory, blocks a multiprocessor, and with --nvdisasm the instructions, before -> after.
Exit status 1 if a launch spills more, or fewer of its blocks share a multiprocessor: then a GPU has to say what it costs.
minnreg and maxnreg are left out.
"""

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

VERBOSE = re.compile(r"(?P<registers>\d+) registers, (?P<spilled>\d+) bytes spilled, .*?(?P<shared>\d+) shared, .*?"
                     r"(?P<blocks>\d+) blocks a multiprocessor")
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,5}\*/\s+(?!NOP)\S")
POSITIONS = re.compile(r"^\s*(\.loc|\.file|//).*\n", re.MULTILINE)
LARGER_IS_WORSE = {"registers": None, "spilled": True, "shared": None, "blocks": False, "instructions": None}


def parameters_of(path, kernel):
    """(name, is it a constexpr, default or None) of each."""
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == kernel:
            arguments, defaults = node.args.args, node.args.defaults
            defaults = [None] * (len(arguments) - len(defaults)) + defaults
            return [(a.arg, a.annotation is not None and "constexpr" in ast.unparse(a.annotation), d)
                    for a, d in zip(arguments, defaults)]
    raise LookupError(f"{path} has no kernel {kernel}")


def type_of(value, is_constant, element):
    """What a launch makes of an argument; `element` names the type of a tensor's, and is None for other values."""
    if element(value):
        return f"*{element(value)}:16"
    if isinstance(value, float) and not is_constant:
        return "fp32"
    if isinstance(value, bool) and not is_constant:
        return "i1"
    if is_constant or value is None or value == 1:
        return repr(value)
    return ("i32" if -2**31 <= value < 2**31 else "i64") + (":16" if value % 16 == 0 else "")


def signature(path, kernel, arguments, element):
    return ", ".join(name + "=" + (type_of(arguments[name], is_constant, element) if name in arguments
                                   else ast.unparse(default))
                     for name, is_constant, default in parameters_of(path, kernel))


def on_no_device():
    """Tensors of the GPU become tensors without memory, and the GPU an H200."""
    import torch
    from torch.overrides import TorchFunctionMode

    class OnMeta(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if kwargs.get("device") == "cuda":
                kwargs["device"] = "meta"
            return function(*args, **kwargs)

    h200 = types.SimpleNamespace(multi_processor_count=132)
    return OnMeta(), mock.patch.multiple(torch.cuda, get_device_properties=lambda *_: h200,
                                         get_device_capability=lambda *_: (9, 0))


def launches(makers, only):
    """{(path, kernel, signature, warps, stages): "case type variant" of the first}"""
    import gpu_case
    import torch

    def element(value):
        value = value.tensor if isinstance(value, gpu_case.Descriptor) else value
        return {torch.int32: "i32"}.get(value.dtype) or gpu_case.NAMES[value.dtype] if isinstance(value, torch.Tensor) else None

    found = {}
    mode, patch = on_no_device()
    with mode, patch:
        for make in makers:
            case = make()
            for variant, steps in case.variants.items() if only in case.name else ():
                for step in steps:
                    if isinstance(step, gpu_case.Launch):
                        key = (step.path, step.kernel, signature(step.path, step.kernel, step.arguments, element),
                               step.options.get("num_warps", 4), step.options.get("num_stages", 3))
                        found.setdefault(key, f"{case.name} {case.dtype} {variant}")
    return found


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout + done.stderr


class Compiler:
    def __init__(self, nereid, target, nvdisasm, folder):
        self.nereid, self.target, self.nvdisasm, self.folder = nereid, target, nvdisasm, folder

    def compile(self, launch, kind):
        path, kernel, text, warps, stages = launch
        out = Path(tempfile.mkdtemp(dir=self.folder)) / f"code.{kind}"
        said = run(self.nereid, "compile", f"{path}:{kernel}", "--signature", text, "--num-warps", str(warps),
                   "--num-stages", str(stages), "--target", self.target, "--emit", kind, "-v", "-o", str(out))
        return out, said

    def ptx(self, launch):
        return POSITIONS.sub("", self.compile(launch, "ptx")[0].read_text().split(".section")[0])

    def cost(self, launch):
        out, said = self.compile(launch, "cubin")
        cost = {name: int(number) for name, number in VERBOSE.search(" ".join(said.split())).groupdict().items()}
        if self.nvdisasm:
            cost["instructions"] = len(INSTRUCTION.findall(run(self.nvdisasm, "-c", str(out))))
        return cost


def is_worse(before, after):
    return any(after[name] > before[name] if larger else after[name] < before[name]
               for name, larger in LARGER_IS_WORSE.items() if larger is not None)


def line(name, kernel, before, after):
    changes = [f"{what} {before[what]} -> {after[what]}" if before[what] != after[what] else f"{what} {after[what]}"
               for what in LARGER_IS_WORSE if what in after]
    return f"{'worse ' if is_worse(before, after) else '      '}{name} {kernel}: {', '.join(changes)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--tutorials", type=Path)
    parser.add_argument("--set", choices=["table", "general"], default="table")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--nvdisasm", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError:
        print("needs PyTorch")
        return 77
    import compare_gpu

    makers = compare_gpu.general_cases() if options.set == "general" else compare_gpu.all_cases(options.tutorials)
    with tempfile.TemporaryDirectory() as folder:
        before, after = (Compiler(nereid, options.target, options.nvdisasm, folder)
                         for nereid in (options.before, options.after))

        def compare(entry):
            launch, name = entry
            if before.ptx(launch) == after.ptx(launch):
                return None
            costs = before.cost(launch), after.cost(launch)
            return is_worse(*costs), line(name, launch[1], *costs)

        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(compare, launches(makers, options.only).items()))
    changed = [result for result in results if result]
    for _, text in changed:
        print(text)
    worse = sum(bad for bad, _ in changed)
    print(f"{len(results)} launches: {len(results) - len(changed)} with the same PTX, {worse} worse")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
