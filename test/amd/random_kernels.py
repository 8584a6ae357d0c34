"""Random kernels in the language (nereid-source-fuzz), as test/amd launches them: what
stands in their launch files, and what the reference executor leaves in memory."""

import ast
import json
import subprocess
from pathlib import Path

SIZES = {"fp32": "f4", "fp16": "f2", "bf16": "u2", "fp64": "f8", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "i1": "i1",
         "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1"}


# What two right results may differ by, in a chain of a few approximate functions.
RELATIVE = 1e-5


class Launch:
    """One of them: a file, a signature, and in the order of the parameters arrays of bytes or numbers."""
    is_runnable = True

    def __init__(self, path):
        launch = json.loads(path.read_text())
        file, _, self.kernel = launch["kernel"].partition(":")
        self.file = path.parent / file
        self.name = self.stem = path.stem
        self.grid = launch["grid"]
        expected = json.loads(path.with_suffix("").with_suffix(".check.json").read_text())
        function, = (one for one in ast.parse(self.file.read_text()).body
                     if isinstance(one, ast.FunctionDef) and one.name == self.kernel)
        words, self.values, self.types, self.expected, self.bounds = [], [], [], {}, {}
        storages = set()
        for argument in function.args.args:
            value = launch["arguments"][argument.arg]
            if argument.annotation:
                words.append(str(value))
            elif isinstance(value, dict) and "tensor" in value:
                of = value["tensor"]
                storage = launch["storages"][of["storage"]]
                if of["storage"] in storages or of.get("offset") or "hex" not in storage or of["dtype"] not in SIZES:
                    raise NotImplementedError(f"the memory of {argument.arg}")
                storages.add(of["storage"])
                words.append("*" + of["dtype"])
                if argument.arg in expected:
                    self.expected[len(self.values)] = bytes.fromhex(expected[argument.arg]["hex"])
                    self.bounds[len(self.values)] = [bytes.fromhex(expected[argument.arg].get(name, "")) for name in ("values", "errors")]
                self.types.append(of["dtype"])
                self.values.append(bytes.fromhex(storage["hex"]))
            elif isinstance(value, int) and not isinstance(value, bool) and -1 << 31 <= value < 1 << 31:
                words.append("i32")
                self.types.append("i32")
                self.values.append(value)
            else:
                raise NotImplementedError(f"the value of {argument.arg}")
        self.signature = ",".join(words)

    def numbers(self, np, index, data):
        """Of an array, as they compare; bf16 as its words."""
        found = np.frombuffer(data, "<" + SIZES[self.types[index]])
        return (found.astype("<u4") << 16).view("<f4") if self.types[index] == "bf16" else found

    def is_right(self, np, data):
        """By the reference executor's running bounds; without one, its bits."""
        for index, expected in self.expected.items():
            bits = np.dtype("<" + SIZES[self.types[index]]).str.replace("f", "u")
            right = np.frombuffer(data[index], bits) == np.frombuffer(expected, bits)
            values, errors = (np.frombuffer(one, np.float64) for one in self.bounds[index])
            if len(values):
                found = self.numbers(np, index, data[index]).astype(np.float64)
                with np.errstate(invalid="ignore"):
                    near = (found == values) | (np.abs(found - values) <= errors) | (np.isnan(found) & np.isnan(values))
                is_float = self.types[index].startswith(("fp", "bf"))
                right |= np.isinf(errors) | (near & ~np.isnan(errors) if is_float else False)
            if not right.all():
                return False
        return True

    def difference(self, np, ours, theirs):
        """The largest over all arrays, relative to the largest number; infinite where one is no number."""
        most = 0.0
        for index in self.expected:
            a, b = (self.numbers(np, index, data[index]).astype(np.float64) for data in (ours, theirs))
            if not np.array_equal(np.isfinite(a), np.isfinite(b)):
                return float("inf")
            finite = np.isfinite(a)
            if finite.any() and not np.array_equal(a[finite], b[finite]):
                most = max(most, float(np.abs(a - b)[finite].max() / max(1.0, np.abs(b[finite]).max())))
        return most


def make(fuzz, folder, count, seed):
    """So many as can be launched; the generator's kernels for GPUs of up to 512 elements."""
    found = []
    at = seed
    while len(found) < count:
        part = Path(folder) / f"random-{at}"
        part.mkdir()
        subprocess.run([fuzz, "--emit-dir", str(part), "--count", "16", "--seed", str(at), "--max-elements", "512"],
                       capture_output=True, check=True)
        at += 16
        for path in sorted(part.glob("k*.json")):
            if not path.name.endswith(".check.json"):
                try:
                    found.append(Launch(path))
                except NotImplementedError:
                    pass
    return found[:count]


def compile_launch(nereid, folder, launch, target, waves):
    """The path, or why there is none."""
    path = f"{folder}/{launch.stem}-{target}.hsaco"
    run = subprocess.run([nereid, "compile", f"{launch.file}:{launch.kernel}", "--signature", launch.signature, "--num-warps",
                          str(waves), "--target", target, "--emit", "hsaco", "-o", path], capture_output=True, text=True)
    return (path, None) if run.returncode == 0 else (None, run.stderr.strip())


def simulate(simulator, folder, path, launch, target, waves):
    """The bytes of every array, or the text of a fault."""
    arguments = []
    for i, value in enumerate(launch.values):
        if not isinstance(value, bytes):
            arguments.append(f"f32:{value!r}" if isinstance(value, float) else f"i32:{value}")
        else:
            (Path(folder) / f"array-{i}.bin").write_bytes(value)
            arguments.append(f"file:{folder}/array-{i}.bin")
    threads = waves * (64 if target.startswith("gfx9") else 32)
    run = subprocess.run([simulator, "run", path, launch.kernel, ",".join(map(str, launch.grid)), str(threads), *arguments],
                         capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip() or f"exit status {run.returncode}"
    return {i: (Path(folder) / f"array-{i}.bin").read_bytes() for i in launch.expected}
