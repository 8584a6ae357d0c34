"""`import triton`, compiled by Nereid (docs/design/Python.md). The names and their meaning are upstream's; the code is not."""
import nereid

#: The generation of the interface that this package presents (nereid.enable).
__version__ = nereid.version_of_triton()

from . import knobs  # noqa: F401
from . import errors  # noqa: F401
from . import language  # noqa: F401
from .errors import TritonError
from .compiler import CompilationError, compile
from .runtime import (Autotuner, Config, Heuristics, InterpreterError, JITFunction, KernelInterface, MockTensor,
                      OutOfResources, TensorWrapper, autotune, driver, heuristics, reinterpret)
from .runtime._allocation import set_allocator
from .runtime._async_compile import AsyncCompileMode
from .runtime.jit import ConstexprFunction, aggregate, constexpr_function, jit, must_use_result
from ._host import cdiv, next_power_of_2
from . import _C, backends, testing  # noqa: F401
from . import tools  # noqa: F401


__all__ = [
    "AsyncCompileMode", "Autotuner", "CompilationError", "Config", "ConstexprFunction", "Heuristics", "InterpreterError", "JITFunction",
    "KernelInterface", "MockTensor", "OutOfResources", "TensorWrapper", "TritonError", "aggregate", "autotune", "cdiv", "compile",
    "constexpr_function", "driver", "heuristics", "jit", "knobs", "language", "must_use_result", "next_power_of_2",
    "reinterpret", "runtime", "set_allocator", "testing", "tools",
]
