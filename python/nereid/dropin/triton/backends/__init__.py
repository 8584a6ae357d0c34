"""The back ends that there are, by upstream's names."""
import types

from . import compiler, driver  # noqa: F401
from .compiler import BaseBackend, GPUTarget  # noqa: F401
from .driver import DriverBase  # noqa: F401


class _Backends(dict):
    """Filled when it is first looked at: the drivers import this package."""

    def _fill(self):
        if not dict.__len__(self):
            from triton.compiler.compiler import Backend
            from triton.runtime.driver import CpuDriver, CudaDriver
            dict.__setitem__(self, "nvidia", types.SimpleNamespace(compiler=Backend, driver=CudaDriver))
            dict.__setitem__(self, "cpu", types.SimpleNamespace(compiler=Backend, driver=CpuDriver))
        return self


for _name in ("__getitem__", "__contains__", "__iter__", "__len__", "get", "items", "keys", "values"):
    setattr(_Backends, _name, (lambda method: lambda self, *args: method(self._fill(), *args))(getattr(dict, _name)))
del _name

backends = _Backends()
