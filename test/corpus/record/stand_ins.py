"""Stand-ins: for host packages that no kernel needs, and for the device that a program names."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from unittest import mock


class Stub(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes packages (and all that lies in them) importable: every attribute is a mock."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if any(name == n or name.startswith(n + ".") for n in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = mock.MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__version__ = [], spec, "2.0.0"
        return module

    def exec_module(self, module):
        pass


def stub_modules(names):
    """Host packages that a suite imports and that are not there (compiled extensions, plotting)."""
    def missing(name):
        try:
            return importlib.util.find_spec(name) is None
        except ModuleNotFoundError:
            return True
    sys.meta_path.append(Stub([n for n in names if missing(n)]))


def performance_model():
    """triton.ops, which left Triton: programs take the pruning of configurations from it. Nothing is pruned."""
    model = types.ModuleType("triton.ops.matmul_perf_model")
    model.early_config_prune = lambda configs, *args, **kwargs: configs
    model.estimate_matmul_time = lambda *args, **kwargs: 1.0
    sys.modules["triton.ops"] = types.ModuleType("triton.ops")
    sys.modules["triton.ops.matmul_perf_model"] = model


def move_devices(source, target):
    """Programs that name the device `source` work on `target` from now on."""
    import torch
    from torch.overrides import TorchFunctionMode

    def moved(value):
        if isinstance(value, str) and (value == source or value.startswith(source + ":")):
            return target
        if isinstance(value, torch.device) and value.type == source:
            return torch.device(target)
        return value

    class Moved(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = {k: moved(v) if k == "device" else v for k, v in (kwargs or {}).items()}
            name = getattr(function, "__name__", "")
            if name == "to":
                args = tuple(moved(a) for a in args)
            if name == source:  # Tensor.cuda(), Tensor.cpu()
                return args[0].to(target)
            if target == "cpu" and getattr(function, "__self__", None) is torch.Tensor.is_cuda:
                return True
            return function(*args, **kwargs)

    Moved().__enter__()
    torch.set_default_device(target)
    if target == "cpu":
        cuda_that_is_cpu()


def cuda_that_is_cpu():
    """torch.cuda's questions are answered as an H200 would."""
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver
    if os.environ.get("TRITON_INTERPRET") != "1":
        from record import interpreted
        interpreted.install()
    driver.set_active(mock.MagicMock(**{
        "get_current_target.return_value": GPUTarget("cuda", 90, 32), "get_current_device.return_value": 0,
        "get_active_torch_device.return_value": torch.device("cpu"),
        "utils.get_device_properties.return_value": dict(multiprocessor_count=132, max_shared_mem=232448, warpSize=32,
                                                         max_num_regs=65536)}))
    properties = mock.MagicMock(multi_processor_count=132, major=9, minor=0, warp_size=32, total_memory=140 << 30,
                                L2_cache_size=50 << 20, shared_memory_per_multiprocessor=233472)
    nothing = mock.MagicMock()
    for name, answer in dict(is_available=False, device_count=1, current_device=0, get_device_name="NVIDIA H200",
                             get_device_capability=(9, 0), get_device_properties=properties, synchronize=None,
                             current_stream=nothing, empty_cache=None, manual_seed=None, manual_seed_all=None,
                             set_device=None).items():
        setattr(torch.cuda, name, lambda *a, _answer=answer, **k: _answer)
    torch.cuda.device = torch.cuda.stream = mock.MagicMock()
    for name in ("Stream", "Event", "CUDAGraph"):
        setattr(torch.cuda, name, mock.MagicMock())
    torch.cuda.default_generators = (torch.default_generator,)
