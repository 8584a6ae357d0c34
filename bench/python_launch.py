#!/usr/bin/env python3
"""What a launch from Python costs on the host, in microseconds: the best of many batches, and their median. One small program, so that
the launch itself is most of it.

    .venv/bin/python bench/python_launch.py [--package build/python]
    python3 bench/python_launch.py --device cuda --bare build/lib/libNereidBareLaunch.so     beside the driver's own call
    python3 bench/python_launch.py --device cuda --upstream                                  the installed Triton
"""
import argparse
import ctypes
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def batches(call, wait, calls, count):
    for _ in range(200):
        call()
    wait()
    found = []
    for _ in range(count):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        found.append((time.perf_counter_ns() - start) / calls / 1e3)
        wait()
    return min(found), statistics.median(found)


def bare_launches(library, torch, parameters, calls, count):
    """The driver's call alone."""
    major, minor = torch.cuda.get_device_capability()
    names = ", ".join(f".param .u64 p{i}" for i in range(parameters))
    text = f".version 7.8\n.target sm_{major}{minor}\n.address_size 64\n.visible .entry bare({names}) {{ ret; }}\n"
    image = ctypes.create_string_buffer(text.encode())
    measure = ctypes.CDLL(str(library)).bareLaunchSeconds
    measure.restype = ctypes.c_double
    found = [1e6 * measure(image, parameters, calls) for _ in range(count)]
    if min(found) < 0:
        sys.exit(f"the driver's launch failed with error {-min(found) / 1e6:.0f}")
    return min(found), statistics.median(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/python", help="the folder that holds the package nereid")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--upstream", action="store_true", help="measure the installed Triton instead")
    parser.add_argument("--bare", type=pathlib.Path, help="the library of python_bare_launch.cpp")
    options = parser.parse_args()
    if not options.upstream:
        sys.path.insert(0, str(options.package.resolve()))
        import nereid
        nereid.enable()
    import python_launch_kernels as kernels
    import torch
    on_gpu = options.device == "cuda"
    if on_gpu and not torch.cuda.is_available():
        sys.exit("skipped: no GPU that PyTorch can use")
    # A GPU's queue holds about a thousand launches: what waits for room in it is no launch's cost.
    calls, count, wait = (200, 300, torch.cuda.synchronize) if on_gpu else (2000, 60, lambda: None)
    x, y, z = (torch.zeros(16, device=options.device) for _ in range(3))
    cdiv, add, many, nothing = kernels.triton.cdiv, kernels.add, kernels.many, kernels.nothing
    cases = {
        "a Python call": lambda: None,
        "no argument": lambda: nothing[(1, )](),
        "3 tensors, int, constexpr": lambda: add[(1, )](x, y, z, 16, BLOCK=16),
        "the same, lambda grid with triton.cdiv": lambda: add[lambda meta: (cdiv(16, meta["BLOCK"]), )](x, y, z, 16, BLOCK=16),
        "12 tensors, 6 ints, constexpr": lambda: many[(1, )](x, y, z, x, y, z, x, y, z, x, y, z, 1, 2, 3, 4, 5, 6, BLOCK=16),
        "torch.add, beside": lambda: torch.add(x, y, out=z),
    }
    print(f"{'upstream' if options.upstream else 'nereid':42} {'best':>7} {'median':>7}  us")
    if options.bare:
        for parameters in (4, 18):
            best, median = bare_launches(options.bare.resolve(), torch, parameters, calls, count)
            print(f"{f'cuLaunchKernel, {parameters} parameters':42} {best:7.2f} {median:7.2f}")
    for name, call in cases.items():
        best, median = batches(call, wait, calls, count)
        print(f"{name:42} {best:7.2f} {median:7.2f}")


if __name__ == "__main__":
    main()
