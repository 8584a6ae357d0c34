#!/usr/bin/env python3
"""Code objects for AMD's processors against the reference executor: each of the
kernels in amd_kernels.py on 1, 2 and 4 waves, run by tinygrad's emulator, which
decodes and executes what LLVM made.

    test/gpu/amd_emulator.py NEREID [TARGET...]     gfx1100 and gfx942 without one

What the emulator has no instruction for is reported and does not count: moves inside
rows by DPP's row_xmask, DS_SWIZZLE, and the invalidation of a cache that a
barrier needs on RDNA, V_MFMA of bytes (commit below). Left out, since the emulator ends with a
signal: BUFFER_WBL2 of atomics that are not relaxed, and products that take more
than 128 registers and accumulation registers of a lane on one wave.

Exit status 77, with the reason, where the emulator or NumPy is not there.
NEREID_TINYGRAD names a checkout of tinygrad's repository; that of commit
a9069c177a9da9cca18593edf55acd2e6073cca6 is the one that this was written for. It
calls `clang`.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import amd_code

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "amd_kernels.py"
DEFAULT = ("gfx1100", "gfx942")
# How the emulator says that it does not know an instruction.
UNKNOWN = re.compile(r"\[emu\] Failed to compile (.*?)[(:]|(unknown \w+ format word=\w+)")


def cases(np):
    """kernel, grid, arrays that are read, the shape and type of what is written, numbers, constants, allowed error."""
    r = np.random.default_rng(0)

    def f32(*shape):
        return r.standard_normal(shape).astype(np.float32)

    def i32(high, *shape):
        return r.integers(0, high, shape).astype(np.int32)

    def few(*shape):  # small integers: every type holds them, and every sum
        return r.integers(-3, 4, shape).astype(np.float32)

    def f16(*shape):
        return r.standard_normal(shape).astype(np.float16)

    def of(m, n, k, kind):
        return ("product_of", 1, [few(m, k), few(k, n)], zeros((m, n), np.float32), [], [m, n, k, kind], 0)

    zeros = np.zeros
    return [
        ("add", 3, [f32(700), f32(700)], zeros(700, np.float32), [700], [256], 0),
        ("softmax", 2, [f32(2, 200)], zeros((2, 200), np.float32), [200], [256], 4e-7),
        ("layer_norm", 2, [f32(2, 200)], zeros((2, 200), np.float32), [200], [256], 4e-6),
        ("transpose", 1, [f32(32, 16)], zeros((16, 32), np.float32), [], [32, 16], 0),
        ("rows_summed", 1, [i32(100, 16, 32)], zeros(16, np.int32), [], [16, 32], 0),
        ("product", 1, [f32(16, 32), f32(32, 16)], zeros((16, 16), np.float32), [], [16, 16, 32], 1e-5),
        ("loop_of_programs", 2, [f32(1000)], zeros(256, np.float32), [1000], [128], 0),
        ("counted", 2, [i32(16, 500)], zeros(16, np.int32), [500], [256], 0),
        ("largest", 2, [i32(1000, 500)], zeros(8, np.int32), [500], [256], 0),
        ("histogram", 1, [i32(20, 256)], zeros(16, np.int32), [], [256, 16], 0),
        ("to_integers", 1, [f32(128)], zeros(128, np.int32), [], [128], 0),
        ("halves", 2, [f32(300).astype(np.float16)], zeros(300, np.float16), [300], [256], 0),
        ("scanned", 1, [i32(1000, 256)], zeros(256, np.int32), [], [256], 0),
        *(of(32, 32, 64, kind) for kind in (32, 16, 17, 8, 9, 10)),
        *(of(*sizes, 16) for sizes in ((1, 16, 16), (7, 24, 40), (15, 64, 8), (48, 32, 48))),
        of(5, 48, 20, 9), of(40, 8, 96, 17),
        ("products_of_batches", 1, [f16(3, 5, 40), f16(3, 40, 7)], zeros((3, 5, 7), np.float32), [], [3, 5, 7, 40], 1e-4),
        ("attention_of_halves", 1, [f16(64, 32), f16(32, 32), f16(32, 32)], zeros((64, 32), np.float32), [], [64, 32, 32], 4e-3),
    ]


def names_of(kernel):
    text = KERNELS.read_text()
    line = text[text.index(f"def {kernel}("):].split("\n")[0]
    return [one.split(":")[0].strip() for one in line[line.index("(") + 1:line.rindex(")")].split(",")]


def reference(np, nereid, folder, case):
    kernel, grid, inputs, output, numbers, constants, _ = case
    names = names_of(kernel)
    arguments = []
    for name, array in zip(names, [*inputs, output]):
        np.save(f"{folder}/{name}.npy", array)
        arguments.append(f"{name}=@{folder}/{name}.npy")
    arguments += [f"{name}={value}" for name, value in zip(names[len(inputs) + 1:], [*numbers, *constants])]
    run = subprocess.run([nereid, "run", f"{KERNELS}:{kernel}", "--grid", str(grid), "--device", "interp", "--out",
                          f"{names[len(inputs)]}={folder}/out.npy", *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return np.load(f"{folder}/out.npy")


def emulate(np, nereid, folder, run_asm, case, target, waves):
    kernel, grid, inputs, output, numbers, constants, _ = case
    spelled = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32"}
    signature = ",".join([*(spelled[str(array.dtype)] + ":16" for array in [*inputs, output]), *("i32" for _ in numbers),
                          *map(str, constants)])
    result = output.copy()
    arrays = [np.ascontiguousarray(array) for array in inputs] + [result]
    values = [("P", array.ctypes.data) for array in arrays] + [("i", number) for number in numbers]
    lanes = 64 if target.startswith("gfx9") else 32
    with amd_code.compiled(nereid, folder, KERNELS, kernel, signature, waves, target) as code:
        code.run(run_asm, target, (grid, 1, 1), waves * lanes, values)
    return result


def main():
    nereid, targets = sys.argv[1], sys.argv[2:] or DEFAULT
    try:
        import numpy as np
        run_asm = amd_code.find_emulator()
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not run_asm:
        print(f"skipped: {amd_code.ABSENT}")
        sys.exit(77)
    os.environ.pop("NEREID_DISABLE", None)
    failures = runs = 0
    unknown = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(np):
            expected = reference(np, nereid, folder, case)
            for target in targets:
                for waves in (1, 2, 4):
                    runs += 1
                    try:
                        result = emulate(np, nereid, folder, run_asm, case, target, waves)
                        off = np.abs(result.astype(np.float64) - expected.astype(np.float64)).max()
                    except Exception as error:  # of the emulator, whatever it raises
                        off = f"{type(error).__name__}: {error}"
                        said = UNKNOWN.search(str(error))
                        if said:
                            unknown.setdefault((target, said.group(1) or said.group(2)), []).append(f"{case[0]}:{waves}")
                            continue
                    if not isinstance(off, float) or not off <= case[-1]:
                        failures += 1
                        print(f"{case[0]} for {target} on {waves} waves: off by {off}, allowed {case[-1]}", flush=True)
    for (target, instruction), launches in unknown.items():
        print(f"not emulated for {target}: {instruction} of {', '.join(launches)}")
    left_out = sum(map(len, unknown.values()))
    print(f"{runs} launches, {runs - left_out - failures} as the reference executor, {left_out} not emulated, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
