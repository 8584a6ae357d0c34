"""triton.knobs: settings that are the environment's until a program says otherwise."""
import os

import pytest
import triton
from triton import knobs


@pytest.fixture(autouse=True)
def restored():
    from triton._internal_testing import _fresh_knobs_impl
    fresh, reset = _fresh_knobs_impl()
    fresh()
    yield
    reset()


def test_the_environment_is_read_each_time(monkeypatch):
    assert not knobs.autotuning.print and knobs.redis.port == 6379 and knobs.compilation.use_ir_loc is None
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "YES")
    monkeypatch.setenv("TRITON_REDIS_PORT", "80")
    monkeypatch.setenv("USE_IR_LOC", "ttir")
    assert knobs.autotuning.print and knobs.redis.port == 80 and knobs.compilation.use_ir_loc == "ttir"


def test_a_setting_of_the_program_goes_to_processes_that_it_starts(monkeypatch):
    knobs.cache.dir = "/somewhere"
    assert os.environ["TRITON_CACHE_DIR"] == "/somewhere" and knobs.cache.given_dir == "/somewhere"
    monkeypatch.setattr(knobs, "propagate_env", False)
    knobs.cache.dir = "/elsewhere"
    assert os.environ["TRITON_CACHE_DIR"] == "/somewhere" and knobs.cache.dir == "/elsewhere"
    knobs.cache.dir = knobs.env
    assert knobs.cache.dir == "/somewhere"


def test_folders_follow_the_home():
    assert knobs.cache.dir == os.path.expanduser("~/.triton/cache") and knobs.cache.given_dir == ""
    knobs.cache.home_dir = "/home/of/mine"
    assert knobs.cache.dump_dir == "/home/of/mine/.triton/dump" and knobs.cache.given_dir == "/home/of/mine/.triton/cache"


def test_scopes_undo_what_is_set_inside():
    knobs.amd.use_buffer_ops = False
    with knobs.amd.scope():
        knobs.amd.use_buffer_ops = True
        knobs.amd.use_block_pingpong = True
    assert not knobs.amd.use_buffer_ops and knobs.amd.use_block_pingpong is None and os.environ["AMDGCN_USE_BUFFER_OPS"] == "0"


def test_groups_of_others():

    class Mine(knobs.base_knobs):
        text = knobs.env_str("MINE_TEXT", "a")
        flag = knobs.env_opt_bool("MINE_FLAG")

    mine = Mine()
    mine.flag = True
    other = mine.copy()
    assert mine.knobs == other.knobs == {"text": "a", "flag": True} and os.environ["MINE_FLAG"] == "1"
    del other.flag, os.environ["MINE_FLAG"]
    assert mine.flag and other.flag is None and mine.reset().flag is None


@pytest.mark.parametrize("variable, value, setting, text", [
    ("TRITON_REDIS_PORT", "many", lambda: knobs.redis.port, "TRITON_REDIS_PORT: expected an integer, got 'many'"),
    ("TRITON_CACHE_MANAGER", "no.such:Class", lambda: knobs.cache.manager_class, "TRITON_CACHE_MANAGER: expected module:class, got 'no.such:Class'"),
    ("PATH", "", lambda: knobs.nvidia.ptxas, "Cannot find ptxas: expected it in PATH, or TRITON_PTXAS_PATH"),
])
def test_wrong_settings(monkeypatch, variable, value, setting, text):
    monkeypatch.setenv(variable, value)
    with pytest.raises(RuntimeError) as raised:
        setting()
    assert str(raised.value) == text


def test_a_tool_that_is_not_there_is_listed_without_a_value(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert knobs.nvidia.knobs["ptxas"] is None and knobs.nvidia.knobs["dump_nvptx"] is False
    monkeypatch.setenv("TRITON_PTXAS_PATH", "/somewhere/ptxas")
    assert knobs.nvidia.knobs["ptxas"].path == "/somewhere/ptxas"


def test_files_of_a_key(tmp_path):
    from triton.runtime.cache import FileCacheManager, get_cache_manager
    knobs.cache.dir = str(tmp_path)
    cache = get_cache_manager("00ff")
    assert isinstance(cache, FileCacheManager) and cache.get_file("a") is None and cache.get_group("all") is None
    path = cache.put(b"bytes", "a")
    assert cache.get_file("a") == path and open(path, "rb").read() == b"bytes"
    cache.put_group("all", {"a": path, "gone": str(tmp_path / "gone")})
    assert get_cache_manager("00ff").get_group("all") == {"a": path} and get_cache_manager("00fe").get_file("a") is None


def test_a_manager_of_the_program(monkeypatch):
    from triton.runtime.cache import FileCacheManager, get_cache_manager
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    assert knobs.cache.manager_class is FileCacheManager

    class Mine(FileCacheManager):

        def __init__(self, key):
            self.key = key

    knobs.cache.manager_class = Mine
    assert type(get_cache_manager("00ff")) is Mine


def test_extensions_in_c(tmp_path):
    from triton.runtime.build import compile_module_from_src
    knobs.cache.dir = str(tmp_path)
    source = """
#include <Python.h>
static PyObject *two(PyObject *self, PyObject *args) { return PyLong_FromLong(2); }
static PyMethodDef methods[] = {{"two", two, METH_NOARGS, 0}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "small", 0, -1, methods};
PyMODINIT_FUNC PyInit_small(void) { return PyModule_Create(&definition); }
"""
    module = compile_module_from_src(source, "small")
    assert module.two() == 2
    os.unlink(module.__file__)  # it is loaded
    with open(module.__file__, "w") as file:
        file.write("no library")
    assert compile_module_from_src(source, "small").two() == 2  # compiled again
    with pytest.raises(RuntimeError, match="small: its C source does not compile"):
        compile_module_from_src("nonsense", "small")
    knobs.build.cc = str(tmp_path / "no-compiler")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        with pytest.raises(RuntimeError, match="Failed to find C compiler"):
            compile_module_from_src("int x;", "other")
