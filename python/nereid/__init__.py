"""Nereid for Python: kernels of the Triton language on torch tensors and NumPy arrays.

    import nereid
    nereid.enable()          # from here on `import triton` is Nereid's
    import triton

or, without a changed line, `python -m nereid script.py`. See docs/design/Python.md.
"""
import os
import sys

__version__ = "0.1.0"

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dropin")
_PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


#: Generations of upstream's interface, and the version that `triton` says it is.
_GENERATIONS = {"3.6": "3.6.0", "3.7": "3.7.1", "3.8": "3.8.0", "3.9": "3.9.0"}


def enable(api=None):
    """Puts the folder that holds Nereid's `triton` in front of sys.path, and of PYTHONPATH for processes that this
    one starts. Raises ImportError where another `triton` is imported already.

    `api`: the generation of upstream that `triton.__version__` says, and whose meaning kernels have where generations differ
    (docs/UPSTREAM.md): "3.6", which torch 2.11 goes with, to "3.9", which torch 2.15 does. It is NEREID_LANGUAGE, of this process and
    those that it starts. Without it the version is 3.7.1, and kernels have the newest meaning."""
    if api is not None and api not in _GENERATIONS:
        raise ValueError(f"nereid.enable(api={api!r}): expected one of {', '.join(map(repr, _GENERATIONS))}")
    loaded = sys.modules.get("triton")
    if loaded is not None and not is_enabled():
        raise ImportError(
            f"nereid.enable(): expected to come before the first 'import triton', got one from "
            f"{getattr(loaded, '__file__', 'elsewhere')}; hint: call it at the top of the script, before anything that "
            f"uses torch.compile, or run 'python -m nereid script.py'")
    if api is not None:
        if loaded is not None and loaded.__version__ != _GENERATIONS[api]:
            raise ImportError(f"nereid.enable(api={api!r}): expected to come before the first 'import triton', got {loaded.__version__} already; "
                              f"hint: call it at the top of the script, or set NEREID_LANGUAGE={api}")
        os.environ["NEREID_LANGUAGE"] = api
    if _FOLDER in sys.path:
        sys.path.remove(_FOLDER)
    sys.path.insert(0, _FOLDER)
    # A process that this one starts finds `nereid` where this one did.
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != _FOLDER]
    if _PACKAGES not in before:
        before.append(_PACKAGES)
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *before])
    if "NEREID_PTXAS" not in os.environ:
        assembler = _find_assembler()
        if assembler:
            os.environ["NEREID_PTXAS"] = assembler


#: Where packages that torch's wheels for GPUs depend on have NVIDIA's assembler.
_ASSEMBLERS = ("triton/backends/nvidia/bin/ptxas", "nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas")


def _find_assembler():
    """The ptxas of TRITON_PTXAS_PATH, or one that came with torch. None where there is none, and where there is one in PATH or in CUDA's own
    folder, which the compiler finds."""
    named = os.environ.get("TRITON_PTXAS_PATH")
    if named and os.access(named, os.X_OK):
        return named
    installed = [os.path.join(folder, "ptxas") for folder in [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/cuda/bin"]]
    if any(os.access(path, os.X_OK) for path in installed):
        return None
    found = (os.path.join(folder, *path.split("/")) for folder in sys.path for path in _ASSEMBLERS)
    return next((path for path in found if os.access(path, os.X_OK)), None)


def version_of_triton():
    """What `triton.__version__` is to be."""
    return _GENERATIONS.get(os.environ.get("NEREID_LANGUAGE"), _GENERATIONS["3.7"])


def is_enabled():
    """Whether the `triton` of this process is Nereid's."""
    loaded = sys.modules.get("triton")
    return loaded is not None and os.path.dirname(os.path.dirname(os.path.abspath(getattr(loaded, "__file__", None) or ""))) == _FOLDER


def devices():
    """Names of the devices of this machine, the fastest first: "cuda:0", "cpu", "interp"."""
    from nereid import _native
    return _native.devices()
