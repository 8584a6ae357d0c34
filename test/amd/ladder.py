"""The kernels that test/amd runs on the simulated GPU: their arguments, what the
reference executor makes of them, and their launch by nereid-amd-run."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))

import amd_emulator  # noqa: E402

TARGETS = ("gfx942", "gfx1100", "gfx1201")


def cases(np):
    """Those of test/gpu/amd_emulator.py, and what its emulator has no instructions for."""
    r = np.random.default_rng(1)

    def f32(*shape):
        return r.standard_normal(shape).astype(np.float32)

    def i32(low, high, *shape):
        return r.integers(low, high, shape).astype(np.int32)

    zeros = np.zeros
    return amd_emulator.cases(np) + [
        ("attention", 1, [f32(16, 32), f32(50, 32), f32(50, 32)], zeros((16, 32), np.float32), [50], [16, 32, 32], 2e-6),
        ("summed_up", 1, [i32(-50, 50, 256)], zeros(256, np.int32), [], [256], 0),
        ("released", 2, [i32(0, 100, 500)], zeros(16, np.int32), [500], [256], 0),
        ("sorted_up", 1, [i32(-1000, 1000, 128)], zeros(128, np.int32), [], [128], 0),
        ("divided", 2, [i32(-10000, 10000, 500), i32(1, 100, 500)], zeros(500, np.int32), [500], [256], 0),
    ]


def signature_of(case):
    _, _, inputs, output, numbers, constants, _ = case
    spelled = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32"}
    return ",".join([*(spelled[str(array.dtype)] + ":16" for array in [*inputs, output]), *("i32" for _ in numbers),
                     *map(str, constants)])


def compile_case(nereid, folder, case, target, waves):
    kernel = case[0]
    path = f"{folder}/{kernel}-{target}-{waves}.hsaco"
    run = subprocess.run([nereid, "compile", f"{amd_emulator.KERNELS}:{kernel}", "--signature", signature_of(case), "--num-warps",
                          str(waves), "--target", target, "--emit", "hsaco", "-o", path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return path


def launch(np, simulator, folder, path, case, target, waves, options=()):
    """The output, or the text of a fault."""
    kernel, grid, inputs, output, numbers, _, _ = case
    arguments = []
    for i, array in enumerate([*inputs, output]):
        name = f"{folder}/{Path(path).stem}-{i}.bin"
        array.tofile(name)
        arguments.append(f"file:{name}")
    arguments += [f"i32:{number}" for number in numbers]
    threads = waves * (64 if target.startswith("gfx9") else 32)
    run = subprocess.run([simulator, "run", path, kernel, str(grid), str(threads), *options, *arguments],
                         capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip() or f"exit status {run.returncode}"
    return np.fromfile(f"{folder}/{Path(path).stem}-{len(inputs)}.bin", output.dtype).reshape(output.shape)


def difference(np, result, expected):
    """The largest; infinite where only one of the two is no number."""
    result, expected = result.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isnan(result), np.isnan(expected)):
        return float("inf")
    return float(np.nanmax(np.abs(result - expected)))
