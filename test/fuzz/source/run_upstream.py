#!/usr/bin/env python3
"""Runs generated kernels under upstream Triton and compares what they give.

    nereid-source-fuzz --seed 1 --count 5000 --emit-dir DIR
    python3 test/fuzz/source/run_upstream.py DIR [--jobs 16] [--warps 4]
    TRITON_INTERPRET=1 python3 test/fuzz/source/run_upstream.py DIR     upstream's interpreter
    python3 test/fuzz/source/run_upstream.py DIR --compile sm_90        upstream's compiler, without a GPU

DIR holds NAME.py, NAME.json (the launch, docs/LaunchFile.md) and NAME.check.json: of every array that is
written its bytes, and where floats were stored their float64 value and the error allowed; an error of NaN asks
for the bytes. Prints a line for each kernel that differs or is refused, and a count of each kind of refusal.
Exit code 1 if one differs, 77 where Triton, PyTorch or a GPU is missing.
"""
import argparse
import collections
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def torch_dtype(name):
    import torch
    return {
        "i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
        "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
        "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2, "fp16": torch.float16, "bf16": torch.bfloat16,
        "fp32": torch.float32, "fp64": torch.float64
    }[name]


def make_tensor(description, storage, device):
    """A tensor over the storage's bytes, as far from an alignment of 256 as the launch says."""
    import torch
    data = bytes.fromhex(storage["hex"])
    skew = storage.get("skew", 0)
    memory = torch.zeros(len(data) + skew + 256, dtype=torch.uint8, device=device)
    start = -memory.data_ptr() % 256 + skew
    memory[start:start + len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8).to(device)
    return memory, start, memory[start:start + len(data)].view(torch_dtype(description["dtype"]))


def load_kernel(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def difference(name, dtype, expected, actual):
    """The first element that is not what the reference allows, or None."""
    import numpy
    import torch
    size = torch.empty((), dtype=torch_dtype(dtype)).element_size()
    want = numpy.frombuffer(bytes.fromhex(expected["hex"]), dtype=f"u{size}")
    got = numpy.frombuffer(actual, dtype=f"u{size}")
    wrong = want != got
    if "values" in expected:
        values = numpy.frombuffer(bytes.fromhex(expected["values"]), dtype=numpy.float64)
        errors = numpy.frombuffer(bytes.fromhex(expected["errors"]), dtype=numpy.float64)
        if dtype.startswith(("fp", "bf")):
            tensor = torch.frombuffer(bytearray(actual), dtype=torch_dtype(dtype))
            numbers = tensor.to(torch.float64).numpy()
            with numpy.errstate(invalid="ignore"):
                near = (numbers == values) | (numpy.abs(numbers - values) <= errors)
            near |= numpy.isnan(numbers) & numpy.isnan(values)
            wrong &= ~near
        wrong &= ~numpy.isinf(errors)
    if not wrong.any():
        return None
    i = int(numpy.argmax(wrong))
    text = f"{name}[{i}]: expected 0x{int(want[i]):x}, got 0x{int(got[i]):x}"
    if "values" in expected and errors[i] == errors[i]:
        text = f"{name}[{i}]: expected {values[i]!r} +- {errors[i]:.3g}, got {numbers[i]!r}"
    return f"{text} ({int(wrong.sum())} of {len(wrong)} elements)"


def refusal(error):
    error = error.__cause__ or error
    text = re.sub(r"\s+", " ", str(error)).strip()
    return "refused", f"{type(error).__name__}: {text[-300:]}"


def compile_one(folder, name, architecture, warps):
    """As `run_one`, to PTX only: 'compiled' | 'refused'."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    launch = json.loads((folder / f"{name}.json").read_text())
    kernel = load_kernel(folder / f"{name}.py")
    signature, constants, attributes = {}, {}, {}
    for i, parameter in enumerate(kernel.params):
        value = launch["arguments"][parameter.name]
        kind = "constexpr"
        divisible = False
        if isinstance(value, dict) and "tensor" in value:
            kind = "*" + value["tensor"]["dtype"]
            divisible = launch["storages"][value["tensor"]["storage"]].get("skew", 0) % 16 == 0
        elif isinstance(value, dict):
            kind = "fp32"
        elif not parameter.is_constexpr and value != 1:
            kind = "i32" if -2**31 <= value < 2**31 else "i64"
            divisible = value % 16 == 0
        else:
            constants[parameter.name] = value
        signature[parameter.name] = kind
        if divisible:
            attributes[(i, )] = [["tt.divisibility", 16]]
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    try:
        triton.compile(source, target=GPUTarget("cuda", architecture, 32), options={"num_warps": warps})
    except Exception as error:  # what upstream refuses, it refuses with any exception
        return refusal(error)
    return "compiled", ""


def run_one(folder, name, device, warps):
    """('agrees' | 'differs' | 'refused', text)."""
    import torch
    launch = json.loads((folder / f"{name}.json").read_text())
    expected = json.loads((folder / f"{name}.check.json").read_text())
    arguments, memories = {}, {}
    for parameter, value in launch["arguments"].items():
        if isinstance(value, dict) and "tensor" in value:
            description = value["tensor"]
            memory, start, tensor = make_tensor(description, launch["storages"][description["storage"]], device)
            arguments[parameter] = tensor
            memories[parameter] = (description["dtype"], memory, start)
        else:
            arguments[parameter] = float(value["float"]) if isinstance(value, dict) else value
    options = {} if INTERPRETED else {"num_warps": warps}
    try:
        load_kernel(folder / f"{name}.py")[tuple(launch["grid"])](**arguments, **options)
        if device != "cpu":
            torch.cuda.synchronize()
    except Exception as error:  # what upstream refuses, it refuses with any exception
        if "CUDA error" in str(error) or "illegal" in str(error):
            raise
        return refusal(error)
    for parameter, wanted in expected.items():
        dtype, memory, start = memories[parameter]
        size = len(wanted["hex"]) // 2
        actual = memory[start:start + size].cpu().numpy().tobytes()
        text = difference(parameter, dtype, wanted, actual)
        if text:
            return "differs", text
    return "agrees", ""


def work(folder, names, device, warps, pipe):
    import torch
    import triton
    if device == "cuda":
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=device))
    for name in names:
        pipe.send((name, "starts", ""))
        if device.startswith("sm_"):
            pipe.send((name, *compile_one(folder, name, int(device[3:]), warps)))
        else:
            pipe.send((name, *run_one(folder, name, device, warps)))


class Worker:
    """A process with its share of the kernels; one that dies is followed by another."""

    def __init__(self, context, arguments, names):
        self.context, self.arguments, self.names = context, arguments, names
        self.start()

    def start(self):
        self.pipe, other = self.context.Pipe(duplex=False)
        folder, device, warps = self.arguments
        self.process = self.context.Process(target=work, args=(folder, self.names, device, warps, other))
        self.process.start()
        other.close()
        self.current = None

    def results(self):
        """What has been told since; None when there is nothing more to come."""
        found = []
        try:
            while self.pipe.poll():
                name, kind, text = self.pipe.recv()
                self.current = name
                if kind != "starts":
                    found.append((name, kind, text))
                    self.names = self.names[1:]
                    self.current = None
        except EOFError:
            self.process.join()
            if self.current is not None:
                found.append((self.current, "differs", f"the process died ({self.process.exitcode})"))
                self.names = self.names[1:]
            if not self.names or self.current is None:
                return found, True
            self.start()
        return found, False


def kind_of(text):
    """A refusal without what changes from kernel to kernel."""
    return re.sub(r"\b[a-z]+\d+\b|\d+", "#", text)[:160]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--compile", metavar="sm_90", help="only compile, for this architecture; needs no GPU")
    parser.add_argument("--only", help="the name of one kernel")
    parser.add_argument("--refused", type=float, default=2.0, help="per cent that may be refused")
    options = parser.parse_args()
    try:
        import torch
        import triton
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    if not INTERPRETED and not options.compile and not torch.cuda.is_available():
        print("skipped: no GPU that PyTorch can use; TRITON_INTERPRET=1 runs upstream's interpreter")
        return 77
    device = options.compile or ("cpu" if INTERPRETED else "cuda")
    names = sorted(path.name[:-len(".check.json")] for path in options.folder.glob("*.check.json"))
    if options.only:
        names = [options.only]
    begin = time.monotonic()
    context = multiprocessing.get_context("spawn")
    workers = [
        Worker(context, (options.folder, device, options.warps), names[i::options.jobs])
        for i in range(min(options.jobs, len(names)))
    ]
    counts, refusals = collections.Counter(), collections.defaultdict(list)
    while workers:
        time.sleep(0.05)
        for worker in list(workers):
            found, is_over = worker.results()
            for name, kind, text in found:
                counts[kind] += 1
                if kind == "refused":
                    refusals[kind_of(text)].append((name, text))
                elif kind == "differs":
                    print(f"{name} differs: {text}", flush=True)
            if is_over:
                workers.remove(worker)
    for kind, cases in sorted(refusals.items(), key=lambda item: -len(item[1])):
        print(f"refused {len(cases)} times, as {cases[0][0]}: {cases[0][1]}")
    done = f"{counts['compiled']} compile" if options.compile else f"{counts['agrees']} agree"
    print(f"{done}, {counts['differs']} differ, {counts['refused']} are refused by Triton "
          f"{triton.__version__} ({time.monotonic() - begin:.0f} s)")
    too_many = counts["refused"] * 100 > options.refused * max(1, len(names))
    return 1 if counts["differs"] or too_many or not counts["agrees"] + counts["compiled"] else 0


if __name__ == "__main__":
    sys.exit(main())
