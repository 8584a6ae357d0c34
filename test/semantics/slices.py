#!/usr/bin/env python3
"""Parts of blocks against NumPy's slices, and a rotary embedding that takes its rows apart against NumPy's.

    test/semantics/slices.py NEREID [--device cuda:0] [--count 12]

Exit status 77 without NumPy.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
except ImportError:
    print("no NumPy")
    sys.exit(77)

KERNELS = Path(__file__).resolve().parents[1] / "gpu" / "slices.py"


def run(nereid, device, kernel, folder, arrays, out, shape, grid="1", **constants):
    """The array `out` of float32 after one launch."""
    for name, array in arrays.items():
        numpy.save(f"{folder}/{name}.npy", array)
    arguments = [f"{name}=@{folder}/{name}.npy" for name in arrays]
    arguments += [f"{out}=zeros:f32[{','.join(map(str, shape))}]"] + [f"{k}={v}" for k, v in constants.items()]
    subprocess.run([nereid, "run", f"{KERNELS}:{kernel}", *arguments, "--grid", grid, "--device", device,
                    "--out", f"{out}={folder}/out.npy"], check=True, stdout=subprocess.DEVNULL)
    return numpy.load(f"{folder}/out.npy")


def part(nereid, device, folder, choose):
    rows, columns = choose.randint(1, 40), choose.randint(1, 70)
    first = choose.randrange(rows), choose.randrange(columns)
    steps = choose.choice([1, 1, 2, 3]), choose.choice([1, 1, 2, 5])
    most = [(size - 1 - at) // step + 1 for size, at, step in zip((rows, columns), first, steps)]
    height, width = (choose.randint(1, size) for size in most)
    x = numpy.random.default_rng(rows * columns).standard_normal((rows, columns)).astype(numpy.float32)
    y = run(nereid, device, "part", folder, {"x_ptr": x}, "y_ptr", (height, width), ROWS=rows, COLUMNS=columns,
            ROW=first[0], COLUMN=first[1], HEIGHT=height, WIDTH=width, ROW_STEP=steps[0], COLUMN_STEP=steps[1])
    expected = x[first[0]::steps[0], first[1]::steps[1]][:height, :width]
    return numpy.array_equal(y, expected), f"{x.shape} from {first} by {steps}: {expected.shape}"


def rotary(nereid, device, folder, rows, block, d):
    generator = numpy.random.default_rng(d)
    x = generator.standard_normal((rows, d)).astype(numpy.float32)
    angle = generator.uniform(0, 6, (rows, d // 2))
    cos, sin = numpy.cos(angle).astype(numpy.float32), numpy.sin(angle).astype(numpy.float32)
    y = run(nereid, device, "rotary", folder, {"x_ptr": x, "cos_ptr": cos, "sin_ptr": sin}, "y_ptr", x.shape,
            f"cdiv({rows}, {block})", n_rows=rows, ROWS=block, D=d)
    a, b = numpy.split(x.astype(numpy.float64), 2, axis=1)
    expected = numpy.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)
    return numpy.allclose(y, expected, rtol=0, atol=2**-20), f"rotary of {x.shape}, {block} rows a program"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nereid")
    parser.add_argument("--device", action="append")
    parser.add_argument("--count", type=int, default=12)
    options = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for device in options.device or ["cpu", "interp"]:
            choose = random.Random(1)
            results = [part(options.nereid, device, folder, choose) for _ in range(options.count)]
            results += [rotary(options.nereid, device, folder, *case) for case in ((13, 4, 64), (8, 2, 96))]
            count += len(results)
            for good, what in results:
                if not good:
                    failed += 1
                    print(f"{device}: {what} differs")
    print(f"{count} parts of blocks, {failed} differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
