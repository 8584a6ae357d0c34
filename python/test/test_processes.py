"""Threads, processes, and memory over many launches."""
import ctypes
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def increment(x, block):
    y = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]), )](x, y, x.numel(), BLOCK=block)
    return y


def test_sixteen_threads_launch_new_and_known_forms():
    failures = []

    def work(number):
        try:
            for i in range(20):
                x = torch.full((1000 + number, ), float(i))
                assert torch.equal(increment(x, 16 << (i + number) % 4), x + 1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number, )) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def in_child(size):
    # NumPy's: torch's own threads do not survive a fork.
    x = np.arange(size, dtype=np.float32)
    y = np.empty_like(x)
    add_kernel[(triton.cdiv(size, 64), )](x, y, size, BLOCK=64)
    return np.array_equal(y, x + 1)


def test_threads_launch_a_kernel_that_others_reset():
    failures = []

    @triton.jit
    def scale(x, y, n, factor, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) * factor, mask=offsets < n)

    def work(number):
        random = np.random.default_rng(number)
        pick = lambda items: items[random.integers(len(items))]  # noqa: E731
        try:
            for i in range(1500):
                x = torch.ones(64, dtype=pick([torch.float32, torch.float16, torch.int32]))
                y, n, factor, block = torch.zeros_like(x), pick([1, 16, 30, 48]), pick([2, 3, 16]), pick([16, 32, 64])
                if i % 2:
                    scale[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]), )](x, y, n, factor, BLOCK=block)
                else:
                    scale[(triton.cdiv(n, block), )](x, y, n=n, factor=factor, BLOCK=block)
                assert y.tolist() == [factor] * n + [0] * (64 - n)
                if i % 100 == number:
                    scale.device_caches.clear()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number, )) for number in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def compiles_for_a_gpu(block):
    source = triton.compiler.ASTSource(add_kernel, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": block})
    compiled = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 90, 32))
    return ".target sm_90a" in compiled.asm["ptx"] and pickle.loads(pickle.dumps(compiled)).metadata == compiled.metadata


def test_children_compile_for_a_gpu_that_they_cannot_use():
    # As torch.compile's workers do, which are forks of a process that works with the GPU.
    assert compiles_for_a_gpu(64)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(compiles_for_a_gpu, (128, ))


def test_a_function_without_its_python_function_is_pickled_again():
    # As torch does with a kernel that a worker gave it, to keep it in its cache: it takes these out, and puts them back.
    taken = ("fn", "__globals__", "used_global_vals", "repr", "_hash_lock")
    function = triton.jit(compiles_for_a_gpu)
    for _ in range(2):
        values = {name: getattr(function, name) for name in taken}
        name = function.repr(function)
        for one in taken:
            setattr(function, one, None)
        received = pickle.loads(pickle.dumps(function))
        for one, value in values.items():
            setattr(function, one, value)
        assert received.arg_names == ["block"] and received.fn is None and received.__globals__ is None and received.src == function.src
        received.repr = Named(name)
        function = received


class Named:
    """What torch gives in place of a function's `repr`."""

    def __init__(self, name):
        self.name = name

    def __call__(self, _specialization):
        return self.name


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("size", [100, 3_000_000])
def test_children_launch_too(method, size):
    assert in_child(size)  # the parent has a pool of threads
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(in_child, [size, size]) == [True, True]


def test_programs_that_this_one_starts_have_the_package():
    code = "import triton, nereid; print(nereid.is_enabled())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


class HeapUse(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def bytes_in_use():
    """Of the C heap, exactly."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = HeapUse
    use = libc.mallinfo2()
    return use.uordblks + use.hblkhd


def wrong(x):
    try:
        add_kernel[(1, )](x, x, object(), BLOCK=16)
    except TypeError:
        pass


def failing_grid(x):
    try:
        add_kernel[lambda meta: 1 / 0](x, x, 1, BLOCK=16)
    except ZeroDivisionError:
        pass


@pytest.mark.parametrize("launch, times", [
    (lambda x: add_kernel[(1, )](x, x, 5, BLOCK=16), 100_000),
    (lambda x: add_kernel[lambda meta: (meta["BLOCK"] // 16, )](x, x, n=5, BLOCK=16, num_warps=2), 20_000),
    (wrong, 20_000),
    (failing_grid, 20_000),
])
def test_launches_leave_nothing_behind(launch, times):
    x = torch.zeros(16)
    for _ in range(1000):
        launch(x)
    references = sys.getrefcount(x), sys.getrefcount(add_kernel)
    blocks, used = sys.getallocatedblocks(), bytes_in_use()
    for _ in range(times):
        launch(x)
    assert sys.getallocatedblocks() - blocks < 200
    assert bytes_in_use() - used < 1 << 16
    assert (sys.getrefcount(x), sys.getrefcount(add_kernel)) == references


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_million_launches_leave_resident_memory_as_it_was():
    x = torch.zeros(16)
    for _ in range(100_000):
        add_kernel[(1, )](x, x, 5, BLOCK=16)
    gc.collect()
    resident = resident_bytes()
    for _ in range(1_000_000):
        add_kernel[(1, )](x, x, 5, BLOCK=16)
    gc.collect()
    assert resident_bytes() - resident < 1 << 20


IN_DEVELOPMENT_MODE = """
import gc
import threading
import numpy as np
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)

def fails(exception, launch):
    try:
        launch()
    except exception:
        return
    raise AssertionError(f"expected {exception.__name__}")

def work():
    x = np.zeros(100, dtype=np.float32)
    for i in range(300):
        y = np.zeros_like(x)
        kernel = add_kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]), )]
        compiled = kernel(x, y, 100, BLOCK=16 << i % 3)
        add_kernel[(7, )](x, y, n=100, BLOCK=16)
        assert y.min() == 1 and compiled.asm and compiled.metadata
        fails(TypeError, lambda: add_kernel[(1, )](x, y, object(), BLOCK=16))
        fails(KeyError, lambda: add_kernel[(1, )](x, y, 1, BLOKC=16))
        fails(ZeroDivisionError, lambda: add_kernel[lambda meta: 1 // 0](x, y, 1, BLOCK=16))
        fails(triton.CompilationError, lambda: add_kernel[(1, )](1.5, y, 1, BLOCK=16))
        if i % 50 == 0:
            add_kernel.device_caches.clear()
            gc.collect()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("right")
"""


def test_pythons_development_mode_finds_nothing(tmp_path):
    # It checks memory that is freed, references, and calls without the GIL.
    (tmp_path / "script.py").write_text(IN_DEVELOPMENT_MODE)
    done = subprocess.run([sys.executable, "-X", "dev", "-m", "nereid", str(tmp_path / "script.py")], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("right\n", "", 0)


INTERRUPTED = """
import os
import signal
import threading
import time
import numpy as np
import triton
import triton.language as tl

@triton.jit
def square(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    for i in tl.static_range(100):
        x = tl.where(x > i, x * 0.5, x + 0.0)
    tl.store(x_ptr + offsets, x * x)

x = np.zeros(64, dtype=np.float32)
thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    thread.start()
    square[(1, )](x, BLOCK=64)
    while True:
        time.sleep(0.01)  # where the signal came late
except KeyboardInterrupt:
    print("interrupted")
thread.join()
x[:] = 0.5
square[(1, )](x, BLOCK=64)
print(x[0])
"""


def test_an_interrupt_while_compiling(tmp_path):
    (tmp_path / "script.py").write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, "-m", "nereid", str(tmp_path / "script.py")], capture_output=True, text=True,
                          env={**os.environ, "NEREID_CACHE_DIR": str(tmp_path / "cache")})
    assert done.stdout == "interrupted\n0.0625\n", done.stderr


def test_kernels_that_nobody_holds_are_gone():

    def make():

        @triton.jit
        def kernel(x):
            tl.store(x, 1)

        kernel[(1, )](torch.zeros(1))
        return weakref.ref(kernel)

    kernel = make()
    gc.collect()
    assert kernel() is None
