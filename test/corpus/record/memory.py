"""Bytes of memory by address, without PyTorch's operators: a program may have put its own kernels in their place."""
import ctypes


class Host:
    def read(self, address, size):
        return ctypes.string_at(address, size) if size else b""

    def write(self, address, data):
        if data:
            ctypes.memmove(address, data, len(data))

    def wait(self):
        pass


class Cuda:
    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")

    def check(self, result):
        if result:
            raise RuntimeError(f"the CUDA driver answers {result}")

    def read(self, address, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self.check(self.driver.cuMemcpyDtoH_v2(data, ctypes.c_uint64(address), ctypes.c_size_t(size)))
        return data.raw[:size]

    def write(self, address, data):
        if data:
            self.check(self.driver.cuMemcpyHtoD_v2(ctypes.c_uint64(address), data, ctypes.c_size_t(len(data))))
            self.wait()

    def wait(self):
        self.check(self.driver.cuCtxSynchronize())


_known = {}


def of(device):
    kind = device.type
    if kind not in _known:
        _known[kind] = Cuda() if kind == "cuda" else Host()
    return _known[kind]
