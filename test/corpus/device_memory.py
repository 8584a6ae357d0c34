"""Copies on a GPU of arrays that a kernel finds through addresses in another array.

What a parameter names goes to the GPU and comes back with the launch. These
arrays go there beforehand, guard bytes and all, and come back afterwards.
"""

import ctypes


class DeviceMemory:
    def __init__(self):
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._copies = []
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)  # the one that the runtime uses
        self._call("cuCtxSetCurrent", context)

    def _call(self, name, *arguments):
        status = getattr(self._driver, name)(*arguments)
        if status:
            raise OSError(f"{name}: CUDA error {status}")

    def copy(self, array):
        """Kernels see the copy from now on."""
        raw, address = array.raw, ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(raw.size))
        self._call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(raw.ctypes.data), ctypes.c_size_t(raw.size))
        self._copies.append((array, address))
        array.kernel_address = address.value + array.address - raw.ctypes.data

    def read_back(self):
        for array, address in self._copies:
            raw = array.raw
            self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(raw.ctypes.data), address, ctypes.c_size_t(raw.size))
            self._call("cuMemFree_v2", address)
        self._copies = []
