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


def enable():
    """Puts the folder that holds Nereid's `triton` in front of sys.path, and of PYTHONPATH for processes that this
    one starts. Raises ImportError where another `triton` is imported already."""
    loaded = sys.modules.get("triton")
    if loaded is not None and not is_enabled():
        raise ImportError(
            f"nereid.enable(): expected to come before the first 'import triton', got one from "
            f"{getattr(loaded, '__file__', 'elsewhere')}; hint: call it at the top of the script, before anything that "
            f"uses torch.compile, or run 'python -m nereid script.py'")
    if _FOLDER in sys.path:
        sys.path.remove(_FOLDER)
    sys.path.insert(0, _FOLDER)
    # A process that this one starts finds `nereid` where this one did.
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != _FOLDER]
    if _PACKAGES not in before:
        before.append(_PACKAGES)
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *before])


def is_enabled():
    """Whether the `triton` of this process is Nereid's."""
    loaded = sys.modules.get("triton")
    return loaded is not None and os.path.dirname(os.path.dirname(os.path.abspath(getattr(loaded, "__file__", None) or ""))) == _FOLDER


def devices():
    """Names of the devices of this machine, the fastest first: "cuda:0", "cpu", "interp"."""
    from nereid import _native
    return _native.devices()
