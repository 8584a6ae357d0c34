"""Arguments, grids, options, what comes back, and every way to be wrong."""
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def put(x, value, K: tl.constexpr = 3):
    tl.store(x + tl.program_id(0) + 4 * tl.program_id(1), value * K)


def freed(x):
    x.untyped_storage().resize_(0)
    return x


def value_of(*args, **kwargs):
    x = torch.zeros(16, dtype=torch.float64)
    put[(1, )](x, *args, **kwargs)
    return x[0].item()


@pytest.mark.parametrize("value", [0, 1, 16, -5, 2**40, True, 0.5, np.int32(7), np.float32(0.25), tl.constexpr(9)])
def test_numbers(value):
    assert value_of(value) == float(value) * 3


def test_a_number_of_64_bits_without_a_sign():
    assert value_of(2**63, K=1) == 2.0**63


def test_arguments_by_position_name_and_default():
    assert value_of(2, 5) == 10
    assert value_of(2, K=5) == 10
    assert value_of(K=5, value=2) == 10
    assert value_of(2) == 6


@pytest.mark.parametrize("grid", [(4, 2), [4, 2], lambda meta: (meta["K"] + 3, 2), (np.int64(4), 2)])
def test_grids(grid):
    x = torch.zeros(16)
    put[grid](x, 1, K=1)
    assert x.sum() == 8


def test_a_grid_of_one_number():
    x = torch.zeros(16)
    put[4](x, 1, K=1)
    assert x.sum() == 4


def test_a_grid_function_sees_all_arguments():
    seen = {}
    x = torch.zeros(16)
    put[lambda meta: seen.update(meta) or (1, )](x, 1, num_warps=2)
    assert seen == {"x": x, "value": 1, "K": 3, "num_warps": 2} and seen["x"] is x


class Colour:

    def __repr__(self):
        return "red"


@triton.jit
def put_if(x, C: tl.constexpr):
    if C == "red":
        tl.store(x, 1)


def test_an_object_of_any_class_is_a_constexpr_by_its_repr():
    x = torch.zeros(1)
    put_if[(1, )](x, Colour())
    assert x[0] == 1
    with pytest.raises(TypeError, match="got Colour"):
        put[(1, )](torch.zeros(16), Colour())


@triton.jit(debug=True)
def checked(x, value):
    tl.device_assert(value > 0, "positive")
    tl.store(x, value)


@triton.jit
def unchecked(x, value):
    tl.device_assert(value > 0, "positive")
    tl.store(x, value)


def test_assertions_by_decorator_and_by_option():
    x = torch.zeros(1)
    with pytest.raises(RuntimeError, match="positive"):
        checked[(1, )](x, -1)
    checked[(1, )](x, -1, debug=False)
    unchecked[(1, )](x, -2)
    assert x[0] == -2
    with pytest.raises(RuntimeError, match="positive"):
        unchecked[(1, )](x, -1, debug=True)


@triton.jit
def twice(x, y):
    tl.store(y, tl.load(x) * 2)


def test_debug_looks_for_overflow():
    y = torch.zeros(1, dtype=torch.int32)
    for value, overflows in ((2**30 - 1, False), (2**30, True), (-2**30, False), (-2**30 - 1, True)):
        x = torch.tensor([value], dtype=torch.int32)
        if overflows:
            with pytest.raises(RuntimeError, match="int32 overflow in '\\*'"):
                twice[(1, )](x, y, debug=True)
        else:
            twice[(1, )](x, y, debug=True)
        twice[(1, )](x, y, debug=True, sanitize_overflow=False)
        assert y[0] == torch.tensor([value * 2]).to(torch.int32)[0]


def test_assertions_by_the_environment(monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "1")
    triton.knobs.refresh_knobs()

    @triton.jit
    def other(x, value):
        tl.device_assert(value > 0, "positive")

    with pytest.raises(RuntimeError, match="positive"):
        other[(1, )](torch.zeros(1), -1, debug=False)


def test_a_tensor_under_another_dtype():
    x = torch.tensor([3, 200], dtype=torch.uint8).view(torch.int8)
    y = torch.zeros(2, dtype=torch.int32)
    widen[(1, )](triton.reinterpret(x, tl.uint8), y)
    assert y.tolist() == [3, 200]
    assert triton.reinterpret(x, tl.uint8).new_empty((3, )).shape == (3, )


@triton.jit
def widen(x, y):
    offsets = tl.arange(0, 2)
    tl.store(y + offsets, tl.load(x + offsets))


def test_hooks_of_settings_hear_of_new_forms(monkeypatch):
    heard = []
    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", lambda **facts: heard.append(("cache", facts["compile"]["num_warps"])))
    monkeypatch.setattr(triton.knobs.runtime, "jit_post_compile_hook", lambda **facts: heard.append(("compiled", facts["already_compiled"])))

    @triton.jit
    def fresh(x, n):
        tl.store(x, n)

    x = torch.zeros(1)
    for n in (1, 1, 16, 32):
        fresh[(1, )](x, n, num_warps=2)
    assert heard == [("cache", 2), ("compiled", True)] * 2


@pytest.mark.parametrize("grid", [(0, ), (4, 0)])
def test_no_programs(grid):
    x = torch.zeros(16)
    put[grid](x, 1)
    assert x.sum() == 0


def test_what_a_launch_gives_back():
    x = torch.zeros(16)
    first, second, third = put[(1, )](x, 5), put[(1, )](x, 7), put[(1, )](x, 16)
    assert first is second and first is not third
    assert first.metadata.num_warps == 4 and first.metadata.name and first.name == "put"
    assert "func.func @put" in first.asm["tile"] and "define" in first.asm["llir"] and first.asm["asm"]
    assert "ptx" not in first.asm
    assert first.n_regs is None and first.n_spills is None and first.shared == 0
    assert first.hash != third.hash and int(first.hash, 16) >= 0
    assert put[(1, )](x, 5, num_warps=8).metadata.num_warps == 8


def test_warmup_compiles_and_runs_nothing():
    x = torch.zeros(16)
    compiled = put.warmup(x, 5, grid=(1, ))
    assert compiled.name == "put" and x.sum() == 0
    # A dtype is an array of the active device.
    triton.runtime.driver.set_active(triton.backends.backends["cpu"].driver())
    try:
        assert put.warmup(torch.float32, 5, grid=(1, )) is compiled
    finally:
        triton.runtime.driver.reset_active()


def test_a_source_with_a_signature_compiles():
    source = triton.compiler.ASTSource(put, {"x": "*fp32", "value": "i32", "K": "constexpr"}, {"K": 2}, {(0, ): [["tt.divisibility", 16]]})
    compiled = triton.compile(source, options={"num_warps": 2})
    assert "!tile.ptr<f32> {tile.divisibility = 16" in compiled.asm["tile"] and "i32 {tile.dtype" in compiled.asm["tile"]
    assert compiled.metadata.num_warps == 2
    with pytest.raises(TypeError, match="'value'"):
        triton.compile(triton.compiler.ASTSource(put, {"x": "*fp32"}, {"K": 2}))
    with pytest.raises(NotImplementedError, match="'fp8'"):
        triton.compile(triton.compiler.ASTSource(put, {"x": "*fp32", "value": "fp8"}, {"K": 2}))


def test_a_source_compiles_for_a_gpu_that_is_not_here():
    source = triton.compiler.ASTSource(put, {"x": "*fp32", "value": "i32", "K": "constexpr"}, {"K": 2}, {(0, ): [["tt.divisibility", 16]]})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 2})
    assert ".target sm_90a" in compiled.asm["ptx"] and ".entry put" in compiled.asm["ptx"]
    assert compiled.metadata.target == GPUTarget("cuda", "sm_90a", 32) and compiled.metadata.num_warps == 2
    # An assembler knows them; without one the driver does, once the code is loaded.
    assert compiled.n_regs is None and compiled.n_spills is None or compiled.n_regs > 0 and compiled.n_spills == 0
    older = triton.compile(source, target=GPUTarget("cuda", 75, 32))
    assert ".target sm_75" in older.asm["ptx"] and older.hash != compiled.hash
    with pytest.raises(ValueError, match="no GPU architecture .sm_10."):
        triton.compile(source, target=GPUTarget("cuda", 10, 32))
    x = torch.zeros(16)
    assert put[(1, )](x, 5, K=2).metadata.target.backend == "cpu" and x[0] == 10


@triton.jit
def inside(x, i, K: tl.constexpr):
    tl.device_assert(i < K, "index out of bounds")
    tl.store(x + i, 1.0)


def test_assertions_of_what_compiles_for_a_gpu_are_cudas():
    source = lambda: triton.compiler.ASTSource(inside, {"x": "*fp32", "i": "i32", "K": "constexpr"}, {"K": 4})  # noqa: E731
    compiled = triton.compile(source(), target=GPUTarget("cuda", 90, 32), options={"debug": True})
    ptx = compiled.asm["ptx"]
    assert "__assertfail" in ptx and "inside_param_1" in ptx and "inside_param_2" not in ptx
    plain = triton.compile(source(), target=GPUTarget("cuda", 90, 32))
    assert "__assertfail" not in plain.asm["ptx"] and plain.hash != compiled.hash


ASSEMBLER = """#!/bin/sh
# Stands in for ptxas: its output is its input.
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then output=$2; shift; fi
  shift
done
cp "$1" "$output"
echo "ptxas info    : Used 12 registers"
"""

FOR_A_STATIC_LAUNCHER = """
import os
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime.cache import _base32

@triton.jit
def scale(x, n, unit, K: tl.constexpr):
    offsets = tl.program_id(0) * K + tl.arange(0, K)
    tl.device_assert(offsets >= 0)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) * unit, mask=offsets < n)

def path(compiled):
    return os.path.join(os.environ["TRITON_CACHE_DIR"], _base32(compiled.hash), "scale.cubin")

def source(K):
    return triton.compiler.ASTSource(scale, {"x": "*fp32", "n": "i32", "unit": "constexpr", "K": "constexpr"}, {"unit": 1, "K": K}, {(0, ): [["tt.divisibility", 16]]})

for K in (32, 64):
    compiled = triton.compile(source(K), target=GPUTarget("cuda", 90, 32), options={"num_warps": 2, "debug": True})
    code = open(path(compiled), "rb").read()
    assert code == compiled.asm["cubin"] and b".entry scale" in code and b"scale_param_1" in code and b"scale_param_2" not in code
    assert compiled.n_regs == 12 and compiled.n_spills == 0 and compiled.src.signature["n"] == "i32"
    paths = paths | {path(compiled)} if K > 32 else {path(compiled)}
assert len(paths) == 2
print("right")
"""


def test_machine_code_lies_where_torchs_static_launcher_looks(tmp_path):
    (tmp_path / "ptxas").write_text(ASSEMBLER)
    (tmp_path / "ptxas").chmod(0o755)
    (tmp_path / "script.py").write_text(FOR_A_STATIC_LAUNCHER)
    done = subprocess.run([sys.executable, "-m", "nereid", str(tmp_path / "script.py")], capture_output=True, text=True,
                          env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "NEREID_PTXAS": str(tmp_path / "ptxas")})
    assert done.stdout == "right\n", done.stderr


def test_options_of_other_back_ends_are_taken():
    assert value_of(1, num_stages=4, num_ctas=1, waves_per_eu=2, enable_fp_fusion=False) == 3


@pytest.mark.parametrize("call, error, text", [
    (lambda x: put[(1, )](x), TypeError, "missing arguments: 'value'"),
    (lambda x: put[(1, )](x, 1, 2, 3), TypeError, "takes 3 positional arguments but 4"),
    (lambda x: put[(1, )](x, 1, value=2), TypeError, "multiple values for argument 'value'"),
    (lambda x: put[(1, )](x, 1, BLOK=2), KeyError, "BLOK"),
    (lambda x: put[(1, )](x, 2**64), OverflowError, "2\\*\\*64 - 1, got 18446744073709551616"),
    (lambda x: put[(1, )](x, object()), TypeError, "'value': expected a tensor"),
    (lambda x: put[(1, )](x, 1, K={}), TypeError, "'K'"),
    (lambda x: put[(1, )](x, 1, K=x), ValueError, "'K'"),
    (lambda x: put[(1, )](x.to(torch.complex64), 1), TypeError, "'x'.*complex64"),
    (lambda x: put[(1, )](freed(x), 1), ValueError, "'x'.*memory was freed"),
    (lambda x: put[(1, )](np.zeros(4, dtype=np.complex64), 1), TypeError, "'x'.*complex64"),
    (lambda x: put[(1, )](np.broadcast_to(np.zeros(1), 4), 1), ValueError, "read-only"),
    (lambda x: put[(1, )](x, 1, num_warps=3), ValueError, "power of two"),
    (lambda x: put[(1, )](x, 1, matrix_instr_nonkdim=4), ValueError, "0, 16 or 32"),
    (lambda x: put[(-1, )](x, 1), ValueError, "-1"),
    (lambda x: put[(1, 1, 1, 1)](x, 1), ValueError, "one to three sizes, got 4"),
    (lambda x: put[()](x, 1), ValueError, "one to three sizes, got 0"),
    (lambda x: put[(1.5, )](x, 1), TypeError, "expected integers, got float"),
    (lambda x: put["x"](x, 1), TypeError, "expected a tuple"),
    (lambda x: put[lambda meta: None](x, 1), TypeError, "got NoneType"),
    (lambda x: put(x, 1), RuntimeError, "grid"),
    (lambda x: tl.load(x), ValueError, "called by a kernel"),
])
def test_wrong_launches(call, error, text):
    with pytest.raises(error, match=text):
        call(torch.zeros(16))


def test_an_exception_of_a_grid_function_comes_through():

    class Mine(Exception):
        pass

    def grid(meta):
        raise Mine(meta["K"])

    with pytest.raises(Mine, match="3"):
        put[grid](torch.zeros(16), 1)


def test_a_grid_function_has_all_arguments_each_time():
    seen = []

    def grid(meta):
        seen.append((sorted(meta), meta["x"], meta["value"], meta["K"], meta.get("num_warps")))
        return (1, )

    first, second = torch.zeros(16), torch.zeros(16)
    for x, value in ((first, 2), (first, 4), (second, 6), (second, 8)):
        put[grid](x, value, num_warps=2)
    assert [item[0] for item in seen] == [["K", "num_warps", "value", "x"]] * 4
    assert [item[2:] for item in seen] == [(2, 3, 2), (4, 3, 2), (6, 3, 2), (8, 3, 2)]
    assert [item[1] is x for item, x in zip(seen, (first, first, second, second))] == [True] * 4


def test_a_grid_function_may_keep_and_change_what_it_gets():
    kept = []

    def grid(meta):
        kept.append(meta)
        meta["more"] = meta["K"] = 9
        return (1, )

    x = torch.zeros(16)
    for value in (2, 4, 6):
        put[grid](x, value)
        assert x[0] == 3 * value
    assert len({id(meta) for meta in kept}) == 3 and all(meta["x"] is x and meta["more"] == 9 for meta in kept)
    put[lambda meta: (len(meta) - 2, )](x, 8)
    assert x[0] == 24


def test_a_grid_functions_arguments_are_let_go():
    x = torch.zeros(16)
    gone = weakref.ref(x)
    for _ in range(3):
        put[lambda meta: (1, )](x, 2)
    del x
    gc.collect()
    assert gone() is None


@triton.jit
def kinds(out, x, n, f, b, nothing, K: tl.constexpr, NAME: tl.constexpr = "a"):
    size: tl.constexpr = x.dtype.element_ty.primitive_bitwidth
    wide: tl.constexpr = n.dtype == tl.int64
    tl.store(out, size)
    tl.store(out + 1, n * 2)
    tl.store(out + 2, wide)
    tl.store(out + 3, f * 4)
    tl.store(out + 4, b)
    tl.store(out + 5, nothing is None)
    tl.store(out + 6, K)
    tl.store(out + 7, NAME == "a")


def test_every_launch_has_its_own_values():
    # Each differs from an earlier one in a way that must be seen, in whatever order they come.
    arrays = [torch.zeros(32), torch.zeros(32)[1:], torch.zeros(32, dtype=torch.float16), torch.zeros(32, dtype=torch.int8), np.zeros(4)]
    numbers = [2, 3, 16, 1, 2**40, -5, 48]
    constants = [7, 1000, 1001, 10**6]
    out = torch.zeros(8, dtype=torch.float64)
    random = np.random.default_rng(0)
    for _ in range(400):
        pick = lambda items: items[random.integers(len(items))]  # noqa: E731
        x, n, f, b, nothing, k = pick(arrays), pick(numbers), pick([0.5, 1.25]), pick([True, False]), pick([None, 3]), pick(constants)
        name = pick(["a", "b", None])
        kinds[(1, )](out, x, n, f, b, nothing, K=k + 0, **({"NAME": name} if name else {}))
        bits = x.element_size() * 8 if isinstance(x, torch.Tensor) else 64
        assert out.tolist() == [bits, 2 * n, n == 2**40, 4 * f, b, nothing is None, k, name != "b"]


def test_values_that_only_look_the_same():
    x = torch.zeros(16)
    for value, expected in ((1, 3), (True, 3), (1.0, 3), (0.5, 1.5), (False, 0), (0, 0), (np.int64(5), 15), (5, 15)):
        for _ in range(3):
            put[(1, )](x, value)
            assert x[0] == expected
    for k in (2, 2, tl.constexpr(3), tl.constexpr(4), 2.0, 2.5, True):
        put[(1, )](x, 2, K=k)
        assert x[0] == 2 * getattr(k, "value", k)


def test_a_tuple_is_read_each_time():

    @triton.jit
    def first_of(pair, out):
        tl.store(out, tl.load(pair[0]) + pair[1])

    out = torch.zeros(1)
    for i in range(4):
        first_of[(1, )]([torch.full((4, ), float(i)), i], out)
        assert out.item() == 2 * i


def test_options_of_known_launches():
    x = torch.zeros(16)
    for _ in range(2):
        assert [put[(1, )](x, 2, num_warps=w).metadata.num_warps for w in (1, 2, 4, 1)] == [1, 2, 4, 1]
        assert put[(1, )](x, 2, waves_per_eu=1).metadata.num_warps == 4
        with pytest.raises(ValueError, match="power of two"):
            put[(1, )](x, 2, num_warps=3)
    with pytest.raises(KeyError, match="BLOK"):
        put[(1, )](x, 2, BLOK=1)


def test_a_kernel_that_launches_in_its_grid_function():
    x, y = torch.zeros(16), torch.zeros(16)
    put[lambda meta: put[(1, )](y, 2) and (1, )](x, 1)
    assert x[0] == 3 and y[0] == 6


@triton.jit
def wrong_line(x):
    y = tl.load(x)
    tl.store(x, y + undefined)  # noqa: F821


def test_an_error_names_the_line_of_the_kernel():
    with pytest.raises(triton.CompilationError) as caught:
        wrong_line[(1, )](torch.zeros(1))
    error = caught.value
    assert error.filename == __file__ and error.lineno == wrong_line.starting_line_number + 3
    assert "undefined" in error.error_message and "tl.store(x, y + undefined)" in str(error) and f":{error.lineno}:" in str(error)


@triton.jit
def asserts(x, K: tl.constexpr):
    tl.static_assert(K == 1, "K must be one")


def test_static_assert_has_its_own_exception():
    asserts[(1, )](torch.zeros(1), 1)
    with pytest.raises(triton.compiler.errors.CompileTimeAssertionFailure, match="K must be one"):
        asserts[(1, )](torch.zeros(1), 2)


@triton.jit
def device_asserts(x):
    tl.device_assert(tl.load(x) == 0, "x is not zero")


def test_device_assert_is_an_error_of_its_line():
    device_asserts[(1, )](torch.zeros(1), debug=True)
    with pytest.raises(RuntimeError, match=f"{__file__}:{device_asserts.starting_line_number + 2}") as caught:
        device_asserts[(1, )](torch.ones(1), debug=True)
    assert "x is not zero" in str(caught.value)


def test_a_tensor_without_memory_goes_by_its_methods():

    class Wrapped:
        """As other libraries' tensors: data_ptr() and dtype."""

        def __init__(self, tensor):
            self.tensor, self.dtype = tensor, tensor.dtype

        def data_ptr(self):
            return self.tensor.data_ptr()

    x = torch.zeros(1)
    put[(1, )](Wrapped(x), 2)
    assert x.item() == 6


def test_a_tensor_whose_memory_is_gone_is_an_error():
    x = torch.zeros(16)
    x.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="memory was freed"):
        put[(1, )](x, 1)


def test_other_elements_by_reinterpret():
    x = torch.zeros(4, dtype=torch.int8)
    put[(1, )](triton.reinterpret(x, tl.float8e5), 1.0, K=1)
    assert x[0] == 0x3c


@triton.jit
def strings(x, NAME: tl.constexpr, DTYPE: tl.constexpr, NOTHING):
    if NAME == "one" and NOTHING is None:
        tl.store(x, tl.full((), 1.75, tl.float32).to(DTYPE).to(tl.float32))


def test_texts_dtypes_and_none():
    x = torch.zeros(1)
    strings[(1, )](x, "one", tl.float16, None)
    assert x.item() == 1.75
    strings[(1, )](x, "one", tl.int32, None)
    assert x.item() == 1
    strings[(1, )](x, "two", tl.float16, None)
    assert x.item() == 1


def test_hooks_of_launches():
    from triton import knobs
    names = []
    hook = lambda metadata: names.append(metadata.get()["name"])  # noqa: E731
    knobs.runtime.launch_enter_hook.add(hook)
    try:
        assert value_of(2) == 6
    finally:
        knobs.runtime.launch_enter_hook.remove(hook)
    assert value_of(2) == 6 and names == ["put"]


def test_hooks_are_heard_whenever_they_are_set():
    names = []
    hear = lambda metadata: names.append(metadata["name"])  # noqa: E731
    assert value_of(2) == 6 and not names
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.launch_enter_hook = hear
        assert value_of(2) == 6 and names == ["put"]
    assert value_of(2) == 6 and names == ["put"]
    triton.knobs.runtime.launch_exit_hook.calls.append(hear)
    try:
        assert value_of(2) == 6 and names == ["put"] * 2
    finally:
        triton.knobs.runtime.launch_exit_hook.calls.clear()
    assert value_of(2) == 6 and names == ["put"] * 2


def test_hooks_of_one_kernel():
    calls = []

    @triton.jit
    def kernel(x, value):
        tl.store(x, value)

    x = torch.zeros(1)
    kernel[(1, )](x, 2)
    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append(args[1]))
    kernel[(1, )](x, 3)
    kernel.pre_run_hooks = []
    kernel[(1, )](x, 4)
    kernel.pre_run_hooks.append(lambda *args, **kwargs: calls.append(-args[1]))
    kernel[(1, )](x, 5)
    assert calls == [3, -5] and x.item() == 5
    kernel.run = lambda *args, grid, warmup, **kwargs: calls.append("run")
    kernel[(1, )](x, 6)
    del kernel.run
    del kernel.pre_run_hooks[:]
    kernel[(1, )](x, 7)
    assert calls == [3, -5, "run"] and x.item() == 7


def test_parameters_that_are_not_specialized_have_one_form():

    @triton.jit(do_not_specialize=["value"], do_not_specialize_on_alignment=["other", "y"])
    def kernel(x, value, other, y):
        tl.store(x, value + other)
        tl.store(y, other)

    x, y = torch.zeros(4), torch.zeros(4)
    forms = [kernel[(1, )](x, value, other, into) for value, other, into in ((1, 2, y), (2, 16, y[1:]), (16, 48, y), (3, 1, y), (2**40, 2, y))]
    assert x[0] == 2.0**40 and forms[0] is forms[1] is forms[2] and len(set(map(id, forms))) == 3


def test_run_may_be_replaced():
    calls = []

    @triton.jit
    def kernel(x):
        tl.store(x, 1)

    kernel.run = lambda *args, grid, warmup, **kwargs: calls.append((grid, warmup, args))
    kernel[(1, )](5)
    assert calls == [((1, ), False, (5, ))]
