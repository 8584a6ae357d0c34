"""A plugin of pytest: triton-shared's examples, with the active driver where they set their own."""
import sys
import types

import triton


class CPUDriver(type(triton.runtime.driver.active)):
    pass


_package, _module = types.ModuleType("triton.backends.triton_shared"), types.ModuleType("triton.backends.triton_shared.driver")
_module.CPUDriver = CPUDriver
sys.modules.update({_package.__name__: _package, _module.__name__: _module})
