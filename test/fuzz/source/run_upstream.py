#!/usr/bin/env python3
"""Runs generated kernels under upstream Triton and compares what they give.

    nereid-source-fuzz --seed 1 --count 5000 --emit-dir DIR
    python3 test/fuzz/source/run_upstream.py DIR [--jobs 16] [--warps 4]
    TRITON_INTERPRET=1 python3 test/fuzz/source/run_upstream.py DIR     upstream's interpreter
    python3 test/fuzz/source/run_upstream.py DIR --compile sm_90        upstream's compiler, without a GPU

DIR holds NAME.py, NAME.json (the launch, docs/LaunchFile.md) and NAME.check.json: of every array that is
written its bytes, and where floats were stored their float64 value and the error allowed; an error of NaN asks
for the bytes.

Every kernel has one of these outcomes:

    agrees     or compiles, with --compile
    unstaged   agrees with num_stages=1, where upstream's pipeliner fails on it
    mistake    differs, but agrees with a mistake of upstream fixed, or its machine code shows one (upstream_mistakes.py)
    refused    upstream raises an exception: a difference of language, or a pass of upstream that fails
    died       upstream's process dies of a signal: an assertion or a bad access in its compiler
    differs    anything else: a result, an exception of CUDA, a kernel that does not end

Prints a line for each kernel of the last two, one for each kind of the others with the first kernel of it, and counts.
Exit code 1 if one differs or too many do not compile, 77 where Triton, PyTorch or a GPU is missing.
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
import tempfile
import time

from upstream_mistakes import COMPUTES_NO_DESCRIPTOR, MISTAKES, computes_no_descriptor, own_cache

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
            wrong &= ~near | numpy.isnan(errors)
        wrong &= ~numpy.isinf(errors)
    if not wrong.any():
        return None
    i = int(numpy.argmax(wrong))
    text = f"{name}[{i}]: expected 0x{int(want[i]):x}, got 0x{int(got[i]):x}"
    if "values" in expected and errors[i] == errors[i]:
        text = f"{name}[{i}]: expected {values[i]!r} +- {errors[i]:.3g}, got {numbers[i]!r}"
    return f"{text} ({int(wrong.sum())} of {len(wrong)} elements)"


def told_by(log):
    """What upstream's C++ parts said: the assertion, error and pass that failed. Tells dumps of the IR from them."""
    try:
        text = pathlib.Path(log).read_text(errors="replace")
    except OSError:
        return ""
    found = re.findall(r"Assertion `.*?' failed|LLVM ERROR: .*|error: (?!Failures have)[^\n]*|while executing \[`\w+`", text)
    return "; ".join(dict.fromkeys(part[:200] for part in found))


def refusal(error, log):
    error = error.__cause__ or error
    text = re.sub(r"\s+", " ", str(error)).strip()[-300:]
    details = told_by(log) if "PassManager" in text else ""
    return "refused", f"{type(error).__name__}: {text}{': ' if details else ''}{details}"


def compile_one(folder, name, architecture, options, log):
    """As `run_one`, to machine code only."""
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
        triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options)
    except Exception as error:  # what upstream refuses, it refuses with any exception
        return refusal(error, log)
    return "agrees", ""


class Fault(Exception):
    """An error of CUDA, after which this process cannot use the GPU."""


def run_one(folder, name, device, options, log):
    """('agrees' | 'differs' | 'mistake' | 'refused', text)."""
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
    try:
        compiled = load_kernel(folder / f"{name}.py")[tuple(launch["grid"])](**arguments, **options)
        if device != "cpu":
            torch.cuda.synchronize()
    except Exception as error:  # what upstream refuses, it refuses with any exception
        if "CUDA error" in str(error) or "illegal" in str(error):
            raise Fault(str(error).splitlines()[0]) from error
        return refusal(error, log)
    for parameter, wanted in expected.items():
        dtype, memory, start = memories[parameter]
        size = len(wanted["hex"]) // 2
        actual = memory[start:start + size].cpu().numpy().tobytes()
        text = difference(parameter, dtype, wanted, actual)
        if text:
            if not INTERPRETED and computes_no_descriptor(compiled.asm["cubin"]):
                return "mistake", COMPUTES_NO_DESCRIPTOR
            return "differs", text
    return "agrees", ""


def judge(folder, name, device, warps, log):
    """The outcome of a kernel, and what is to be said about it."""
    if device.startswith("sm_"):
        once, device = compile_one, int(device[3:])
    else:
        once = run_one
    options = {} if INTERPRETED else {"num_warps": warps}
    kind, text = once(folder, name, device, options, log)
    if kind == "refused" and "PassManager" in text:
        unstaged = options | {"num_stages": 1}
        again, other = once(folder, name, device, unstaged, log)
        if again == "agrees":
            kind = "unstaged"
        elif again in ("differs", "mistake"):
            kind, text, options = again, other, unstaged
    if kind == "differs" and not INTERPRETED:
        for mistake, fixed in MISTAKES.items():
            with own_cache(), fixed():
                if once(folder, name, device, options, log)[0] == "agrees":
                    return "mistake", mistake
    return kind, text


def work(folder, names, device, warps, log, pipe):
    # What upstream's C++ parts write goes into the log: of one kernel, half a megabyte.
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    import torch
    import triton
    if device == "cuda":
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=device))
    for name in names:
        os.truncate(log, 0)
        pipe.send((name, "starts", ""))
        try:
            pipe.send((name, *judge(folder, name, device, warps, log)))
        except Fault as fault:
            pipe.send((name, "differs", str(fault)))
            return


class Worker:
    """A process with its share of the kernels; one that dies is followed by another."""

    patience = 300  # seconds for one kernel

    def __init__(self, context, arguments, names, log):
        self.context, self.arguments, self.names, self.log = context, arguments, names, log
        self.start()

    def start(self):
        self.log.touch()
        self.pipe, other = self.context.Pipe(duplex=False)
        folder, device, warps = self.arguments
        self.process = self.context.Process(target=work, args=(folder, self.names, device, warps, self.log, other))
        self.process.start()
        other.close()
        self.current, self.since, self.is_late = None, time.monotonic(), False
        self.has_worked = False

    def end_of(self, said):
        """The outcome of the kernel at which the process ended."""
        if self.is_late:
            return "differs", f"no result after {self.patience} s"
        code = self.process.exitcode
        text = told_by(self.log) or (said.strip().splitlines() or ["nothing said"])[-1][:200]
        return "died" if code < 0 else "differs", f"exit code {code}: {text}"

    def results(self):
        """What has been reported since, and whether there is nothing more to come."""
        found = []
        if self.current and not self.is_late and time.monotonic() - self.since > self.patience:
            self.is_late = True
            self.process.kill()
        try:
            while self.pipe.poll():
                name, kind, text = self.pipe.recv()
                self.current, self.since = name, time.monotonic()
                self.has_worked = True
                if kind != "starts":
                    found.append((name, kind, text))
                    self.names = self.names[1:]
                    self.current = None
        except EOFError:
            self.process.join()
            said = self.log.read_text(errors="replace")
            if self.current is not None:
                found.append((self.current, *self.end_of(said)))
                self.names = self.names[1:]
            elif not self.has_worked:
                sys.exit(f"a worker does not start:\n{said[-2000:]}")
            if not self.names:
                return found, True
            self.start()
        return found, False


def kind_of(text):
    """A message without what changes from kernel to kernel."""
    a_pass = re.search(r"while executing \[`(\w+)`", text)
    return a_pass[1] if a_pass else re.sub(r"\b[a-z]+\d+\b|\d+", "#", text)[:160]


KINDS = ("agrees", "unstaged", "mistake", "refused", "died", "differs")


def print_kinds(outcomes):
    for outcome in ("unstaged", "mistake", "refused"):
        kinds = collections.defaultdict(list)
        for name, text in outcomes[outcome]:
            kinds[kind_of(text)].append((name, text))
        for cases in sorted(kinds.values(), key=len, reverse=True):
            print(f"{outcome} {len(cases)} times, as {cases[0][0]}: {cases[0][1]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--compile", metavar="sm_90", help="only compile, for this architecture; needs no GPU")
    parser.add_argument("--only", help="the name of one kernel")
    parser.add_argument("--refused", type=float, default=2.0, help="per cent that may not compile")
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
    outcomes = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as logs:
        workers = [
            Worker(context, (options.folder, device, options.warps), names[i::options.jobs],
                   pathlib.Path(logs, f"{i}.txt")) for i in range(min(options.jobs, len(names)))
        ]
        while workers:
            time.sleep(0.05)
            for worker in list(workers):
                found, is_over = worker.results()
                for name, kind, text in found:
                    outcomes[kind].append((name, text))
                    if kind in ("differs", "died"):
                        print(f"{name} {kind}: {text}", flush=True)
                if is_over:
                    workers.remove(worker)
    print_kinds(outcomes)
    count = {kind: len(outcomes[kind]) for kind in KINDS}
    agreed = count["agrees"] + count["unstaged"]
    lost = count["refused"] + count["died"]
    print(f"{agreed} {'compile' if options.compile else 'agree'} ({count['unstaged']} of them with num_stages=1), "
          f"{count['differs']} differ, {count['mistake']} differ by known mistakes of upstream, {count['refused']} are "
          f"refused, on {count['died']} upstream dies; Triton {triton.__version__}, {time.monotonic() - begin:.0f} s")
    return 1 if count["differs"] or lost * 100 > options.refused * max(1, len(names)) or not agreed else 0


if __name__ == "__main__":
    sys.exit(main())
