"""Extensions in C that host code brings: compiled once, kept in the cache."""
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile

from triton import knobs
from triton.runtime.cache import get_cache_manager, make_key


def _compiler():
    for name in (knobs.build.cc, "clang", "gcc", "cc"):
        path = name and shutil.which(name)
        if path:
            return path
    raise RuntimeError("Failed to find C compiler. Please specify via CC environment variable: expected clang, gcc or cc in PATH")


def _compile(source, name, library_dirs, include_dirs, libraries, ccflags):
    """The bytes of the shared library."""
    with tempfile.TemporaryDirectory() as folder:
        path, made = os.path.join(folder, f"{name}.c"), os.path.join(folder, f"{name}.so")
        with open(path, "w") as file:
            file.write(source)
        command = [_compiler(), path, "-O3", "-shared", "-fPIC", "-o", made, *(f"-l{library}" for library in libraries),
                   *(f"-L{folder}" for folder in library_dirs), *(f"-I{folder}" for folder in (*include_dirs, sysconfig.get_path("include"))), *ccflags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}: its C source does not compile\n{done.stderr}")
        with open(made, "rb") as file:
            return file.read()


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{name}: expected a module in {path}", name=name, path=path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_module_from_src(src, name, library_dirs=None, include_dirs=None, libraries=None, ccflags=None):
    """The module `name` of C source, compiled where the cache does not have it, or has one that does not load."""
    lists = [list(given or ()) for given in (library_dirs, include_dirs, libraries, ccflags)]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    cache = get_cache_manager(make_key(src, name, suffix, *lists))
    path = cache.get_file(name + suffix)
    if path is not None:
        try:
            return _load(name, path)
        except (ImportError, RuntimeError):
            pass
    data = _compile(src, name, *lists)
    path = cache.put(data, name + suffix, binary=True)
    return _load(name, path)
