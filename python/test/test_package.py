"""The package itself: who is imported, and which names there are."""
import json
import os
import pathlib
import subprocess
import sys
import types

import nereid
import pytest
import triton
import triton.language as tl

PACKAGES = pathlib.Path(nereid.__path__[0]).parent


def python(*arguments, **environment):
    values = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                          env={**values, "PYTHONPATH": str(PACKAGES), **environment})


def test_triton_is_nereids():
    assert nereid.is_enabled()
    assert pathlib.Path(triton.__file__).parent.parent == pathlib.Path(nereid.__path__[0]) / "dropin"
    assert [int(part) for part in triton.__version__.split(".")][0] == 3
    assert triton.__spec__.name == "triton"


def test_enabling_comes_first():
    done = python("-c", "import sys, types; sys.modules['triton'] = types.ModuleType('triton'); import nereid; nereid.enable()")
    assert done.returncode == 1 and "expected to come before the first 'import triton'" in done.stderr


@pytest.mark.parametrize("api, version", [("3.6", "3.6.0"), ("3.9", "3.9.0"), (None, "3.7.1")])
def test_generations(api, version):
    code = "import nereid, os; nereid.enable(%r); import triton; print(triton.__version__, os.environ.get('NEREID_LANGUAGE'))" % api
    done = python("-c", code)
    assert done.stdout == f"{version} {api}\n", done.stderr
    assert python("-c", "import triton; print(triton.__version__)", PYTHONPATH=os.pathsep.join(
        [str(pathlib.Path(nereid.__path__[0]) / "dropin"), str(PACKAGES)]), NEREID_LANGUAGE=api or "").stdout == f"{version}\n"


def test_generations_by_the_command_line():
    done = python("-m", "nereid", "--api", "3.6", "-c", "import triton; print(triton.__version__)")
    assert done.stdout == "3.6.0\n", done.stderr
    for arguments in (["--api", "2.0", "-c", "0"], ["--api", "3.6"], ["--api"]):
        done = python("-m", "nereid", *arguments)
        assert done.returncode == 2 and "nereid: " in done.stderr and "Traceback" not in done.stderr


def test_a_generation_that_there_is_not():
    with pytest.raises(ValueError, match="expected one of '3.6', '3.7', '3.8', '3.9'"):
        nereid.enable(api="4.0")
    other = "3.9" if triton.__version__ != "3.9.0" else "3.6"
    with pytest.raises(ImportError, match="before the first 'import triton'"):
        nereid.enable(api=other)


def test_torch_is_not_imported_before_it_is_needed():
    done = python("-c", "import sys, nereid; nereid.enable(); import triton, triton.language; print('torch' in sys.modules, 'numpy' in sys.modules)")
    assert done.stdout == "False False\n", done.stderr


SCRIPT = """
import sys
import types
import triton
import triton.language as tl
import beside

@triton.jit
def kernel(x, N: tl.constexpr):
    tl.store(x, beside.twice(N))

if __name__ == "__main__":
    import numpy
    x = numpy.zeros(1, dtype=numpy.float32)
    kernel[(1,)](x, int(sys.argv[1]))
    print(x[0], sys.argv[1:])
"""
BESIDE = """
import triton

@triton.jit
def twice(n):
    return 2 * n
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "beside.py").write_text(BESIDE)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path / "script.py"


def test_a_script_runs_as_it_is(script):
    done = python("-m", "nereid", str(script), "21", "--more")
    assert done.stdout == "42.0 ['21', '--more']\n", done.stderr


def test_a_module_runs_as_it_is(script):
    done = subprocess.run([sys.executable, "-m", "nereid", "-m", "script", "4"], capture_output=True, text=True, cwd=script.parent)
    assert done.stdout == "8.0 ['4']\n", done.stderr


@pytest.mark.parametrize("arguments, text", [((), "usage"), (("missing.py", ), "which is no file"), (("--what", ), "expected a script"),
                                             (("-c", ), "expected code")])
def test_wrong_command_lines(arguments, text):
    done = python("-m", "nereid", *arguments)
    assert done.returncode == 2 and text in done.stderr


def test_names_are_those_of_the_compiler():
    from triton.language._names import NAMES
    modules = {"tl": "triton.language", "tl.math": "triton.language.math", "libdevice": "triton.language.extra.libdevice",
               "tl.extra.cuda": "triton.language.extra.cuda", "tl.extra.hip": "triton.language.extra.hip",
               "tl.target_info": "triton.language.target_info"}
    program = PACKAGES.parent / "bin/nereid"
    if not program.exists():
        pytest.skip("no bin/nereid in the build folder")
    known = {name: set() for name in modules.values()}
    for row in json.loads(subprocess.run([program, "builtins", "--json"], capture_output=True, text=True, check=True).stdout):
        for module in row["module"].split():
            if module in modules:
                known[modules[module]].add(row["name"])
    assert {name: set(names) for name, names in NAMES.items()} == known


@pytest.mark.parametrize("name", [
    "triton.language.core", "triton.language.standard", "triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice",
    "triton.language.extra.cpu.libdevice", "triton.language.extra.hip.libdevice",
    "triton.compiler.errors", "triton.compiler.compiler", "triton.backends.compiler", "triton.backends.driver", "triton.runtime.jit", "triton.runtime.autotuner",
    "triton.runtime.driver", "triton.runtime.build", "triton.runtime.cache", "triton.runtime.errors", "triton.runtime.interpreter", "triton.tools.tensor_descriptor",
    "triton.testing", "triton.knobs"
])
def test_modules_that_others_import(name):
    __import__(name)


def test_what_others_ask_of_the_machine():
    target = triton.runtime.driver.active.get_current_target()
    assert target.backend in ("cpu", "cuda", "hip") and hash(target) == hash(triton.backends.compiler.GPUTarget(*vars(target).values()))
    assert set(triton.backends.backends) == {"nvidia", "cpu"} and triton.backends.backends["cpu"].driver.is_active()
    assert triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] > 0
    assert triton.compiler.make_backend(target).parse_options({"num_warps": 8}).num_warps == 8
    assert "cpu" in nereid.devices()


def test_targets_of_torch_devices(monkeypatch):
    from triton.runtime.driver import CudaDriver
    for architecture, lanes in (("gfx942:sramecc+:xnack-", 64), ("gfx1100", 32)):
        cuda = types.SimpleNamespace(current_device=lambda: 0, get_device_capability=lambda: (9, 4),
                                     get_device_properties=lambda device, name=architecture: types.SimpleNamespace(gcnArchName=name))
        torch = types.SimpleNamespace(cuda=cuda, version=types.SimpleNamespace(hip="6.3"))
        monkeypatch.setitem(sys.modules, "torch", torch)
        target = CudaDriver().get_current_target()
        assert (target.backend, target.arch, target.warp_size) == ("hip", architecture.split(":")[0], lanes)
        torch.version.hip = None
        assert CudaDriver().get_current_target().backend == "cuda"


def test_arrays_of_every_dtype_for_the_tests_of_others():
    from triton import _internal_testing as testing
    for name in testing.dtypes_with_bfloat16:
        x = testing.numpy_random(40, name)
        assert x.all() and (testing.to_numpy(testing.to_triton(x, "cpu", dst_type=name)) == x).all()
    assert not testing.is_hip() and not testing.is_of_a_later_version()
    with pytest.raises(RuntimeError, match="expected the name of a dtype"):
        testing.numpy_random(1, "int7")


def test_gluon_is_not_there():
    with pytest.raises(ImportError):
        import triton.experimental.gluon  # noqa: F401


def test_dtypes_and_constants_of_the_host():
    assert tl.float16 == tl.dtype("fp16") != tl.bfloat16 and {tl.int32: 1}[tl.dtype("int32")] == 1
    assert (tl.int8.primitive_bitwidth, tl.float8e5.is_fp8(), tl.uint16.is_int_unsigned(), repr(tl.float32)) == (8, True, True, "triton.language.float32")
    two = tl.constexpr(2)
    assert (two + 3).value == 5 and (7 - two).value == 5 and list(range(two)) == [0, 1] and [10, 20, 30][two] == 30
    assert two == 2 and hash(two) == hash(2) and f"{two:03}" == "002"
    with pytest.raises(ValueError, match="tl.dtype: expected one of"):
        tl.dtype("float12")


def test_upstreams_tests_of_intermediate_code_compile_and_fail_after_that():
    from triton._filecheck import IntermediateCode, filecheck_test, run_parser

    @filecheck_test
    @triton.jit
    def test_add(x: tl.constexpr = 1):
        tl.static_assert(x == 1)

    assert run_parser(test_add.__wrapped__).name == "test_add"
    with pytest.raises(IntermediateCode, match="test_add compiles"):
        test_add()
