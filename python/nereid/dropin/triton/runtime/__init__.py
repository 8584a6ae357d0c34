from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .errors import InterpreterError, OutOfResources
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, constexpr_function, reinterpret

import sys as _sys

from nereid import _native as _native
from triton import knobs as _knobs
from triton.compiler import _failures
from triton.compiler.compiler import CompiledKernel
from triton.language.core import constexpr as _constexpr, dtype as _dtype
from triton.tools.tensor_descriptor import TensorDescriptor as _TensorDescriptor

_driver_module = _sys.modules["triton.runtime.driver"]  # the package's attribute is the object
_native.register(constexpr=_constexpr, dtype=_dtype, jit_function=JITFunction, tensor_descriptor=_TensorDescriptor,
                 error=_failures.make, compiled=CompiledKernel.of_launch, default_device=_driver_module.default_device,
                 current_stream=lambda device: _driver_module.CudaDriver().get_current_stream(device), settings=_knobs.runtime.__dict__,
                 enter_hook=_knobs.runtime.launch_enter_hook, exit_hook=_knobs.runtime.launch_exit_hook,
                 enter_calls=_knobs.runtime.launch_enter_hook.calls, exit_calls=_knobs.runtime.launch_exit_hook.calls)
