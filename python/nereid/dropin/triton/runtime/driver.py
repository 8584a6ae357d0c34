"""Which device launches without arrays run on, and what host code asks about it."""
import sys

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase, GPUDriver


class _Utils:

    def get_device_properties(self, device):
        from nereid import _native
        found = _native.cuda_properties(device)
        found.update(max_num_regs=1 << 16, warpSize=32, sm_clock_rate=0, mem_clock_rate=0, mem_bus_width=0)
        torch = sys.modules.get("torch")
        if torch is not None:
            # torch has clocks from 2.8 on; in kHz, as the driver gives them.
            known = torch.cuda.get_device_properties(device)
            found.update(sm_clock_rate=getattr(known, "clock_rate", 0), mem_clock_rate=getattr(known, "memory_clock_rate", 0),
                         mem_bus_width=getattr(known, "memory_bus_width", 0))
        return found


class _CpuUtils:

    def get_device_properties(self, device):
        import os
        count = os.cpu_count() or 1
        return {"max_shared_mem": 1 << 18, "max_num_regs": 32, "multiprocessor_count": count, "warpSize": 32,
                "sm_clock_rate": 0, "mem_clock_rate": 0, "mem_bus_width": 0}


class CpuDriver(DriverBase):
    """Kernels on the host's memory."""
    utils = _CpuUtils()

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        import platform
        return GPUTarget("cpu", platform.machine(), 32)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_active_torch_device(self):
        import torch
        return torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cpu

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, cache):
        pass

    def map_python_to_cpp_type(self, ty):
        return {"i1": "int8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u1": "uint8_t",
                "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "fp16": "double", "bf16": "double",
                "fp32": "double", "f32": "double", "fp64": "double"}.get(ty, "void*")


class CudaDriver(GPUDriver, CpuDriver):
    """Kernels on torch's CUDA devices and streams."""
    utils = _Utils()

    @staticmethod
    def is_active():
        torch = sys.modules.get("torch")
        return torch is not None and torch.cuda.is_available()

    def get_current_target(self):
        import torch
        if torch.version.hip:  # torch for ROCm calls AMD's GPUs cuda
            architecture = torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName.split(":")[0]
            return GPUTarget("hip", architecture, 64 if architecture.startswith("gfx9") else 32)
        major, minor = torch.cuda.get_device_capability()
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_empty_cache_for_benchmark(self):
        import torch
        return torch.empty(256 << 18, dtype=torch.int32, device="cuda")  # 256 MiB, more than any L2

    def clear_cache(self, cache):
        cache.zero_()


class DriverConfig:
    """triton.runtime.driver: `active` is CUDA's where torch has it, else the CPU's."""

    def __init__(self):
        self._default = self._active = None

    @property
    def default(self):
        if self._default is None:
            # torch may come later, and its CUDA with it: a CPU is not remembered.
            if not CudaDriver.is_active():
                return CpuDriver()
            self._default = CudaDriver()
        return self._default

    @property
    def active(self):
        return self._active if self._active is not None else self.default

    def set_active(self, driver):
        self._active = driver

    def reset_active(self):
        self._active = None


driver = DriverConfig()


def default_device():
    """For nereid._native: where a launch without arrays runs; None: on the host."""
    active = driver.active
    return active.get_current_device() if isinstance(active, CudaDriver) else None


def __getattr__(name):
    # The module stands where upstream has the object: triton.runtime.driver.active, and .driver.active.
    if name in ("active", "default", "set_active", "reset_active", "_active", "_default"):
        return getattr(driver, name)
    raise AttributeError(f"module 'triton.runtime.driver' has no attribute {name!r}")
